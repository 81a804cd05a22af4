# SPDX-License-Identifier: BSD-2-Clause
# The programs that bench/run.py runs, all with the same flags: make -f bench/bench.mk. Output goes to build/bench.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:
PYTHON ?= python3
O := build/bench
TUNE := -O3 -march=x86-64-v3 -flto=auto
TUNE_$(shell uname -m) := yes
ifndef TUNE_x86_64
TUNE := -O3 -flto=auto
endif
CFLAGS := -std=gnu11 -g -Wall -Wextra $(TUNE)

.PHONY: all pair host configurations always
all: pair host
pair: $(O)/weir_pair $(O)/weir_pair_batch2 $(O)/weir_pair_batch64 $(O)/weir_pair_plain $(O)/weir_pair_dual $(O)/weir_hostile $(O)/lwip_pair $(O)/smoltcp-bench
host: $(O)/weir_host_bench $(O)/weir_host_bench_dual $(O)/frames_bench $(O)/million_server $(O)/million_linux $(O)/lwip_host $(O)/smoltcp-bench $(O)/linux_peer
always:

# --- Weir: the library's sources, optimised as a whole as the peers are -----------------------------------------------------------
find_c = $(sort $(shell find $(1) -name '*.c'))
LEFT_OUT := $(shell $(PYTHON) tools/options.py --left-out full)
WEIR := $(filter-out $(LEFT_OUT),$(call find_c,src)) $(call find_c,ports/posix drivers)
WEIR_OBJECTS := $(patsubst %.c,$(O)/weir/%.o,$(WEIR))
WEIR_INCLUDES := -Iinclude -Isrc -Iports -Iapi -I.

$(O)/weir/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(CC) $(CFLAGS) $(WEIR_INCLUDES) -MMD -MP -c $< -o $@
$(O)/flags: always
	@mkdir -p $(@D)
	@echo '$(CC) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(CFLAGS)' >$@
