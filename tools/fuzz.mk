# SPDX-License-Identifier: BSD-2-Clause
# Fuzz targets: fuzz/NAME.c becomes build/fuzz/NAME, with libFuzzer, AddressSanitizer and UBSan, by clang. Some also
# become build/fuzz/NAME_small (the small profile) and build/fuzz/NAME_msan (MemorySanitizer in place of the other two:
# it sees the read of memory that was never written, which is what leaves a host when a stack sends what is not queued).
FUZZ_SANITIZE := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FUZZ_LINK := -fsanitize=fuzzer,address,undefined
FUZZ_TARGETS := $(patsubst fuzz/%.c,$(B)/fuzz/%,$(call find_c,fuzz))
FUZZ_TINY := $(B)/fuzz/tiny
FUZZ_PATHS := $(B)/fuzz/paths
# These have their own dictionaries: comparisons are not traced, which makes them faster by a third and more.
FUZZ_UNTRACED := $(B)/fuzz/hostile $(B)/fuzz/hostile6 $(B)/fuzz/fragments
FUZZ_SMALL := $(B)/fuzz/hostile_small
FUZZ_MSAN := $(patsubst %,$(B)/fuzz/%_msan,hostile hostile6 instance apps)
HOSTILE_SANITIZE := $(FUZZ_SANITIZE) -fno-sanitize-coverage=trace-cmp
MSAN_SANITIZE := -O1 -fsanitize=fuzzer-no-link,memory -fno-sanitize-coverage=trace-cmp -fno-omit-frame-pointer
$(eval $(call variant,fuzz,clang,$(FUZZ_SANITIZE) -DWEIR_CFG_SELF_CHECK=1 $(DUAL),,$(sort $(BOTH) $(SELF_CHECKS)),,ar))
$(eval $(call variant,fuzztiny,clang,$(FUZZ_SANITIZE) -DWEIR_PROFILE_TINY,,$(sort $(SRC_tiny) $(PARTS_tiny)),,ar))
# The two sides of fuzz/paths.c: the whole profile, and the steps alone, without prediction and what is built on it, as
# config/options.toml says. Both only count which edges are taken: what they find is a difference, and that takes many
# inputs a second. The sanitizers watch fuzz/instance.c.
FUZZ_COUNTED := -O2 -fsanitize-coverage=inline-8bit-counters,pc-table
OPTIONS_fuzzsteps := TCP_PREDICT=0 FAST_PATH=0
SRC_fuzzsteps := $(filter-out $(call left_out,full $(OPTIONS_fuzzsteps)),$(SRC_full))
$(eval $(call variant,fuzzquick,clang,$(FUZZ_COUNTED),,$(SRC_full),,ar))
$(eval $(call variant,fuzzsteps,clang,$(FUZZ_COUNTED) $(call as_flags,$(OPTIONS_fuzzsteps)),,$(SRC_fuzzsteps),,ar))
$(eval $(call variant,fuzzhostile,clang,$(HOSTILE_SANITIZE) -DWEIR_CFG_SELF_CHECK=1 $(DUAL),,$(sort $(SRC_both) $(SELF_CHECKS)),,ar))
$(eval $(call variant,fuzzsmall,clang,$(HOSTILE_SANITIZE) -DWEIR_PROFILE_SMALL -DWEIR_CFG_SELF_CHECK=1,,$(sort $(SRC_small) $(SELF_CHECKS)),,ar))
$(eval $(call variant,fuzzmsan,clang,$(MSAN_SANITIZE) -DWEIR_CFG_SELF_CHECK=1 $(DUAL),,$(sort $(SRC_both) $(SELF_CHECKS)),,ar))
.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_TARGETS) $(FUZZ_SMALL) $(FUZZ_MSAN)

# $(call fuzz_link,VARIANT,WHAT THE LINKER ADDS)
define fuzz_link
@mkdir -p $(@D)
@echo "  LINK  $@"
@clang $(FLAGS_$(1)) $(2) $^ -o $@ -lcmocka -pthread -lm
endef
# fuzz/tiny.c is about the tiny profile, and built for it.
$(FUZZ_TINY): $(B)/fuzz/%: $(B)/fuzztiny/obj/fuzz/%.o $(B)/fuzztiny/libhelpers.a $(B)/fuzztiny/liball.a
	$(call fuzz_link,fuzztiny,$(FUZZ_LINK))
$(FUZZ_UNTRACED): $(B)/fuzz/%: $(B)/fuzzhostile/obj/fuzz/%.o $(B)/fuzzhostile/libhelpers.a $(B)/fuzzhostile/liball.a
	$(call fuzz_link,fuzzhostile,$(FUZZ_LINK))
$(FUZZ_SMALL): $(B)/fuzz/%_small: $(B)/fuzzsmall/obj/fuzz/%.o $(B)/fuzzsmall/libhelpers.a $(B)/fuzzsmall/liball.a
	$(call fuzz_link,fuzzsmall,$(FUZZ_LINK))
$(FUZZ_MSAN): $(B)/fuzz/%_msan: $(B)/fuzzmsan/obj/fuzz/%.o $(B)/fuzzmsan/libhelpers.a $(B)/fuzzmsan/libapps.a $(B)/fuzzmsan/liball.a
	$(call fuzz_link,fuzzmsan,-fsanitize=fuzzer,memory)
# fuzz/paths.c is about two builds of one stack: the one of the steps alone comes as an object of its own, all of whose
# names are hidden but one.
$(B)/fuzzsteps/paths.o: $(B)/fuzzsteps/obj/fuzz/paths.o $(B)/fuzzsteps/libhelpers.a $(B)/fuzzsteps/liball.a
	@echo "  LINK  $@"
	@ld -r $^ -o $@.all
	@objcopy --keep-global-symbol=play_steps $@.all $@
$(FUZZ_PATHS): $(B)/fuzz/%: $(B)/fuzzquick/obj/fuzz/%.o $(B)/fuzzsteps/%.o $(B)/fuzzquick/libhelpers.a $(B)/fuzzquick/liball.a
	$(call fuzz_link,fuzzquick,-fsanitize=fuzzer)
$(filter-out $(FUZZ_TINY) $(FUZZ_PATHS) $(FUZZ_UNTRACED),$(FUZZ_TARGETS)): $(B)/fuzz/%: $(B)/fuzz/obj/fuzz/%.o $(B)/fuzz/libhelpers.a $(B)/fuzz/libapps.a $(B)/fuzz/liball.a
	$(call fuzz_link,fuzz,$(FUZZ_LINK))
-include $(foreach v,fuzz fuzztiny fuzzquick fuzzsteps fuzzhostile fuzzsmall fuzzmsan,$(wildcard $(B)/$(v)/obj/fuzz/*.d))
