# SPDX-License-Identifier: BSD-2-Clause
# The stacks that `make peers` compares (bench/peers/run.py, docs/peers.md), each with settings for its paths. Included by bench/bench.mk.

# lwIP's buffers and timer are fixed when it is compiled.
lwip_peers = -DTCP_WND=$(1) -DTCP_SND_BUF=$(1) -DTCP_RCV_SCALE=7 -DTCP_SND_QUEUELEN=7000 -DTCP_TMR_INTERVAL=50
.PRECIOUS: $(O)/lwip-peers-%/ready
$(O)/lwip-peers-%/ready: $(O)/lwip/ready $(LWIP_OWN) $(O)/flags
	@echo "  CC    lwip with buffers of $* bytes"
	@mkdir -p $(@D)
	@cd $(@D) && rm -f *.o && $(CC) $(subst -I,-I../../../,$(LWIP_FLAGS)) $(call lwip_peers,$*) -c ../lwip/src/core/*.c ../lwip/src/core/ipv4/*.c ../lwip/src/netif/ethernet.c
	@touch $@
$(O)/lwip_peers_%: bench/peers/lwip/lwip_host.c $(O)/lwip-peers-%/ready
	@echo "  LINK  $@"
	@$(CC) $(LWIP_FLAGS) $(call lwip_peers,$*) -Wall -Wextra $< $(O)/lwip-peers-$*/*.o -o $@

$(O)/smoltcp-peers: bench/peers/smoltcp/Cargo.toml bench/peers/smoltcp/Cargo.lock $(wildcard bench/peers/smoltcp/src/*.rs)
	@echo "  CARGO $@"
	@RUSTFLAGS='$(if $(TUNE_x86_64),-C target-cpu=x86-64-v3)' CARGO_TARGET_DIR=$(O)/cargo-peers cargo build --quiet --release --locked --features peers \
	    --manifest-path $< || { echo 'smoltcp 0.14 needs rustc 1.91 or newer: on Debian the packages cargo-web and rustc-web' >&2; exit 1; }
	@cp $(O)/cargo-peers/release/smoltcp-bench $@

# --- gVisor's netstack, a Go module ----------------------------------------------------------------------------------------------------
$(O)/gvisor-host: $(wildcard bench/peers/gvisor/*)
	@echo "  GO    $@"
	@cd $(<D) && go build -o $(CURDIR)/$@ . || { echo 'gVisor needs the Go that bench/peers/gvisor/go.mod names' >&2; exit 1; }
