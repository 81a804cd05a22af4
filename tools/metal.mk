# SPDX-License-Identifier: BSD-2-Clause
# The three profiles for a Cortex-M3, as a microcontroller would build them:
#   build/m3/PROFILE/libweir.a     with stack usage (.su) and call graph (.ci) beside each object, for tools/size.py
#   build/m3/PROFILE/weir_all.o    tiny and small once more, as one translation unit
METAL := arm-none-eabi-
METAL_FLAGS := -std=c11 -Os -mcpu=cortex-m3 -mthumb -ffunction-sections -fdata-sections $(WARNINGS) -Iinclude -Isrc
PROFILES := tiny small full

# $(call metal,PROFILE,PROFILE IN CAPITALS,FLAGS). Not through ccache, which brings no call graphs back (.ci, which tools/size.py reads).
define metal
METAL_OBJECTS_$(1) := $$(patsubst %.c,$(B)/m3/$(1)/obj/%.o,$$(SRC_$(1)))
$(B)/m3/$(1)/obj/%.o: %.c tools/metal.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@CCACHE_DISABLE=1 $(METAL)gcc $(METAL_FLAGS) -DWEIR_PROFILE_$(2) $(3) -fstack-usage -fcallgraph-info=su -MMD -MP -c $$< -o $$@
$(B)/m3/$(1)/objects: always
	@mkdir -p $$(@D)
	@printf '%s\n' $$(METAL_OBJECTS_$(1)) | cmp -s - $$@ || printf '%s\n' $$(METAL_OBJECTS_$(1)) > $$@
$(B)/m3/$(1)/libweir.a: $$(METAL_OBJECTS_$(1)) $(B)/m3/$(1)/objects
	@echo "  AR    $$@"
	@rm -f $$@ && $(METAL)ar rcs $$@ $$(METAL_OBJECTS_$(1))
	@packaging/private_names.sh $(METAL)nm $(METAL)objcopy $$@
$(B)/m3/$(1)/weir_all.c: tools/amalgamate.py $(B)/m3/$(1)/objects $$(SRC_$(1))
	@$(PYTHON) $$< $$@ $$(SRC_$(1))
$(B)/m3/$(1)/weir_all.o: $(B)/m3/$(1)/weir_all.c tools/metal.mk
	@echo "  CC    $$@"
	@$(METAL)gcc $(METAL_FLAGS) -DWEIR_PROFILE_$(2) $(3) -MMD -MP -c $$< -o $$@
-include $$(call headers_of,m3,$$(METAL_OBJECTS_$(1):.o=.d) $(B)/m3/$(1)/weir_all.d)
endef
$(eval $(call metal,tiny,TINY))
$(eval $(call metal,small,SMALL))
$(eval $(call metal,full,FULL))
# tiny with datagrams, whose code `make size` compares with tiny's.
TINY_UDP := COMPACT_UDP=1 OUTBOX_BYTES=600
SRC_tiny_udp := $(filter-out $(call left_out,tiny $(TINY_UDP)),$(SRC))
$(eval $(call metal,tiny_udp,TINY,$(call as_flags,$(TINY_UDP))))
# tiny over IPv6.
$(eval $(call metal,tiny6,TINY,$(call as_flags,$(TINY6))))
# With datagrams, with an address given by hand, and with version 1 of MLD.
TINY6_OPTIONS := tiny6_udp tiny6_address tiny6_mld1
OPTIONS_tiny6_udp := $(TINY6) $(TINY_UDP)
OPTIONS_tiny6_address := $(TINY6) COMPACT_ADDRESS=1
OPTIONS_tiny6_mld1 := $(TINY6) COMPACT_MLD1=1
define metal_tiny6
SRC_$(1) := $$(filter-out $$(call left_out,tiny $$(OPTIONS_$(1))),$$(SRC))
$$(eval $$(call metal,$(1),TINY,$$(call as_flags,$$(OPTIONS_$(1)))))
endef
$(foreach name,$(TINY6_OPTIONS),$(eval $(call metal_tiny6,$(name))))

# small and full with IPv6 beside IPv4, and with IPv6 alone.
WITH_IP6 := small_both small6 full_both full6
OPTIONS_small_both := IP6=1 ADDRESSES=4
OPTIONS_small6 := $(SMALL6)
OPTIONS_full_both := IP6=1
OPTIONS_full6 := IP4=0 $(OPTIONS_full_both)
# $(call metal_ip6,NAME,PROFILE,PROFILE IN CAPITALS)
define metal_ip6
SRC_$(1) := $$(filter-out $$(call left_out,$(2) $$(OPTIONS_$(1))),$$(SRC))
$$(eval $$(call metal,$(1),$(3),$$(call as_flags,$$(OPTIONS_$(1)))))
endef
$(foreach name,$(filter small%,$(WITH_IP6)),$(eval $(call metal_ip6,$(name),small,SMALL)))
$(foreach name,$(filter full%,$(WITH_IP6)),$(eval $(call metal_ip6,$(name),full,FULL)))

.PHONY: metal
metal: $(PROFILES:%=$(B)/m3/%/libweir.a) $(WITH_IP6:%=$(B)/m3/%/libweir.a) $(B)/m3/tiny_udp/libweir.a $(B)/m3/tiny6/libweir.a $(TINY6_OPTIONS:%=$(B)/m3/%/libweir.a) $(B)/m3/tiny/weir_all.o $(B)/m3/small/weir_all.o

.PHONY: size-report
size-report: metal $(B)/metal/tiny_echo.elf $(B)/metal/tiny6_echo.elf $(B)/metal/small_echo.elf $(B)/boards/lm3s6965evb/paper_echo.elf
	@$(PYTHON) tools/size.py; status=$$?; $(PYTHON) tools/tiny_echo.py size && $(PYTHON) tools/small_echo.py; $(PYTHON) tools/paper_echo.py && \
	    $(PYTHON) tools/recipes.py && exit $$status
