# SPDX-License-Identifier: BSD-2-Clause
# The images of the figures tiny_echo.* and tiny6_echo.*: Romantiki's echo server on the cooperative kernel and the tiny profile, for the board memory_mac;
# over IPv4, and over IPv6 in its place.
#   build/metal/IMAGE.elf          as it would be flashed: sizes
#   build/metal/IMAGE_bench_N.elf  the same with a client of N bytes in place of the driver: instructions (make bench-echo)
TINY_ECHO_FLAGS := -std=c11 -Os -fno-if-conversion -fno-if-conversion2 -g -mcpu=cortex-m3 -mthumb -fno-common -ffunction-sections -fdata-sections $(WARNINGS) \
    -Iinclude -Isrc -I. -Iports -Iboards -Iapi -DWEIR_PROFILE_TINY -DWEIR_CFG_TCP_HALF_OPEN=1 -DWEIR_CFG_TCP_TIME_WAIT=1 \
    -DWEIR_CFG_NETIF_LEAN=1 -DWEIR_SUM=memory_sum
TINY_ECHO_PARTS := boards/cortex_m/start.c boards/memory_mac/board.c boards/memory_mac/memory.c kernel/coop/coop.c kernel/coop/timer.c ports/coop/coop_port.c boards/coop_main.c \
    api/romantiki/stream.c api/romantiki/select.c examples/romantiki/echo.c
TINY_ECHO_CLIENT := client_memory_mac client_weir stack_paint

# $(call tiny_echo,IMAGE,PROFILE AND OPTIONS THAT FILES DEPEND ON,FLAGS)
define tiny_echo
TINY_ECHO_CC_$(1) = $(METAL)gcc $(TINY_ECHO_FLAGS) $(3)
TINY_ECHO_LINK_$(1) = $$(TINY_ECHO_CC_$(1)) -flto --specs=nano.specs -nostartfiles -Wl,--gc-sections
TINY_ECHO_WEIR_$(1) := $(filter-out $(call left_out,$(2)),$(SRC))
TINY_ECHO_OBJECTS_$(1) := $(B)/metal/$(1)/weir_all.o $(TINY_ECHO_PARTS:%.c=$(B)/metal/$(1)/%.o)
TINY_ECHO_CLIENT_$(1) := $(TINY_ECHO_CLIENT:%=$(B)/metal/$(1)/%.o)
$(B)/metal/$(1)/weir_all.c: tools/amalgamate.py tools/tiny_echo.mk $$(TINY_ECHO_WEIR_$(1))
	@mkdir -p $$(@D)
	@$(PYTHON) $$< $$@ $$(TINY_ECHO_WEIR_$(1))
$(B)/metal/$(1)/weir_all.o: $(B)/metal/$(1)/weir_all.c tools/tiny_echo.mk
	@echo "  CC    $$@"
	@$$(TINY_ECHO_CC_$(1)) -flto -MMD -MP -c $$< -o $$@
$(B)/metal/$(1)/%.o: %.c tools/tiny_echo.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(TINY_ECHO_CC_$(1)) $$(if $$(filter %/memory.c,$$<),-ffreestanding,-flto) -MMD -MP -c $$< -o $$@
$(B)/metal/$(1).elf: $$(TINY_ECHO_OBJECTS_$(1)) $(B)/metal/$(1)/drivers/memory_mac.o boards/memory_mac/link.ld boards/cortex_m/sections.ld
	@echo "  LINK  $$@"
	@$$(TINY_ECHO_LINK_$(1)) -T boards/memory_mac/link.ld -Wl,-Map=$$@.map $$(filter %.o,$$^) -o $$@
# The client has its own time subtracted, but must not be compiled into what is measured.
$(B)/metal/$(1)/client_%.o: bench/metal/echo_client.c tools/tiny_echo.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(TINY_ECHO_CC_$(1)) -DECHO_CLIENT_BYTES=$$* -MMD -MP -c $$< -o $$@
$$(TINY_ECHO_CLIENT_$(1)): $(B)/metal/$(1)/%.o: bench/metal/%.c tools/tiny_echo.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(TINY_ECHO_CC_$(1)) -MMD -MP -c $$< -o $$@
$(B)/metal/$(1)_bench_%.elf: $$(TINY_ECHO_OBJECTS_$(1)) $(B)/metal/$(1)/client_%.o $$(TINY_ECHO_CLIENT_$(1)) boards/mps2-an385/link.ld
	@echo "  LINK  $$@"
	@$$(TINY_ECHO_LINK_$(1)) -T boards/mps2-an385/link.ld $$(filter %.o,$$^) -o $$@
-include $$(TINY_ECHO_OBJECTS_$(1):.o=.d) $(B)/metal/$(1)/drivers/memory_mac.d $(B)/metal/$(1)/client_1.d $(B)/metal/$(1)/client_512.d $$(TINY_ECHO_CLIENT_$(1):.o=.d)
endef
# Over IPv6 without the shortcut: what it saves in instructions would not fit into the image.
TINY_ECHO := FAST_PATH=1
TINY6_ECHO := IP4=0 IP6=1
$(eval $(call tiny_echo,tiny_echo,tiny $(TINY_ECHO),$(call as_flags,$(TINY_ECHO)) -DWEIR_CFG_OUTBOX_BYTES=100 -DMEMORY_BYTES=2480))
$(eval $(call tiny_echo,tiny6_echo,tiny $(TINY6_ECHO),$(call as_flags,$(TINY6_ECHO)) -DWEIR_CFG_OUTBOX_BYTES=112 -DMEMORY_BYTES=2656 -DECHO_CLIENT_IP6))
# The budget: 11 KB of flash, 5 KB of RAM. What nobody calls is gone before it is linked; in one section, data is reached in fewer instructions.
$(B)/metal/tiny6_echo.elf: TINY_ECHO_LINK_tiny6_echo += -fno-function-sections -fno-data-sections -Wl,--defsym=link_flash=11264,--defsym=link_ram=5120,--defsym=link_stack=392

.PHONY: size-tiny-echo
size-tiny-echo: $(B)/metal/tiny_echo.elf $(B)/metal/tiny6_echo.elf
	@$(PYTHON) tools/tiny_echo.py size
