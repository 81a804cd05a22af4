# SPDX-License-Identifier: BSD-2-Clause
# Fuzz targets: fuzz/NAME.c becomes build/fuzz/NAME, with libFuzzer, AddressSanitizer and UBSan, by clang.
FUZZ_SANITIZE := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_LINK := -fsanitize=fuzzer,address,undefined
FUZZ_TARGETS := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(call find_c,fuzz))
FUZZ_TINY := $(B)/fuzz/tiny
FUZZ_PATHS := $(B)/fuzz/paths
$(eval $(call variant,fuzz,clang,$(FUZZ_SANITIZE) -DWEIR_CFG_SELF_CHECK=1,,$(sort $(FULL) src/tcp/attention.c),,ar))
$(eval $(call variant,fuzztiny,clang,$(FUZZ_SANITIZE) -DWEIR_PROFILE_TINY,,$(sort $(SRC_tiny) $(PARTS_tiny)),,ar))
# What a build without fast paths leaves out, as config/options.toml says.
FAST_FILES := $(shell sed -n '/^\[FAST_PATH\]/,/^files/{/^files/s/[^a-z0-9_./ ]//gp}' config/options.toml)
$(eval $(call variant,fuzzplain,clang,$(FUZZ_SANITIZE) -DWEIR_CFG_FAST_PATH=0,,$(filter-out $(FAST_FILES),$(SRC_full)),,ar))
.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_TARGETS)
# fuzz/tiny.c is about the profile tiny, and built for it.
$(FUZZ_TINY): $(B)/fuzz/%: $(B)/fuzztiny/obj/fuzz/%.o $(B)/fuzztiny/libhelpers.a $(B)/fuzztiny/libweir.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@clang $(FLAGS_fuzztiny) $(FUZZ_LINK) $^ -o $@ -lcmocka -pthread -lm
# fuzz/paths.c is about two builds of one stack: the one without fast paths comes as an object of its own, all of whose names are hidden but one.
$(B)/fuzzplain/paths.o: $(B)/fuzzplain/obj/fuzz/paths.o $(B)/fuzzplain/libhelpers.a $(B)/fuzzplain/libweir.a
	@echo "  LINK  $@"
	@ld -r $^ -o $@.all
	@objcopy --keep-global-symbol=play_plain $@.all $@
$(FUZZ_PATHS): $(B)/fuzz/%: $(B)/fuzz/obj/fuzz/%.o $(B)/fuzzplain/%.o $(B)/fuzz/libhelpers.a $(B)/fuzz/libweir.a
	@echo "  LINK  $@"
	@clang $(FLAGS_fuzz) $(FUZZ_LINK) $^ -o $@ -lcmocka -pthread -lm
$(filter-out $(FUZZ_TINY) $(FUZZ_PATHS),$(FUZZ_TARGETS)): $(B)/fuzz/%: $(B)/fuzz/obj/fuzz/%.o $(B)/fuzz/libhelpers.a $(B)/fuzz/libapps.a $(B)/fuzz/libweir.a
	@echo "  LINK  $@"
	@clang $(FLAGS_fuzz) $(FUZZ_LINK) $^ -o $@ -lcmocka -pthread -lm
-include $(FUZZ_TARGETS:$(B)/fuzz/%=$(B)/fuzz/obj/fuzz/%.d) $(B)/fuzztiny/obj/fuzz/tiny.d $(B)/fuzzplain/obj/fuzz/paths.d
