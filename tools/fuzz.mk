# SPDX-License-Identifier: BSD-2-Clause
# Fuzz targets: fuzz/NAME.c becomes build/fuzz/NAME, with libFuzzer, AddressSanitizer and UBSan, by clang.
FUZZ_SANITIZE := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_LINK := -fsanitize=fuzzer,address,undefined
FUZZ_TARGETS := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(call find_c,fuzz))
FUZZ_TINY := $(B)/fuzz/tiny
$(eval $(call variant,fuzz,clang,$(FUZZ_SANITIZE),,$(FULL),,ar))
$(eval $(call variant,fuzztiny,clang,$(FUZZ_SANITIZE) -DWEIR_PROFILE_TINY,,$(sort $(SRC_tiny) $(PARTS_tiny)),,ar))
.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_TARGETS)
# fuzz/tiny.c is about the profile tiny, and built for it.
$(FUZZ_TINY): $(B)/fuzz/%: $(B)/fuzztiny/obj/fuzz/%.o $(B)/fuzztiny/libhelpers.a $(B)/fuzztiny/libweir.a
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@clang $(FLAGS_fuzztiny) $(FUZZ_LINK) $^ -o $@ -lcmocka -pthread -lm
$(filter-out $(FUZZ_TINY),$(FUZZ_TARGETS)): $(B)/fuzz/%: $(B)/fuzz/obj/fuzz/%.o $(B)/fuzz/libhelpers.a $(B)/fuzz/libapps.a $(B)/fuzz/libweir.a
	@echo "  LINK  $@"
	@clang $(FLAGS_fuzz) $(FUZZ_LINK) $^ -o $@ -lcmocka -pthread -lm
-include $(FUZZ_TARGETS:$(B)/fuzz/%=$(B)/fuzz/obj/fuzz/%.d) $(B)/fuzztiny/obj/fuzz/tiny.d
