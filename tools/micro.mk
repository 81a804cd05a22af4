# SPDX-License-Identifier: BSD-2-Clause
# The stack as a server process: on mps2-an385 with the microkernel (build/boards/mps2-an385-micro/echo.elf, `make run BOARD=mps2-an385-micro`),
# and on this machine (build/host/micro/PROGRAM).
BOARDS += mps2-an385-micro
BOARD_PROGRAMS_mps2-an385-micro := echo programs
MICRO := $(B)/boards/mps2-an385-micro
# Also those of the monolithic image it is compared with (bench-micro). -fbuiltin: a copy of four bytes is an instruction, not a call.
MICRO_LIMITS := -fbuiltin $(call as_flags,SOCKETS=9 LISTENERS=2 DATAGRAM_SOCKETS=2 TCP_TIME_WAIT=4 NETIFS=1) -UMEMORY_BYTES -DMEMORY_BYTES=131072
MICRO_FLAGS := $(MICRO_LIMITS) -DMICRO_SESSIONS=2 -DMICRO_CHANNELS=6 -DFRAMES_SLOTS=16u
MICRO_COMMON := boards/cortex_m/start.c boards/cortex_m/systick.c boards/mps2-an385-micro/board.c boards/memory_mac/memory.c drivers/lan9118.c \
    $(wildcard kernel/micro/*.c) kernel/micro/arch/cortex_m.c $(addprefix ports/micro/,channel.c client.c netif.c processes.c quota.c relay.c server.c) \
    $(addprefix examples/micro/,boot.c driver.c stack.c) $(SRC_small)
MICRO_SOURCES := $(MICRO_COMMON) $(addprefix examples/micro/,echo.c echo_server.c rogue.c table.c)
MICRO_OBJECTS := $(patsubst %.c,$(MICRO)/%.o,$(MICRO_SOURCES)) $(MICRO)/kernel/micro/arch/cortex_m_calls.o
MICRO_CC = $(BOARD_CC_mps2-an385) $(MICRO_FLAGS)
$(MICRO)/%.o: %.c tools/micro.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(MICRO_CC) -MMD -MP -c $< -o $@
$(MICRO)/%.o: %.S tools/micro.mk
	@mkdir -p $(@D)
	@echo "  AS    $@"
	@$(MICRO_CC) -c $< -o $@
$(MICRO)/echo.elf: $(MICRO_OBJECTS) boards/mps2-an385-micro/link.ld boards/cortex_m/sections.ld
	@echo "  LINK  $@"
	@$(MICRO_CC) --specs=nano.specs -nostartfiles -T boards/mps2-an385-micro/link.ld -Wl,--gc-sections -Wl,-Map=$@.map $(filter %.o,$^) -o $@
firmware: $(MICRO)/echo.elf
-include $(MICRO_OBJECTS:.o=.d)

# The programs that run on the preemptive kernel, too (tools/boards.mk), by the same calls over ports/micro's client.
MICRO_PROGRAM_FLAGS := -fbuiltin $(call as_flags,SOCKETS=22 LISTENERS=4 DATAGRAM_SOCKETS=6 TCP_TIME_WAIT=4 NETIFS=1) -UMEMORY_BYTES -DMEMORY_BYTES=450560 \
    -DMICRO_SESSIONS=4 -DMICRO_CHANNELS=4 -DFRAMES_SLOTS=16u
MICRO_PROGRAM_OBJECTS := $(patsubst %.c,$(MICRO)/programs/%.o,$(MICRO_COMMON) $(wildcard ports/micro/process_*.c) $(filter-out api/bsd/posix_calls.c,$(wildcard api/bsd/*.c)) api/flock/order.c apps/text.c \
    $(EITHER) examples/micro/programs.c) $(MICRO)/kernel/micro/arch/cortex_m_calls.o
$(MICRO)/programs/%.o: %.c tools/micro.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(BOARD_CC_mps2-an385) $(MICRO_PROGRAM_FLAGS) -MMD -MP -c $< -o $@
$(MICRO)/programs.elf: $(MICRO_PROGRAM_OBJECTS) boards/mps2-an385-micro/programs.ld boards/cortex_m/sections.ld
	@echo "  LINK  $@"
	@$(BOARD_CC_mps2-an385) --specs=nano.specs -nostartfiles -T boards/mps2-an385-micro/programs.ld -Wl,--gc-sections -Wl,-Map=$@.map $(filter %.o,$^) -o $@
firmware: $(MICRO)/programs.elf
-include $(MICRO_PROGRAM_OBJECTS:.o=.d)

# microkernel_ratio (tools/micro_bench.py): beside the image above the same stack on the preemptive kernel.
OWN_PROGRAMS += bulk_echo
PROGRAM_BOARDS_bulk_echo := mps2-an385
PROGRAM_PARTS_bulk_echo := $(PREEMPT) bench/metal/bulk_echo.c boards/memory_mac/memory.c
PROGRAM_FLAGS_bulk_echo := $(MICRO_LIMITS)
PROGRAM_LINK_bulk_echo := -Wl,--defsym=link_stack_bytes=2048
$(eval $(call program,mps2-an385,bulk_echo))
# The server, a driver and clients as processes of this machine: build/VARIANT/micro/weir-server, -driver, -echo, -client.
define micro_host
$(B)/$(1)/micro/weir-%: $(B)/$(1)/obj/examples/micro/host_%.o $(B)/$(1)/obj/examples/micro/echo_server.o $(B)/$(1)/liball.a
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	@$(2) $$(FLAGS_$(1)) $$^ -o $$@ -pthread
micro-$(1): $(foreach p,server driver echo client,$(B)/$(1)/micro/weir-$(p))
.PHONY: micro-$(1)
-include $(patsubst %.c,$(B)/$(1)/obj/%.d,$(wildcard examples/micro/host_*.c) examples/micro/echo_server.c)
endef
$(eval $(call micro_host,host,$(CC)))
$(eval $(call micro_host,asan,$(CC)))
apps: micro-host
