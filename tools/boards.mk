# SPDX-License-Identifier: BSD-2-Clause
# Firmware: build/boards/BOARD/PROGRAM.elf for each program of examples/firmware. A board is a folder in boards/ and five lines here;
# how QEMU starts it stands in tools/boards.py.
BOARDS := lm3s6965evb mps2-an385 xilinx-zynq-a9 arm-virt pc pc-ne2k malta malta-el portux920t versatilepb
# Those that QEMU does not have, and a model of tools/machines does.
MODELLED_BOARDS := portux920t
# What `make run` shows, where it is not the echo server.
RUN_PROGRAM_portux920t := services
# Programs with a kernel or settings of their own, each for the boards named: $(call program,BOARD,PROGRAM) below. The preemptive kernel's
# files for the board's processor are BOARD_KERNEL_board (kernel/preempt/arch.h says what is in it).
OWN_PROGRAMS := small_echo busy_echo flock_clients xinu_router xinu_player
OWN_PROGRAMS += processes programs flock_transfer flock_far flock_echo
OWN_PROGRAMS += rtos2_test rtos2_echo freertos_echo
OWN_PROGRAMS += driver_echo services shell traced_echo player source realtime_player realtime_source
OWN_PROGRAMS += update_boot update_program
OWN_PROGRAMS += pages_whole pages_split urgent_echo
# Programs for a board that has what they need.
FIRMWARE_malta := slip_echo
FIRMWARE_malta-el := $(FIRMWARE_malta)
FIRMWARE := $(filter-out $(OWN_PROGRAMS) $(FIRMWARE_malta),$(patsubst examples/firmware/%.c,%,$(wildcard examples/firmware/*.c)))
# Programs of Romantiki's tasks: build/boards/BOARD/romantiki_PROGRAM.elf.
ROMANTIKI := $(patsubst examples/romantiki/%.c,%,$(wildcard examples/romantiki/*.c))

BOARD_TOOLS_lm3s6965evb := arm-none-eabi-
BOARD_FLAGS_lm3s6965evb := -mcpu=cortex-m3 -mthumb -DWEIR_CFG_SOCKETS=4 -DWEIR_CFG_OUTBOX_BYTES=768 -DMEMORY_BYTES=10240
BOARD_START_lm3s6965evb := boards/cortex_m
BOARD_KERNEL_lm3s6965evb := kernel/preempt/arch/cortex_m.c kernel/preempt/arch/arm.c
BOARD_PROFILE_lm3s6965evb := tiny
BOARD_DRIVERS_lm3s6965evb := drivers/stellaris.c

BOARD_TOOLS_mps2-an385 := arm-none-eabi-
BOARD_FLAGS_mps2-an385 := -mcpu=cortex-m3 -mthumb -DMEMORY_BYTES=131072
BOARD_START_mps2-an385 := boards/cortex_m
BOARD_KERNEL_mps2-an385 := kernel/preempt/arch/cortex_m.c kernel/preempt/arch/arm.c
BOARD_PROFILE_mps2-an385 := small
BOARD_DRIVERS_mps2-an385 := drivers/lan9118.c

BOARD_TOOLS_xilinx-zynq-a9 := arm-none-eabi-
BOARD_FLAGS_xilinx-zynq-a9 := -mcpu=cortex-a9 -mfpu=neon -mfloat-abi=hard -marm -O2 -DMEMORY_BYTES=262144
BOARD_START_xilinx-zynq-a9 := boards/armv7a
BOARD_KERNEL_xilinx-zynq-a9 := kernel/preempt/arch/armv7a.c kernel/preempt/arch/arm.c kernel/preempt/arch/flag.c
BOARD_PROFILE_xilinx-zynq-a9 := full
BOARD_DRIVERS_xilinx-zynq-a9 := drivers/cadence_gem.c boards/heap.c

# The C library is the one made for speed: what is compared with Linux here copies by it. Its objects are linked with two
# configurations of the stack (RELINK_BOARD), so their names carry none.
BOARD_TOOLS_arm-virt := arm-none-eabi-
BOARD_FLAGS_arm-virt := -mcpu=cortex-a15 -mfpu=neon-vfpv4 -mfloat-abi=hard -marm -O2 -DMMU_RAM_START=0x40000000u -DMMU_CACHED_END=0x47f00000u \
    -DWEIR_CONFIGURATION=any -DMMU_RAM_END=0x48000000u -DMEMORY_BYTES=262144
BOARD_START_arm-virt := boards/armv7a
BOARD_KERNEL_arm-virt := kernel/preempt/arch/armv7a.c kernel/preempt/arch/arm.c kernel/preempt/arch/flag.c
BOARD_PROFILE_arm-virt := full
BOARD_DRIVERS_arm-virt := drivers/virtio_ring.c drivers/virtio_net.c drivers/virtio_mmio.c boards/heap.c
BOARD_LINK_arm-virt := -nostartfiles

BOARD_TOOLS_portux920t := arm-none-eabi-
# (Loops that copy, in boards/armv4t/memory.c, are not to become calls of memcpy.)
BOARD_FLAGS_portux920t := -mcpu=arm920t -marm -O2 -fno-tree-loop-distribute-patterns -DWEIR_SUM=armv4t_sum -DMEMORY_BYTES=262144
BOARD_START_portux920t := boards/armv4t
BOARD_KERNEL_portux920t := kernel/preempt/arch/armv4t.c kernel/preempt/arch/flag.c
BOARD_PROFILE_portux920t := full
BOARD_DRIVERS_portux920t := drivers/at91_emac.c drivers/mii.c boards/heap.c

# The same architecture of the kernel on a machine that QEMU has; its memory's first megabyte is left to the vectors.
BOARD_TOOLS_versatilepb := arm-none-eabi-
BOARD_FLAGS_versatilepb := -mcpu=arm926ej-s -marm -O2 -fno-tree-loop-distribute-patterns -DWEIR_SUM=armv4t_sum -DMMU_RAM_START=0x00100000u -DMMU_CACHED_END=0x07f00000u -DMMU_RAM_END=0x08000000u -DMEMORY_BYTES=262144
BOARD_START_versatilepb := boards/armv4t
BOARD_KERNEL_versatilepb := $(BOARD_KERNEL_portux920t)
BOARD_PROFILE_versatilepb := full
BOARD_DRIVERS_versatilepb := drivers/smc91c111.c boards/heap.c

# Without a C library of its own: boards/mips has what is called of one. Its compiler is Linux's, and would make code for shared libraries.
BOARD_TOOLS_malta := mips-linux-gnu-
MALTA_FLAGS := -mabi=32 -march=24kc -U__linux__ -U__unix__ -mno-abicalls -fno-pic -G0 -O2 -fno-tree-loop-distribute-patterns -fno-asynchronous-unwind-tables \
    -fno-stack-protector -Iboards/include -DMEMORY_BYTES=262144
BOARD_FLAGS_malta := -EB $(MALTA_FLAGS)
BOARD_START_malta := boards/mips
BOARD_KERNEL_malta := kernel/preempt/arch/mips.c
BOARD_PROFILE_malta := full
BOARD_DRIVERS_malta := drivers/pcnet.c drivers/slip.c drivers/ns16550.c boards/blocks.c boards/string.c
BOARD_LIBS_malta := -lgcc
BOARD_LINK_malta := -nostdlib -static -Wl,--build-id=none -Wl,--no-warn-mismatch -Wl,-z,max-page-size=0x1000
# The same board in the processor's other byte order, which its pin SI_Endian chooses.
BOARD_FOLDER_malta-el := malta
BOARD_TOOLS_malta-el := mipsel-linux-gnu-
BOARD_FLAGS_malta-el := -EL $(MALTA_FLAGS)
BOARD_START_malta-el := $(BOARD_START_malta)
BOARD_KERNEL_malta-el := $(BOARD_KERNEL_malta)
BOARD_PROFILE_malta-el := $(BOARD_PROFILE_malta)
BOARD_DRIVERS_malta-el := $(BOARD_DRIVERS_malta)
BOARD_LIBS_malta-el := $(BOARD_LIBS_malta)
BOARD_LINK_malta-el := $(BOARD_LINK_malta)

# The host's own compiler, in 32 bits; its libraries are of the other size, so there are none. No vector unit: no thread has its registers. A copy
# whose length is not known is a call: what gcc has for an i686 instead, rep movsb, goes byte by byte on many machines and in QEMU.
BOARD_TOOLS_pc :=
BOARD_FLAGS_pc := -m32 -march=i686 -mgeneral-regs-only -U__linux__ -U__unix__ -O2 -fno-pic -fno-pie -fno-stack-protector -fcf-protection=none \
    -fno-tree-loop-distribute-patterns -fno-asynchronous-unwind-tables -mmemcpy-strategy=libcall:-1:noalign -mmemset-strategy=libcall:-1:noalign \
    -Iboards/include -DMEMORY_BYTES=262144
BOARD_START_pc := boards/x86
BOARD_KERNEL_pc := kernel/preempt/arch/x86.c kernel/preempt/arch/flag.c
BOARD_PROFILE_pc := full
BOARD_DRIVERS_pc := drivers/virtio_ring.c drivers/virtio_net.c drivers/virtio_pci.c boards/blocks.c boards/string.c
BOARD_LINK_pc := -nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack
BOARD_TOOLS_pc-ne2k :=
BOARD_FLAGS_pc-ne2k := $(BOARD_FLAGS_pc)
BOARD_START_pc-ne2k := $(BOARD_START_pc)
BOARD_KERNEL_pc-ne2k := $(BOARD_KERNEL_pc)
BOARD_PROFILE_pc-ne2k := full
BOARD_DRIVERS_pc-ne2k := drivers/ne2k.c boards/blocks.c boards/string.c
BOARD_LINK_pc-ne2k := $(BOARD_LINK_pc)

# Builtins, or each 4 bytes that put32 writes would be a call of memcpy.
FIRMWARE_FLAGS := -std=c11 -Os -g -ffreestanding -fbuiltin -fno-common -ffunction-sections -fdata-sections $(WARNINGS) -Iinclude -Isrc -I. -Iports -Iboards -Iapi
# Two boards that differ by what the compiler is told share a folder: BOARD_FOLDER_board.
board_folder = $(or $(BOARD_FOLDER_$(1)),$(1))
upper = $(shell echo $(1) | tr a-z A-Z)

# The cooperative kernel with Romantiki's calls.
COOP := $(wildcard kernel/coop/*.c ports/coop/*.c api/romantiki/*.c) boards/coop_main.c

# $(call board,BOARD)
define board
BOARD_SOURCES_$(1) := $(wildcard $(BOARD_START_$(1))/*.c boards/$(call board_folder,$(1))/*.c boards/start.c ports/common/core.c ports/superloop/*.c) $(COOP) $(BOARD_DRIVERS_$(1)) $(SRC_$(BOARD_PROFILE_$(1)))
BOARD_OBJECTS_$(1) := $$(patsubst %.c,$(B)/boards/$(1)/obj/%.o,$$(BOARD_SOURCES_$(1))) \
    $$(patsubst %.S,$(B)/boards/$(1)/obj/%.o,$(wildcard $(BOARD_START_$(1))/*.S boards/$(call board_folder,$(1))/*.S))
BOARD_CC_$(1) := $(BOARD_TOOLS_$(1))gcc $(FIRMWARE_FLAGS) $(BOARD_FLAGS_$(1)) -DWEIR_PROFILE_$(call upper,$(BOARD_PROFILE_$(1)))
$(B)/boards/$(1)/obj/%.o: %.c tools/boards.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(BOARD_CC_$(1)) -MMD -MP -c $$< -o $$@
$(B)/boards/$(1)/obj/%.o: %.S tools/boards.mk
	@mkdir -p $$(@D)
	@echo "  AS    $$@"
	@$$(BOARD_CC_$(1)) -c $$< -o $$@
$(B)/boards/$(1)/%.elf: $(B)/boards/$(1)/obj/examples/firmware/%.o $$(BOARD_OBJECTS_$(1)) boards/$(call board_folder,$(1))/link.ld $(wildcard $(BOARD_START_$(1))/*.ld)
	@echo "  LINK  $$@"
	@$$(BOARD_CC_$(1)) $$(or $$(BOARD_LINK_$(1)),--specs=nano.specs -nostartfiles) -T boards/$(call board_folder,$(1))/link.ld -Wl,--gc-sections -Wl,-Map=$$@.map $$(filter %.o,$$^) $$(BOARD_LIBS_$(1)) -o $$@
$(B)/boards/$(1)/romantiki_%.elf: $(B)/boards/$(1)/obj/examples/romantiki/%.o $$(BOARD_OBJECTS_$(1)) boards/$(call board_folder,$(1))/link.ld $(wildcard $(BOARD_START_$(1))/*.ld)
	@echo "  LINK  $$@"
	@$$(BOARD_CC_$(1)) $$(or $$(BOARD_LINK_$(1)),--specs=nano.specs -nostartfiles) -T boards/$(call board_folder,$(1))/link.ld -Wl,--gc-sections -Wl,-Map=$$@.map $$(filter %.o,$$^) $$(BOARD_LIBS_$(1)) -o $$@
-include $$(call headers_of,boards/$(1),$$(BOARD_OBJECTS_$(1):.o=.d) $(FIRMWARE:%=$(B)/boards/$(1)/obj/examples/firmware/%.d) $(ROMANTIKI:%=$(B)/boards/$(1)/obj/examples/romantiki/%.d))
endef
$(foreach b,$(BOARDS),$(eval $(call board,$(b))))

PREEMPT := $(filter-out ports/preempt/process_calls.c,$(wildcard kernel/preempt/*.c ports/preempt/*.c api/bsd/*.c)) ports/common/core.c ports/common/io_thread.c boards/start.c
# Of the programs with processes: the architecture's system call, and the calls on both its sides.
PROCESS_PROGRAMS := processes flock_clients programs flock_transfer flock_far flock_echo
call_of = $(or $(wildcard $(1:%.c=%_call.c)),kernel/preempt/arch/plain_call.c)
PROGRAM_BOARDS_small_echo := mps2-an385
PROGRAM_PARTS_small_echo := $(PREEMPT) boards/memory_mac/memory.c
# Limits of an image that has no datagrams to speak of and four connections. (Beside these a listener takes a socket.)
PREEMPT_LIMITS := -DWEIR_CFG_DATAGRAM_SOCKETS=0 -DWEIR_CFG_REASSEMBLY_BYTES=1600 -DWEIR_CFG_OUTBOX_BYTES=768 -DWEIR_CFG_LOOPBACK_BYTES=0 \
    -DWEIR_CFG_TCP_TIME_WAIT=4 -DWEIR_CFG_TCP_HALF_OPEN=4 -DWEIR_CFG_TCP_FLIGHT_RECORDS=8 -DWEIR_CFG_TCP_INTERVALS=8 -DWEIR_CFG_NETIFS=1 -DWEIR_CFG_MULTICAST_GROUPS=1
# small_echo is linked as one unit. What it has no use for it leaves out: it opens no datagram socket and no real-time stream, connects to nobody, so that every
# frame of its is an answer and goes where the question came from (no neighbour cache, no routes); sets no option, so that there is one congestion control, Reno: its queues are of 4 KB, so that its window stays where CUBIC does as Reno (RFC 9438, section 4.3) and needs no scale; its driver copies,
# never answers HELD, and computes no checksum; its threads' memory does not fault; nobody asks it for counters, and nobody sends TCP in fragments. Of ICMP it answers
# echo alone, and its segments are of 536 bytes, as of a host that does not look for a path's MTU.
PROGRAM_OPTIONS_small_echo := DATAGRAM_SOCKETS=0 UDP=0 FRAGMENTS=0 REALTIME=0 REALTIME_SENDER=0 COUNTERS=0 TCP_CONNECT=0 ARP_CACHE=0 TCP_KEEPALIVE=0 TCP_HELD=0 TCP_WINDOW_SCALE=0 SOCKET_OPTIONS=0 BSD_FAULTS=0 BSD_POLL=0 TX_OFFLOAD=0 CC_CUBIC=0 ICMP_ERRORS=0 SOCKETS=5 \
    LISTENERS=1 TCP_CONNECTIONS=4 NETIFS=1 ROUTES=1 NEIGHBOURS=1 NEIGHBOUR_QUEUE_BYTES=0 OUTBOX_BYTES=256 TCP_TIME_WAIT=1 TCP_HALF_OPEN=3 TCP_FLIGHT_RECORDS=5 TCP_INTERVALS=3
PROGRAM_FLAGS_small_echo := $(call as_flags,$(PROGRAM_OPTIONS_small_echo)) -DMEMORY_MAC_TIMER=memory_mac_look -DWEIR_SUM=memory_sum -DPREEMPT_BURST=1 -flto \
    --param=max-inline-insns-size=4 -fno-guess-branch-probability -fno-tree-switch-conversion -fno-move-loop-invariants -fno-if-conversion -fno-tree-tail-merge -fipa-pta -fno-schedule-insns2 -fno-caller-saves -fno-thread-jumps -fno-tree-dominator-opts
PROGRAM_LINK_small_echo := -Wl,--defsym=link_stack_bytes=160 $(filter -f%,$(PROGRAM_FLAGS_small_echo)) -flto-partition=one -Wno-maybe-uninitialized
# A board with the memory for it has the profile's own limits and takes what it wants from its allocator; its stacks are larger.
PROGRAM_BOARDS_busy_echo := mps2-an385 xilinx-zynq-a9 arm-virt pc malta malta-el
PROGRAM_FLAGS_busy_echo_xilinx-zynq-a9 := -DSTACK_UNIT=4096
PROGRAM_FLAGS_busy_echo_malta := $(PROGRAM_FLAGS_busy_echo_xilinx-zynq-a9)
PROGRAM_FLAGS_busy_echo_malta-el := $(PROGRAM_FLAGS_busy_echo_malta)
PROGRAM_FLAGS_busy_echo_arm-virt := -DSTACK_UNIT=4096
PROGRAM_FLAGS_busy_echo_pc := -DSTACK_UNIT=4096
PROGRAM_PARTS_busy_echo := $(PREEMPT)
PROGRAM_FLAGS_busy_echo := $(PREEMPT_LIMITS) -DWEIR_CFG_SOCKETS=7 -DWEIR_CFG_LISTENERS=2 -UMEMORY_BYTES -DMEMORY_BYTES=70656
PROGRAM_LINK_busy_echo := -Wl,--defsym=link_stack_bytes=768
PROGRAM_BOARDS_processes := mps2-an385 xilinx-zynq-a9 pc malta malta-el portux920t versatilepb
PROGRAM_PARTS_processes := $(filter-out api/bsd/posix_calls.c,$(PREEMPT)) ports/preempt/process_calls.c $(filter-out api/flock/calls.c,$(wildcard api/flock/*.c)) apps/text.c
# (With memory for the send queues of flock_transfer_send_5.)
PROGRAM_FLAGS_processes := -DWEIR_CFG_SOCKETS=8 -UMEMORY_BYTES -DMEMORY_BYTES=262144
PROGRAM_FLAGS_processes_xilinx-zynq-a9 := -DSTACK_UNIT=4096
PROGRAM_FLAGS_processes_pc := -DSTACK_UNIT=4096
PROGRAM_FLAGS_processes_portux920t := -DSTACK_UNIT=4096
PROGRAM_FLAGS_processes_versatilepb := -DSTACK_UNIT=4096
PROGRAM_FLAGS_processes_malta := -DSTACK_UNIT=4096
PROGRAM_FLAGS_processes_malta-el := $(PROGRAM_FLAGS_processes_malta)
# CMSIS-RTOS2 over the preemptive kernel: its test, and the stack over it.
RTOS2 := $(wildcard kernel/preempt/*.c api/cmsis_rtos2/*.c)
PROGRAM_BOARDS_rtos2_test := mps2-an385
PROGRAM_PARTS_rtos2_test := $(RTOS2) apps/text.c
PROGRAM_FLAGS_rtos2_test := -Iapi/cmsis_rtos2
PROGRAM_BOARDS_rtos2_echo := mps2-an385
PROGRAM_PARTS_rtos2_echo := $(RTOS2) $(wildcard ports/cmsis_rtos2/*.c ports/common/*.c api/bsd/*.c) boards/start.c
PROGRAM_FLAGS_rtos2_echo := -Iapi/cmsis_rtos2 -DWEIR_CFG_SOCKETS=5
# The stack over FreeRTOS: on the real kernel where FREERTOS names a folder with its sources (its FreeRTOS/Source, or the repository FreeRTOS-Kernel);
# without, the port and its example are compiled against the declarations in tests/freertos, so that they stay in step with the rest.
FREERTOS ?=
PROGRAM_NO_KERNEL_freertos_echo := yes
PROGRAM_BOARDS_freertos_echo := $(if $(FREERTOS),mps2-an385)
FREERTOS_PARTS := $(wildcard ports/freertos/*.c) $(patsubst %,$(abspath $(FREERTOS))/%.c,tasks queue list portable/GCC/ARM_CM3/port portable/MemMang/heap_4)
FREERTOS_FLAGS := -Iexamples/freertos -I$(FREERTOS)/include -I$(FREERTOS)/portable/GCC/ARM_CM3
PROGRAM_PARTS_freertos_echo := examples/freertos/freertos_echo.c $(FREERTOS_PARTS) $(wildcard ports/common/*.c api/bsd/*.c) boards/start.c
PROGRAM_FLAGS_freertos_echo := $(FREERTOS_FLAGS) -DWEIR_CFG_SOCKETS=5
FREERTOS_STAND_IN := $(patsubst %.c,$(B)/boards/mps2-an385/stand_in/%.o,$(wildcard ports/freertos/*.c examples/freertos/*.c) examples/romantiki/kernels/freertos.c)
$(B)/boards/mps2-an385/stand_in/%.o: %.c tools/boards.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(BOARD_CC_mps2-an385) -Itests/freertos -Iexamples/freertos -MMD -MP -c $< -o $@
-include $(FREERTOS_STAND_IN:.o=.d)
firmware: $(if $(FREERTOS),,$(FREERTOS_STAND_IN))
# The thesis's two clients.
PROGRAM_BOARDS_flock_clients := mps2-an385 xilinx-zynq-a9 portux920t
PROGRAM_DIR_flock_clients := processes
PROGRAM_PARTS_flock_clients := $(PROGRAM_PARTS_processes) $(wildcard examples/flock/*.c)
# Programs that run on the microkernel, too (tools/micro.mk).
EITHER := $(filter-out examples/either/programs.c,$(wildcard examples/either/*.c)) examples/flock/http.c
PROGRAM_BOARDS_programs := mps2-an385
PROGRAM_DIR_programs := processes
PROGRAM_PARTS_programs := $(PROGRAM_PARTS_processes) $(EITHER) examples/either/programs.c examples/flock/boot.c
PROGRAM_FLAGS_programs := $(PROGRAM_FLAGS_processes)
PROGRAM_FLAGS_flock_clients := $(PROGRAM_FLAGS_processes)
PROGRAM_FLAGS_flock_clients_xilinx-zynq-a9 := $(PROGRAM_FLAGS_processes_xilinx-zynq-a9)
PROGRAM_FLAGS_flock_clients_portux920t := $(PROGRAM_FLAGS_processes_portux920t)

# The thesis's transfers through its own calls, beside transfer.elf (bench/metal/api.py: thesis.api_ratio).
PROGRAM_BOARDS_flock_transfer := mps2-an385 arm-virt portux920t
PROGRAM_PARTS_flock_transfer := $(PROGRAM_PARTS_processes) bench/metal/flock_transfer.c examples/flock/boot.c
PROGRAM_DIR_flock_transfer := processes
PROGRAM_FLAGS_flock_transfer := $(PROGRAM_FLAGS_processes)
PROGRAM_FLAGS_flock_transfer_arm-virt := -DSTACK_UNIT=4096
PROGRAM_FLAGS_flock_transfer_portux920t := -DSTACK_UNIT=4096
# The same with other settings, bench/metal/settings/NAME.c in place of boards/start.c: the 5 KB of the thesis's section 5.1 to receive into, with each
# congestion control that the profile has, and two send queues (bench/metal/buffers.py: thesis.buffers); other congestion controls alone
# (bench/metal/portux.py: thesis.portux).
define flock_settings
OWN_PROGRAMS += flock_transfer_$(1)
PROCESS_PROGRAMS += flock_transfer_$(1)
PROGRAM_BOARDS_flock_transfer_$(1) := $(2)
PROGRAM_PARTS_flock_transfer_$(1) := $$(filter-out boards/start.c,$$(PROGRAM_PARTS_flock_transfer)) bench/metal/settings/$(1).c
PROGRAM_DIR_flock_transfer_$(1) := processes
PROGRAM_FLAGS_flock_transfer_$(1) := $$(PROGRAM_FLAGS_processes)
PROGRAM_FLAGS_flock_transfer_$(1)_arm-virt := -DSTACK_UNIT=4096
PROGRAM_FLAGS_flock_transfer_$(1)_portux920t := -DSTACK_UNIT=4096
endef
$(foreach s,reno cubic send_5,$(eval $(call flock_settings,$(s),mps2-an385 arm-virt)))
$(foreach s,bbr send_1,$(eval $(call flock_settings,$(s),arm-virt)))
$(foreach s,sends_reno sends_bbr,$(eval $(call flock_settings,$(s),portux920t)))
# The same with queues for a far host (bench/metal/far.py: thesis.far).
PROGRAM_BOARDS_flock_far := mps2-an385
PROGRAM_PARTS_flock_far := $(filter-out boards/start.c,$(PROGRAM_PARTS_flock_transfer)) bench/metal/settings/far.c
PROGRAM_FLAGS_flock_far := -DWEIR_CFG_SOCKETS=5 -UMEMORY_BYTES -DMEMORY_BYTES=3145728
# A process that echoes, beside echo.elf (bench/metal/latency.py: thesis.latency).
PROGRAM_BOARDS_flock_echo := mps2-an385 arm-virt
PROGRAM_PARTS_flock_echo := $(PROGRAM_PARTS_processes) bench/metal/flock_echo.c examples/flock/boot.c
PROGRAM_DIR_flock_echo := processes
PROGRAM_FLAGS_flock_echo := $(PROGRAM_FLAGS_processes)
PROGRAM_FLAGS_flock_echo_arm-virt := -DSTACK_UNIT=4096

# Applications of apps/, and no kernel.
APPS_BOARD := boards/apps_board.c $(wildcard ports/superloop/*.c) ports/common/core.c boards/start.c $(addprefix apps/,loop.c service.c text.c)
# What a host serves.
PROGRAM_BOARDS_services := arm-virt pc portux920t
PROGRAM_PARTS_services := $(APPS_BOARD) $(addprefix apps/,chargen.c clients.c counters.c crowd.c discard.c echo.c) $(wildcard apps/http/*.c) $(filter-out %/capture.c,$(wildcard apps/status/*.c))
PROGRAM_FLAGS_services := -Iapps
PROGRAM_NO_KERNEL_services := yes
# A shell on the console, whose ping needs ICMP sockets, and its tcpdump taps. For one who types a resolver with two questions and four names is enough.
PROGRAM_BOARDS_shell := mps2-an385
PROGRAM_OPTIONS_shell := RAW=1 HANDLERS=1
PROGRAM_PARTS_shell := $(APPS_BOARD) boards/console.c $(addprefix apps/,capture.c capture_file.c clients.c counters.c crowd.c echo.c ping.c) $(addprefix apps/shell/,commands.c shell.c tcpdump.c tools.c) $(filter-out %/bsd.c,$(wildcard apps/dns/*.c))
PROGRAM_FLAGS_shell := $(call as_flags,$(PROGRAM_OPTIONS_shell)) -Iapps -DDNS_QUERIES=2 -DDNS_CACHE_ENTRIES=4
PROGRAM_NO_KERNEL_shell := yes
# Tracing, told on the console.
PROGRAM_BOARDS_traced_echo := mps2-an385
PROGRAM_OPTIONS_traced_echo := TRACE=1
PROGRAM_PARTS_traced_echo := $(APPS_BOARD) $(addprefix apps/,clients.c crowd.c echo.c)
PROGRAM_FLAGS_traced_echo := $(call as_flags,$(PROGRAM_OPTIONS_traced_echo)) -Iapps
PROGRAM_NO_KERNEL_traced_echo := yes
# A player of real-time streams.
PROGRAM_BOARDS_player := mps2-an385 xilinx-zynq-a9
PROGRAM_PARTS_player := $(APPS_BOARD) apps/rtstream/player.c apps/rtstream/rtp.c
PROGRAM_FLAGS_player := -Iapps
PROGRAM_NO_KERNEL_player := yes
# A source of them, for players on this machine.
PROGRAM_BOARDS_source := arm-virt xilinx-zynq-a9
PROGRAM_PARTS_source := $(APPS_BOARD) apps/rtstream/source.c apps/rtstream/rtp.c
PROGRAM_FLAGS_source := -Iapps
PROGRAM_NO_KERNEL_source := yes
# A boot loader for two slots, and a program that fetches its successor by TFTP: linked to run where the loader copies it.
UPDATE_PARTS := examples/update/memory_flash.c $(wildcard apps/update/*.c)
PROGRAM_BOARDS_update_boot := mps2-an385
PROGRAM_PARTS_update_boot := $(UPDATE_PARTS) examples/update/boot.c apps/text.c
PROGRAM_FLAGS_update_boot := -Iapps
PROGRAM_NO_KERNEL_update_boot := yes
PROGRAM_BOARDS_update_program := mps2-an385
PROGRAM_PARTS_update_program := $(UPDATE_PARTS) examples/update/program.c $(wildcard apps/tftp/*.c) $(APPS_BOARD)
PROGRAM_FLAGS_update_program := -Iapps
PROGRAM_LINK_update_program := -Wl,--defsym=link_flash=0x80000
PROGRAM_NO_KERNEL_update_program := yes
# The two ends of the real-time work's benchmark (bench/realtime): Weir's player, and the modelled Embedded Xinu without Weir.
PROGRAM_BOARDS_realtime_player := mps2-an385
PROGRAM_PARTS_realtime_player := bench/realtime/board_player.c ports/superloop/superloop.c ports/common/core.c boards/start.c apps/text.c
PROGRAM_FLAGS_realtime_player := -Iapps
PROGRAM_NO_KERNEL_realtime_player := yes
PROGRAM_BOARDS_realtime_source := arm-virt
PROGRAM_PARTS_realtime_source := bench/realtime/board_source.c bench/realtime/xinu.c
PROGRAM_NO_KERNEL_realtime_source := yes
# From link up to the first byte of HTTP over IPv6: a host, and its router and client behind the board's other interface.
OWN_PROGRAMS += startup6
PROGRAM_BOARDS_startup6 := malta
PROGRAM_OPTIONS_startup6 := IP6=1 IP6_OPTIMISTIC=1
PROGRAM_PARTS_startup6 := bench/metal/startup6.c $(APPS_BOARD) $(addprefix apps/,clients.c crowd.c) $(filter-out %/client.c %/url.c,$(wildcard apps/http/*.c))
PROGRAM_FLAGS_startup6 := $(call as_flags,$(PROGRAM_OPTIONS_startup6)) -Iapps
PROGRAM_NO_KERNEL_startup6 := yes
# The driver as a thread of its own.
PROGRAM_BOARDS_driver_echo := pc-ne2k
PROGRAM_PARTS_driver_echo := $(PREEMPT)
PROGRAM_FLAGS_driver_echo := -DSTACK_UNIT=4096
# Romantiki's tasks with a send queue of one record, without and with the option that splits it in two (on the compact stack one of the build).
PAGES_FLAGS := -DWEIR_CFG_TCP_SEND_BYTES=536
define pages
PROGRAM_BOARDS_$(1) := mps2-an385 lm3s6965evb
PROGRAM_PARTS_$(1) := $(COOP) examples/romantiki/pages.c
PROGRAM_FLAGS_$(1) := $(PAGES_FLAGS) -DPAGES_MODE=$(2)
PROGRAM_FLAGS_$(1)_lm3s6965evb := $(PAGES_FLAGS) -DWEIR_CFG_TCP_SPLIT=$(3)
PROGRAM_NO_KERNEL_$(1) := yes
endef
# Romantiki's answers to UDP, on the compact stack by an option.
OWN_PROGRAMS += romantiki_respond
PROGRAM_BOARDS_romantiki_respond := lm3s6965evb
PROGRAM_OPTIONS_romantiki_respond := COMPACT_UDP=1 DATAGRAM_SOCKETS=2
PROGRAM_FLAGS_romantiki_respond := $(call as_flags,$(PROGRAM_OPTIONS_romantiki_respond))
PROGRAM_PARTS_romantiki_respond := $(COOP) examples/romantiki/respond.c
PROGRAM_NO_KERNEL_romantiki_respond := yes
# Romantiki's echo server with a real MAC in the RAM that its paper has for it: one connection, and no more memory than the stack asks for.
OWN_PROGRAMS += paper_echo
PROGRAM_BOARDS_paper_echo := lm3s6965evb
PROGRAM_FLAGS_paper_echo := -UWEIR_CFG_SOCKETS -DWEIR_CFG_SOCKETS=2 -UMEMORY_BYTES -DMEMORY_BYTES=3216
PROGRAM_PARTS_paper_echo := $(COOP) examples/romantiki/echo.c
PROGRAM_NO_KERNEL_paper_echo := yes
# The same over IPv6.
OWN_PROGRAMS += tiny6_echo
PROGRAM_BOARDS_tiny6_echo := lm3s6965evb
PROGRAM_OPTIONS_tiny6_echo := $(TINY6)
PROGRAM_FLAGS_tiny6_echo := $(call as_flags,$(TINY6))
PROGRAM_PARTS_tiny6_echo := $(PROGRAM_PARTS_paper_echo)
PROGRAM_NO_KERNEL_tiny6_echo := yes
# Romantiki's answers to UDP over IPv6, at an address that is given by hand, with version 1 of MLD.
OWN_PROGRAMS += tiny6_respond
PROGRAM_BOARDS_tiny6_respond := lm3s6965evb
PROGRAM_OPTIONS_tiny6_respond := $(TINY6) COMPACT_ADDRESS=1 COMPACT_MLD1=1 $(PROGRAM_OPTIONS_romantiki_respond)
PROGRAM_FLAGS_tiny6_respond := $(call as_flags,$(PROGRAM_OPTIONS_tiny6_respond))
PROGRAM_PARTS_tiny6_respond := $(PROGRAM_PARTS_romantiki_respond)
PROGRAM_NO_KERNEL_tiny6_respond := yes
# A task above the stack beside the cooperative kernel's echo server.
PROGRAM_BOARDS_urgent_echo := mps2-an385 lm3s6965evb
PROGRAM_PARTS_urgent_echo := $(COOP)
PROGRAM_NO_KERNEL_urgent_echo := yes
$(eval $(call pages,pages_whole,SOCK_BLOCKING,0))
$(eval $(call pages,pages_split,SOCK_SPLIT,1))
# Romantiki's programs with threads, over BSD sockets and the kernels of three ports: build/boards/BOARD/romantiki_PROGRAM_KERNEL.elf.
ROMANTIKI_KERNELS := preempt rtos2 freertos
ROMANTIKI_PARTS := $(filter-out api/romantiki/bsd/posix.c,$(wildcard api/romantiki/bsd/*.c)) $(wildcard api/bsd/*.c ports/common/*.c) boards/start.c \
    examples/romantiki/kernels/begin.c
ROMANTIKI_PARTS_preempt := $(wildcard kernel/preempt/*.c) ports/preempt/preempt_port.c
ROMANTIKI_PARTS_rtos2 := $(RTOS2) $(wildcard ports/cmsis_rtos2/*.c)
ROMANTIKI_PARTS_freertos := $(FREERTOS_PARTS)
ROMANTIKI_FLAGS_rtos2 := -Iapi/cmsis_rtos2
ROMANTIKI_FLAGS_freertos := $(FREERTOS_FLAGS)
ROMANTIKI_BOARDS_freertos := $(PROGRAM_BOARDS_freertos_echo)
define romantiki_threads
OWN_PROGRAMS += romantiki_$(1)_$(2)
PROGRAM_BOARDS_romantiki_$(1)_$(2) := $(if $(filter freertos,$(2)),$(ROMANTIKI_BOARDS_freertos),mps2-an385)
PROGRAM_DIR_romantiki_$(1)_$(2) := romantiki_$(2)
PROGRAM_PARTS_romantiki_$(1)_$(2) := $(ROMANTIKI_PARTS) $(ROMANTIKI_PARTS_$(2)) examples/romantiki/kernels/$(2).c examples/romantiki/$(1).c
PROGRAM_FLAGS_romantiki_$(1)_$(2) := -DROMANTIKI_BSD -DROMANTIKI_PORT $(ROMANTIKI_FLAGS_$(2))
PROGRAM_NO_KERNEL_romantiki_$(1)_$(2) := $(if $(filter freertos,$(2)),yes)
endef
$(foreach k,$(ROMANTIKI_KERNELS),$(foreach p,$(ROMANTIKI),$(eval $(call romantiki_threads,$(p),$(k)))))
# Embedded Xinu's devices, with two interfaces.
PROGRAM_BOARDS_xinu_router := malta malta-el
PROGRAM_PARTS_xinu_router := $(PREEMPT) $(wildcard api/xinu/*.c apps/dhcp/*.c) examples/xinu/boot.c examples/xinu/router.c apps/loop.c apps/service.c
PROGRAM_FLAGS_xinu_router := -Iapps -DPORT_NETIFS=2
# A player of real-time streams to those calls: the router's objects, and its own.
PROGRAM_BOARDS_xinu_player := malta malta-el
PROGRAM_DIR_xinu_player := xinu_router
PROGRAM_PARTS_xinu_player := $(PREEMPT) $(wildcard api/xinu/*.c apps/dhcp/*.c) examples/xinu/boot.c examples/xinu/player.c apps/loop.c apps/service.c apps/text.c
PROGRAM_FLAGS_xinu_player := $(PROGRAM_FLAGS_xinu_router)

# Its objects lie apart, since its settings are its own: PROGRAM_FLAGS_program, or for a board that needs others PROGRAM_FLAGS_program_board.
# Options that leave files out stand in PROGRAM_OPTIONS_program; libraries that are not in the tree, which `make firmware` does not fetch, in
# PROGRAM_LIBRARIES_program (tools/tls.mk).
program_sources = $(if $(PROGRAM_OPTIONS_$(2)),$(filter-out $(call left_out,$(BOARD_PROFILE_$(1)) $(PROGRAM_OPTIONS_$(2))),$(SRC)),$(SRC_$(BOARD_PROFILE_$(1))))
# A program whose settings are another's shares its objects; one that sets nothing of the stack's has the board's own of src/.
program_dir = $(or $(PROGRAM_DIR_$(1)),$(1))
program_flags = $(or $(PROGRAM_FLAGS_$(2)_$(1)),$(PROGRAM_FLAGS_$(2)))
stack_dir = $(if $(PROGRAM_OPTIONS_$(2))$(filter -DWEIR% -UWEIR% -f%,$(call program_flags,$(1),$(2))),$(call program_dir,$(2)),obj)
define program
PROGRAM_OBJECTS_$(1)_$(2) := $$(patsubst %.c,$(B)/boards/$(1)/$(call program_dir,$(2))/%.o,$(wildcard $(BOARD_START_$(1))/*.c boards/$(call board_folder,$(1))/*.c) $(BOARD_DRIVERS_$(1))) \
    $$(patsubst %.c,$(B)/boards/$(1)/$(call stack_dir,$(1),$(2))/%.o,$(call program_sources,$(1),$(2))) \
    $$(patsubst %.c,$(B)/boards/$(1)/$(call program_dir,$(2))/%.o,$(if $(PROGRAM_NO_KERNEL_$(2)),,$(BOARD_KERNEL_$(1))) \
    $(if $(filter $(2),$(PROCESS_PROGRAMS)),$(call call_of,$(BOARD_KERNEL_$(1)))) $(PROGRAM_PARTS_$(2)) $(wildcard examples/firmware/$(2).c)) \
    $$(patsubst %.S,$(B)/boards/$(1)/$(call program_dir,$(2))/%.o,$(wildcard $(BOARD_START_$(1))/*.S boards/$(call board_folder,$(1))/*.S))
$(B)/boards/$(1)/$(call program_dir,$(2))/%.o: %.S tools/boards.mk
	@mkdir -p $$(@D)
	@echo "  AS    $$@"
	@$$(BOARD_CC_$(1)) -c $$< -o $$@
$(B)/boards/$(1)/$(call program_dir,$(2))/%.o: %.c tools/boards.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(BOARD_CC_$(1)) $(call program_flags,$(1),$(2)) $$(if $$(filter %/memory.c,$$<),-fno-lto) -MMD -MP -c $$< -o $$@
$(B)/boards/$(1)/$(2).elf: $$(PROGRAM_OBJECTS_$(1)_$(2)) $(PROGRAM_LIBRARIES_$(2)) boards/$(call board_folder,$(1))/link.ld $(wildcard $(BOARD_START_$(1))/*.ld)
	@echo "  LINK  $$@"
	@$$(BOARD_CC_$(1)) $$(or $$(BOARD_LINK_$(1)),--specs=nano.specs -nostartfiles) -T boards/$(call board_folder,$(1))/link.ld $(PROGRAM_LINK_$(2)) -Wl,--gc-sections -Wl,-Map=$$@.map $$(filter %.o %.a,$$^) $$(BOARD_LIBS_$(1)) -o $$@
firmware: $(if $(PROGRAM_LIBRARIES_$(2)),,$(B)/boards/$(1)/$(2).elf)
-include $$(call headers_of,boards/$(1),$$(PROGRAM_OBJECTS_$(1)_$(2):.o=.d))
endef
$(foreach p,$(OWN_PROGRAMS),$(foreach b,$(PROGRAM_BOARDS_$(p)),$(eval $(call program,$(b),$(p)))))

# LyraOS's server: the stack is one component, build/boards/BOARD/lyraos/component.o, whose exports api/lyraos/exports.txt lists; all else in it is
# hidden from the program, the kernel and the driver that it is linked with. tests/firmware/test_lyraos.py looks at its imports.
LYRAOS_BOARDS := mps2-an385 pc pc-ne2k
# (One address space: a program's memory does not fault.)
LYRAOS_FLAGS := -DLYRAOS_PLAIN -DWEIR_CFG_SOCKETS=8 -DWEIR_CFG_BSD_FAULTS=0
COMPONENT := $(wildcard api/lyraos/*.c) ports/preempt/preempt_port.c ports/common/core.c ports/common/io_thread.c $(filter-out api/bsd/posix_calls.c api/bsd/addrinfo.c api/bsd/connect_name.c,$(wildcard api/bsd/*.c))
define lyraos
COMPONENT_OBJECTS_$(1) := $$(patsubst %.c,$(B)/boards/$(1)/lyraos/%.o,$(SRC_$(BOARD_PROFILE_$(1))) $(COMPONENT))
LYRAOS_OBJECTS_$(1) := $$(patsubst %.c,$(B)/boards/$(1)/lyraos/%.o,$(wildcard $(BOARD_START_$(1))/*.c boards/$(call board_folder,$(1))/*.c kernel/preempt/*.c examples/lyraos/*.c) boards/start.c \
    $(BOARD_DRIVERS_$(1)) $(BOARD_KERNEL_$(1)) apps/text.c) $$(patsubst %.S,$(B)/boards/$(1)/lyraos/%.o,$(wildcard $(BOARD_START_$(1))/*.S boards/$(call board_folder,$(1))/*.S))
$(B)/boards/$(1)/lyraos/%.o: %.c tools/boards.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(BOARD_CC_$(1)) $(LYRAOS_FLAGS) -MMD -MP -c $$< -o $$@
$(B)/boards/$(1)/lyraos/%.o: %.S tools/boards.mk
	@mkdir -p $$(@D)
	@echo "  AS    $$@"
	@$$(BOARD_CC_$(1)) -c $$< -o $$@
$(B)/boards/$(1)/lyraos/component.o: $$(COMPONENT_OBJECTS_$(1)) api/lyraos/exports.txt
	@echo "  LINK  $$@"
	@$$(BOARD_CC_$(1)) -nostdlib -r $$(filter %.o,$$^) -o $$@
	@sed '/^weir_create$$$$\|^weir_netif_init$$$$/s/$$$$/_configuration_*/' api/lyraos/exports.txt >$$(@:.o=.txt)
	@$(BOARD_TOOLS_$(1))objcopy --wildcard --keep-global-symbols=$$(@:.o=.txt) $$@
$(B)/boards/$(1)/lyraos.elf: $(B)/boards/$(1)/lyraos/component.o $$(LYRAOS_OBJECTS_$(1)) boards/$(call board_folder,$(1))/link.ld $(wildcard $(BOARD_START_$(1))/*.ld)
	@echo "  LINK  $$@"
	@$$(BOARD_CC_$(1)) $(or $(BOARD_LINK_$(1)),--specs=nano.specs -nostartfiles) -T boards/$(call board_folder,$(1))/link.ld -Wl,--gc-sections -Wl,-Map=$$@.map $$(filter %.o,$$^) $(BOARD_LIBS_$(1)) -o $$@
firmware: $(B)/boards/$(1)/lyraos.elf
-include $$(call headers_of,boards/$(1),$$(COMPONENT_OBJECTS_$(1):.o=.d) $$(LYRAOS_OBJECTS_$(1):.o=.d))
endef
$(foreach b,$(LYRAOS_BOARDS),$(eval $(call lyraos,$(b))))

.PHONY: size-lyraos
## make size-lyraos  object code of LyraOS's component by the files of its paper's table 3
size-lyraos: $(B)/boards/pc/lyraos/component.o
	@$(PYTHON) tools/lyraos_sizes.py $(<D)

# The same component, kernel and program on a PC whose cards have drivers of Linux 2.0's kind (api/linux_netdev), which are compiled as such:
# build/boards/pc-ne2k/lyraos_linux.elf.
LINUX_NETDEV := $(B)/boards/pc-ne2k/lyraos
LINUX_NETDEV_OBJECTS := $(patsubst %.c,$(LINUX_NETDEV)/%.o,$(wildcard api/linux_netdev/*.c examples/linux_netdev/*.c))
$(LINUX_NETDEV)/examples/linux_netdev/%.o: examples/linux_netdev/%.c tools/boards.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(BOARD_CC_pc-ne2k) $(LYRAOS_FLAGS) -Iapi/linux_netdev/include -MMD -MP -c $< -o $@
$(B)/boards/pc-ne2k/lyraos_linux.elf: $(LINUX_NETDEV)/component.o $(filter-out %/boards/pc-ne2k/board.o %/drivers/ne2k.o,$(LYRAOS_OBJECTS_pc-ne2k)) $(LINUX_NETDEV_OBJECTS) boards/pc-ne2k/link.ld
	@echo "  LINK  $@"
	@$(BOARD_CC_pc-ne2k) $(BOARD_LINK_pc-ne2k) -T boards/pc-ne2k/link.ld -Wl,--gc-sections -Wl,-Map=$@.map $(filter %.o,$^) -o $@
firmware: $(B)/boards/pc-ne2k/lyraos_linux.elf
-include $(LINUX_NETDEV_OBJECTS:.o=.d)

# The board's echo server, its object as it is, linked with another build of the stack: build/boards/BOARD/echo_PROFILE.elf. Nothing but src/ is
# compiled for the other profile.
RELINK_BOARD := arm-virt
RELINK_PROFILES := tiny
define relink
RELINK_OBJECTS_$(2) := $$(patsubst %.c,$(B)/boards/$(1)/$(2)/%.o,$(SRC_$(2)))
$(B)/boards/$(1)/$(2)/%.o: %.c tools/boards.mk
	@mkdir -p $$(@D)
	@echo "  CC    $$@"
	@$$(BOARD_CC_$(1)) -UWEIR_PROFILE_$(call upper,$(BOARD_PROFILE_$(1))) -DWEIR_PROFILE_$(call upper,$(2)) -MMD -MP -c $$< -o $$@
$(B)/boards/$(1)/echo_$(2).elf: $(B)/boards/$(1)/obj/examples/firmware/echo.o $$(filter-out $(B)/boards/$(1)/obj/src/%,$$(BOARD_OBJECTS_$(1))) $$(RELINK_OBJECTS_$(2)) boards/$(call board_folder,$(1))/link.ld
	@echo "  LINK  $$@"
	@$$(BOARD_CC_$(1)) $(or $(BOARD_LINK_$(1)),--specs=nano.specs -nostartfiles) -T boards/$(call board_folder,$(1))/link.ld -Wl,--gc-sections -Wl,-Map=$$@.map $$(filter %.o,$$^) $(BOARD_LIBS_$(1)) -o $$@
firmware: $(B)/boards/$(1)/echo_$(2).elf
-include $$(call headers_of,boards/$(1),$$(RELINK_OBJECTS_$(2):.o=.d))
endef
$(foreach p,$(RELINK_PROFILES),$(eval $(call relink,$(RELINK_BOARD),$(p))))

# $(call board_programs,BOARD): what PROGRAM of `make run` may be; of a board that says what it has, BOARD_PROGRAMS_board.
board_programs = $(or $(BOARD_PROGRAMS_$(1)),$(sort $(FIRMWARE) $(FIRMWARE_$(1)) $(ROMANTIKI:%=romantiki_%) \
    $(foreach p,$(OWN_PROGRAMS) $(TLS_BOARD_PROGRAMS),$(if $(filter $(1),$(PROGRAM_BOARDS_$(p))),$(p))) $(if $(filter $(1),$(LYRAOS_BOARDS)),lyraos) \
    $(if $(filter $(1),pc-ne2k),lyraos_linux) $(if $(filter $(1),$(RELINK_BOARD)),$(RELINK_PROFILES:%=echo_%))))

.PHONY: firmware list-board-programs
list-board-programs:
	@for line in $(foreach b,$(BOARDS),'$(b) $(call board_programs,$(b))'); do echo "$$line"; done
## make firmware   every program of examples/firmware for every board: build/boards/BOARD/PROGRAM.elf
firmware: $(foreach b,$(BOARDS),$(patsubst %,$(B)/boards/$(b)/%.elf,$(FIRMWARE) $(FIRMWARE_$(b))) $(ROMANTIKI:%=$(B)/boards/$(b)/romantiki_%.elf))

# The instance of small_echo has as much memory as it asks for, and no more: the library tells (under qemu-arm).
SMALL_ECHO := $(B)/boards/mps2-an385/small_echo
$(SMALL_ECHO)/memory: tools/instance_bytes.c $(filter $(SMALL_ECHO)/src/%,$(PROGRAM_OBJECTS_mps2-an385_small_echo))
	@echo "  SIZE  $@"
	@$(BOARD_CC_mps2-an385) -std=gnu11 $(PROGRAM_FLAGS_small_echo) --specs=nano.specs -nostartfiles -static -Wl,--gc-sections $^ -o $@.elf
	@qemu-arm $@.elf >$@
$(SMALL_ECHO)/examples/firmware/small_echo.o: examples/firmware/small_echo.c $(SMALL_ECHO)/memory
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(BOARD_CC_mps2-an385) $(PROGRAM_FLAGS_small_echo) -UMEMORY_BYTES -DMEMORY_BYTES=$$(cat $(SMALL_ECHO)/memory) -MMD -MP -c $< -o $@

# small_echo with a client in place of the driver, for small_echo.insn_1.
SMALL_ECHO_CLIENT := $(patsubst %,$(B)/metal/small/%.o,echo_client client_lan9118 client_weir)
$(B)/metal/small/%.o: bench/metal/%.c tools/boards.mk
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(BOARD_CC_mps2-an385) $(call as_flags,$(PROGRAM_OPTIONS_small_echo)) -DECHO_CLIENT_PORT=7 -MMD -MP -c $< -o $@
$(B)/metal/small_echo_bench_1.elf: $(filter-out %/lan9118.o,$(PROGRAM_OBJECTS_mps2-an385_small_echo)) $(SMALL_ECHO_CLIENT) boards/mps2-an385/link.ld
	@echo "  LINK  $@"
	@$(BOARD_CC_mps2-an385) --specs=nano.specs -nostartfiles -T boards/mps2-an385/link.ld $(PROGRAM_LINK_small_echo) -Wl,--gc-sections $(filter %.o,$^) -o $@
-include $(SMALL_ECHO_CLIENT:.o=.d)

# small_echo as sizes are compared (the memory MAC in place of the LAN9118): build/metal/small_echo.elf.
SMALL_ECHO_SIZED := $(filter-out %/lan9118.o %/boards/mps2-an385/board.o,$(PROGRAM_OBJECTS_mps2-an385_small_echo)) \
    $(patsubst %,$(SMALL_ECHO)/%.o,drivers/memory_mac boards/memory_mac/tickless)
$(B)/metal/small_echo.elf: $(SMALL_ECHO_SIZED) boards/mps2-an385/link.ld boards/cortex_m/sections.ld
	@mkdir -p $(@D)
	@echo "  LINK  $@"
	@$(BOARD_CC_mps2-an385) --specs=nano.specs -nostartfiles -T boards/mps2-an385/link.ld $(PROGRAM_LINK_small_echo) -Wl,--gc-sections -Wl,-Map=$@.map $(filter %.o,$^) -o $@
-include $(SMALL_ECHO_SIZED:.o=.d)

# The figures small_echo.*, into build/size.json; the tool asks with which flags the image was made.
.PHONY: small-echo-flags size-small-echo
small-echo-flags:
	@echo '$(filter-out -std=%,$(wordlist 2,99,$(BOARD_CC_mps2-an385))) $(PROGRAM_FLAGS_small_echo)'
size-small-echo: $(B)/metal/small_echo.elf
	@$(PYTHON) tools/small_echo.py
