# SPDX-License-Identifier: BSD-2-Clause
# make bench-metal: what bench/metal/run.py measures. Weir's own images have their rules in tiny_echo.mk, boards.mk and micro.mk.

LWIP_RAW_FORMS := lwip_raw lwip_raw_lto

.PHONY: bench-metal bench-echo bench-boot bench-micro bench-guests
## make bench-metal   the figures on the metal, lwIP and Linux guests beside ours: build/bench/metal.json, metal.html (an hour, most of it with loss; one that was
##                 interrupted goes on. T='echo boot': some of the parts; FRESH=1: from the beginning)
bench-metal:
	@tools/need.sh bench-metal
	@$(MAKE) -s $(B)/venv/ready
	@$(B)/venv/bin/python bench/metal/run.py $(if $(filter-out 0,$(FRESH)),--fresh) $(T)
# Its parts, as run.py makes them.
bench-echo: $(foreach n,1 512,$(B)/metal/tiny_echo_bench_$(n).elf $(B)/metal/tiny6_echo_bench_$(n).elf $(LWIP_RAW_FORMS:%=$(B)/metal/%_bench_$(n).elf)) $(B)/metal/small_echo_bench_1.elf $(LWIP_RAW_FORMS:%=$(B)/metal/%.elf)
	@$(PYTHON) bench/metal/echo.py
bench-boot: $(B)/boards/lm3s6965evb/echo.elf
	@$(PYTHON) bench/metal/boot.py
bench-micro: $(MICRO)/echo.elf $(B)/boards/mps2-an385/bulk_echo.elf
	@$(PYTHON) tools/micro_bench.py
# Beside Debian's Linux as a guest of the same machines. WHAT: component, lyra, thesis, loss, zynq.
bench-guests: $(B)/boards/pc/lyraos.elf $(B)/boards/pc-ne2k/lyraos.elf $(B)/boards/pc/transfer.elf $(B)/boards/arm-virt/transfer.elf $(B)/boards/xilinx-zynq-a9/transfer.elf $(B)/host/weir-link
	@$(PYTHON) bench/metal/guests.py $(WHAT)

# lwIP's raw API with an echo server, from Debian's source package, with the start-up code and the memory MAC that tiny_echo has.
#   build/metal/lwip_raw.elf        gcc -Os and newlib-nano: as its figures in other comparisons were made
#   build/metal/lwip_raw_lto.elf    with what tiny_echo has besides: -flto, the Cortex-M3's copy and sum of boards/memory_mac
#   build/metal/FORM_bench_N.elf    the same with a client of N bytes in place of the driver
LWIP_RAW_SOURCES := $(addprefix core/,def.c inet_chksum.c init.c ip.c mem.c memp.c netif.c pbuf.c tcp.c tcp_in.c tcp_out.c timeouts.c ipv4/etharp.c ipv4/icmp.c ipv4/ip4.c \
    ipv4/ip4_addr.c) netif/ethernet.c
LWIP_RAW_FLAGS := -std=gnu11 -Os -g -mcpu=cortex-m3 -mthumb -fno-common -ffunction-sections -fdata-sections -Ibench/metal/lwip -I$(B)/bench/lwip/src/include
LWIP_RAW_FLAGS_lwip_raw_lto := -flto '-DLWIP_CHKSUM(data,bytes)=memory_sum(data,bytes)' -include boards/memory_mac/memory.h
LWIP_RAW_PARTS_lwip_raw_lto := $(B)/metal/lwip_raw_lto/boards/memory_mac/memory.o
$(B)/bench/lwip/ready: tools/aptsource.sh
	@$(MAKE) -s -f bench/bench.mk $@

# $(call lwip_raw,FORM)
define lwip_raw
LWIP_RAW_OBJECTS_$(1) := $$(patsubst %.c,$(B)/metal/$(1)/lwip/%.o,$(LWIP_RAW_SOURCES)) $(B)/metal/$(1)/boards/cortex_m/start.o $(B)/metal/$(1)/bench/metal/lwip/echo.o \
    $(LWIP_RAW_PARTS_$(1))
LWIP_RAW_CC_$(1) = $(METAL)gcc $(LWIP_RAW_FLAGS) $(LWIP_RAW_FLAGS_$(1))
$$(LWIP_RAW_SOURCES:%.c=$(B)/metal/$(1)/lwip/%.o): $(B)/metal/$(1)/lwip/%.o: $(B)/bench/lwip/ready tools/bench_metal.mk bench/metal/lwip/lwipopts.h bench/metal/lwip/arch/cc.h
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(LWIP_RAW_CC_$(1)) -c $(B)/bench/lwip/src/$$*.c -o $$@
$(B)/metal/$(1)/%.o: %.c $(B)/bench/lwip/ready tools/bench_metal.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(LWIP_RAW_CC_$(1)) $(WARNINGS) $$(if $$(filter %/memory.c,$$<),-fno-lto -ffreestanding) -MMD -MP -c $$< -o $$@
# The client has its own time subtracted, but must not be compiled into what is measured.
$(B)/metal/$(1)/client_%.o: bench/metal/echo_client.c $(B)/bench/lwip/ready tools/bench_metal.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(LWIP_RAW_CC_$(1)) $(WARNINGS) -fno-lto -DECHO_CLIENT_BYTES=$$* -MMD -MP -c $$< -o $$@
$(B)/metal/$(1).elf: $$(LWIP_RAW_OBJECTS_$(1)) $(B)/metal/$(1)/bench/metal/lwip/mac.o boards/mps2-an385/link.ld boards/cortex_m/sections.ld
	@echo "  LINK  $$@"
	@$$(LWIP_RAW_CC_$(1)) --specs=nano.specs -nostartfiles -Wl,--gc-sections -T boards/mps2-an385/link.ld -Wl,-Map=$$@.map $$(filter %.o,$$^) -o $$@
$(B)/metal/$(1)_bench_%.elf: $$(LWIP_RAW_OBJECTS_$(1)) $(B)/metal/$(1)/client_%.o $(B)/metal/$(1)/bench/metal/lwip/client_mac.o $(B)/metal/$(1)/bench/metal/stack_paint.o
	@echo "  LINK  $$@"
	@$$(LWIP_RAW_CC_$(1)) --specs=nano.specs -nostartfiles -Wl,--gc-sections -T boards/mps2-an385/link.ld $$(filter %.o,$$^) -o $$@
-include $$(wildcard $(B)/metal/$(1)/*.d $(B)/metal/$(1)/*/*.d $(B)/metal/$(1)/*/*/*.d)
endef
$(foreach f,$(LWIP_RAW_FORMS),$(eval $(call lwip_raw,$(f))))