PAIR := bench/pair/weir_pair.c bench/pair/calls.c
$(O)/weir_pair: $(PAIR:%.c=$(O)/weir/%.o) $(WEIR_OBJECTS)
$(O)/weir_pair_batch%: $(PAIR) $(O)/weir_pair
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(WEIR_INCLUDES) -DBATCH=$*u $(PAIR) $(WEIR_OBJECTS) -o $@ -pthread
# The same without today's loss recovery, ECN, pacing, and what they bring along: what is left is RFC 5681 and 6675.
PLAIN := TCP_LOSS_RECOVERY TCP_COARSE_CLOCK TCP_ECN TCP_ACCECN TCP_RATE TCP_PACING TCP_REFINEMENTS CC_ABE CC_BIC CC_HTCP CC_VEGAS CC_WESTWOOD CC_YEAH CC_BBR CC_BBR3
WEIR_PLAIN := $(filter-out $(shell $(PYTHON) tools/options.py --left-out full $(PLAIN:%=%=0)),$(call find_c,src)) $(call find_c,ports/posix drivers) $(PAIR)
WEIR_PLAIN_OBJECTS := $(patsubst %.c,$(O)/weir_plain/%.o,$(WEIR_PLAIN))
$(O)/weir_plain/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(CC) $(CFLAGS) $(PLAIN:%=-DWEIR_CFG_%=0) $(WEIR_INCLUDES) -MMD -MP -c $< -o $@
$(O)/weir_pair_plain: $(WEIR_PLAIN_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $^ -o $@ -pthread
# The same with both families.
WEIR_DUAL := $(filter-out $(shell $(PYTHON) tools/options.py --left-out full IP6=1),$(call find_c,src)) $(call find_c,ports/posix drivers)
WEIR_DUAL_OBJECTS := $(patsubst %.c,$(O)/weir_dual/%.o,$(WEIR_DUAL))
$(O)/weir_dual/%.o: %.c $(O)/flags
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(CC) $(CFLAGS) -DWEIR_CFG_IP6=1 $(WEIR_INCLUDES) -MMD -MP -c $< -o $@
$(O)/weir_pair_dual: $(PAIR:%.c=$(O)/weir_dual/%.o) $(WEIR_DUAL_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $^ -o $@ -pthread
$(O)/weir_host_bench_dual: $(O)/weir_dual/bench/host/weir_host_bench.o $(WEIR_DUAL_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $^ -o $@ -pthread
# For `make check`: each of these configurations is one.
configurations:
	@$(CC) $(CFLAGS) $(WEIR_INCLUDES) -fsyntax-only $(PAIR) bench/host/weir_host_bench.c bench/host/frames_bench.c bench/host/linux_peer.c bench/host/million_linux.c
	@$(CC) $(CFLAGS) $(PLAIN:%=-DWEIR_CFG_%=0) $(WEIR_INCLUDES) -fsyntax-only $(PAIR)
	@$(CC) $(CFLAGS) -DWEIR_CFG_IP6=1 $(WEIR_INCLUDES) -fsyntax-only $(PAIR) bench/hostile/weir_hostile.c bench/host/million_server.c bench/host/weir_host_bench.c
$(O)/weir_hostile: $(O)/weir_dual/bench/hostile/weir_hostile.o $(WEIR_DUAL_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $^ -o $@ -pthread
$(O)/weir_host_bench: $(O)/weir/bench/host/weir_host_bench.o $(WEIR_OBJECTS)
$(O)/frames_bench: $(O)/weir/bench/host/frames_bench.o $(WEIR_OBJECTS)
$(O)/weir_pair $(O)/weir_host_bench $(O)/frames_bench $(O)/linux_peer $(O)/million_server $(O)/million_linux:
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $^ -o $@ -pthread
$(O)/linux_peer: $(O)/weir/bench/host/linux_peer.o
$(O)/million_linux: $(O)/weir/bench/host/million_linux.o
$(O)/million_server: $(O)/weir_dual/bench/host/million_server.o $(WEIR_DUAL_OBJECTS)
-include $(WEIR_OBJECTS:.o=.d) $(WEIR_DUAL_OBJECTS:.o=.d) $(PAIR:%.c=$(O)/weir_dual/%.d) $(O)/weir_dual/bench/hostile/weir_hostile.d $(O)/weir_dual/bench/host/weir_host_bench.d $(WEIR_PLAIN_OBJECTS:.o=.d) $(PAIR:%.c=$(O)/weir/%.d) $(O)/weir/bench/host/weir_host_bench.d $(O)/weir/bench/host/frames_bench.d $(O)/weir/bench/host/million_linux.d $(O)/weir_dual/bench/host/million_server.d $(O)/weir/bench/host/linux_peer.d

# --- lwIP, from Debian's source package ----------------------------------------------------------------------------------------------
$(O)/lwip/ready: tools/aptsource.sh
	@echo "  FETCH lwip"
	@mkdir -p $(O)
	@tools/aptsource.sh lwip $(@D) >$(O)/lwip-fetch.log 2>&1 || { cat $(O)/lwip-fetch.log; exit 1; }
	@touch $@
# lwIP is compiled as one list, as its files are not known before it is fetched. What is linked twice shows one symbol only.
LWIP_OWN := $(wildcard bench/peers/lwip/*.[ch] bench/peers/lwip/arch/*.h)
LWIP_FLAGS := $(filter-out -Wall -Wextra,$(CFLAGS)) -Ibench/peers/lwip -I$(O)/lwip/src/include
$(O)/lwip-objects/ready: $(O)/lwip/ready $(LWIP_OWN) $(O)/flags
	@echo "  CC    lwip"
	@mkdir -p $(@D)
	@cd $(@D) && rm -f *.o && $(CC) $(subst -I,-I../../../,$(LWIP_FLAGS)) -c ../lwip/src/core/*.c ../lwip/src/core/ipv4/*.c ../lwip/src/netif/ethernet.c
	@touch $@
$(O)/lwip_own/%.o: bench/peers/lwip/%.c $(O)/lwip-objects/ready
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(CC) $(LWIP_FLAGS) -Wall -Wextra -c $< -o $@
$(O)/lwip_own/end.o: $(O)/lwip_own/lwip_end.o $(O)/lwip-objects/ready
	@$(CC) $(LWIP_FLAGS) -r -flinker-output=nolto-rel $(O)/lwip-objects/*.o $< -o $@
$(O)/lwip_own/end_0.o $(O)/lwip_own/end_1.o: $(O)/lwip_own/end_%.o: $(O)/lwip_own/end.o
	@objcopy --redefine-sym lwip_end=lwip_end_$* --keep-global-symbol=lwip_end_$* $< $@
$(O)/lwip_pair: $(O)/lwip_own/lwip_pair.o $(O)/lwip_own/end_0.o $(O)/lwip_own/end_1.o
	@echo "  LINK  $@"
	@$(CC) $(LWIP_FLAGS) $^ -o $@
$(O)/lwip_host: $(O)/lwip_own/lwip_host.o $(O)/lwip-objects/ready
	@echo "  LINK  $@"
	@$(CC) $(LWIP_FLAGS) $< $(O)/lwip-objects/*.o -o $@

# --- smoltcp, from crates.io ---------------------------------------------------------------------------------------------------------
$(O)/smoltcp-bench: bench/peers/smoltcp/Cargo.toml bench/peers/smoltcp/Cargo.lock $(wildcard bench/peers/smoltcp/src/*.rs)
	@echo "  CARGO $@"
	@RUSTFLAGS='$(if $(TUNE_x86_64),-C target-cpu=x86-64-v3)' CARGO_TARGET_DIR=$(O)/cargo cargo build --quiet --release --locked --manifest-path $< || \
	    { echo 'smoltcp 0.14 needs rustc 1.91 or newer: on Debian the packages cargo-web and rustc-web' >&2; exit 1; }
	@cp $(O)/cargo/release/smoltcp-bench $@

include bench/peers/peers.mk
