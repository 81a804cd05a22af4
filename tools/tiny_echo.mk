# SPDX-License-Identifier: BSD-2-Clause
# The image of the figures tiny_echo.*: Romantiki's echo server on the cooperative kernel and the tiny profile, for the board memory_mac.
#   build/metal/tiny_echo.elf          as it would be flashed: sizes
#   build/metal/tiny_echo_bench_N.elf  the same with a client of N bytes in place of the driver: instructions (make bench-echo)
TINY_ECHO_FLAGS := -std=c11 -Os -fno-if-conversion -fno-if-conversion2 -g -mcpu=cortex-m3 -mthumb -fno-common -ffunction-sections -fdata-sections $(WARNINGS) \
    -Iinclude -Isrc -I. -Iports -Iboards -Iapi -DWEIR_PROFILE_TINY -DWEIR_CFG_TCP_HALF_OPEN=1 -DWEIR_CFG_TCP_TIME_WAIT=1 -DWEIR_CFG_OUTBOX_BYTES=100 \
    -DMEMORY_BYTES=2480 -DWEIR_CFG_NETIF_LEAN=1 -DWEIR_CFG_FAST_PATH=1 -DWEIR_SUM=memory_sum
TINY_ECHO_PARTS := boards/cortex_m/start.c boards/memory_mac/board.c boards/memory_mac/memory.c kernel/coop/coop.c kernel/coop/timer.c ports/coop/coop_port.c boards/coop_main.c \
    api/romantiki/stream.c api/romantiki/select.c examples/romantiki/echo.c $(B)/metal/weir_all.c
TINY_ECHO_OBJECTS := $(patsubst %.c,$(B)/metal/obj/%.o,$(TINY_ECHO_PARTS))
TINY_ECHO_LINK = $(METAL)gcc $(TINY_ECHO_FLAGS) -flto --specs=nano.specs -nostartfiles -Wl,--gc-sections

TINY_ECHO_WEIR := $(SRC_tiny) src/compact/predict.c
$(B)/metal/weir_all.c: tools/amalgamate.py tools/tiny_echo.mk $(TINY_ECHO_WEIR)
	@mkdir -p $(@D)
	@$(PYTHON) $< $@ $(TINY_ECHO_WEIR)
$(B)/metal/obj/%.o: %.c tools/tiny_echo.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(METAL)gcc $(TINY_ECHO_FLAGS) $(if $(filter %/memory.c,$<),-ffreestanding,-flto) -MMD -MP -c $< -o $@
$(B)/metal/tiny_echo.elf: $(TINY_ECHO_OBJECTS) $(B)/metal/obj/drivers/memory_mac.o boards/memory_mac/link.ld boards/cortex_m/sections.ld
	@echo "  LINK  $@"
	@$(TINY_ECHO_LINK) -T boards/memory_mac/link.ld -Wl,-Map=$@.map $(filter %.o,$^) -o $@
# The client has its own time subtracted, but must not be compiled into what is measured.
$(B)/metal/obj/client_%.o: bench/metal/echo_client.c tools/tiny_echo.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(METAL)gcc $(TINY_ECHO_FLAGS) -DECHO_CLIENT_BYTES=$* -MMD -MP -c $< -o $@
TINY_ECHO_CLIENT := $(patsubst %,$(B)/metal/obj/%.o,client_memory_mac client_weir stack_paint)
$(TINY_ECHO_CLIENT): $(B)/metal/obj/%.o: bench/metal/%.c tools/tiny_echo.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(METAL)gcc $(TINY_ECHO_FLAGS) -MMD -MP -c $< -o $@
$(B)/metal/tiny_echo_bench_%.elf: $(TINY_ECHO_OBJECTS) $(B)/metal/obj/client_%.o $(TINY_ECHO_CLIENT) boards/mps2-an385/link.ld
	@echo "  LINK  $@"
	@$(TINY_ECHO_LINK) -T boards/mps2-an385/link.ld $(filter %.o,$^) -o $@
-include $(TINY_ECHO_OBJECTS:.o=.d) $(B)/metal/obj/drivers/memory_mac.d $(B)/metal/obj/client_1.d $(B)/metal/obj/client_512.d $(TINY_ECHO_CLIENT:.o=.d)

.PHONY: size-tiny-echo
size-tiny-echo: $(B)/metal/tiny_echo.elf
	@$(PYTHON) tools/tiny_echo.py size
