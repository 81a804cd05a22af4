// SPDX-License-Identifier: BSD-2-Clause
#define _POSIX_C_SOURCE 199309L  // clock_gettime
#include "pcap.h"

#include <string.h>
#include <time.h>

static uint64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t stamp_ns(struct pcap_file *file, uint64_t now_us)
{
    if (file->wall_clock)
        return wall_ns();
    if (!file->epoch_known) {
        file->epoch_us = wall_ns() / 1000 - now_us;
        file->epoch_known = true;
    }
    return (file->epoch_us + now_us) * 1000;
}

int pcap_open(struct pcap_file *file, const char *path, uint32_t snap_bytes, unsigned flags)
{
    memset(file, 0, sizeof *file);
    file->wall_clock = flags & PCAP_WALL_CLOCK;
    file->epoch_known = flags & PCAP_FROM_ZERO;
    return pcapng_open(&file->pcapng, path, snap_bytes);
}

void pcap_close(struct pcap_file *file) { pcapng_close(&file->pcapng); }

static uint32_t describe(struct pcap_file *file, const struct weir_netif *netif)
{
    bool raw = netif->link == &weir_link_rawip;
    return pcapng_interface(&file->pcapng, netif->name, raw ? PCAPNG_RAW_IP : PCAPNG_ETHERNET, raw ? NULL : netif->mac);
}

// --- at one place ----------------------------------------------------------------------------------------------------
static uint32_t flags_of(bool outgoing, uint32_t offload)
{
    return (outgoing ? PCAPNG_OUT : PCAPNG_IN) | offload << PCAPNG_OFFLOAD_AT;
}

static void write_frame(struct pcap *pcap, uint32_t flags, const struct weir_slice *slices, uint16_t count)
{
    uint64_t now_us = weir_now_us(pcap->wrap.outer.weir);
    pcapng_packet(&pcap->file->pcapng, pcap->interface, flags, slices, count, stamp_ns(pcap->file, now_us));
}

static enum weir_tx_verdict pcap_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct pcap *pcap = netif->driver_data;
    enum weir_tx_verdict verdict = wrap_tx(&pcap->wrap, tx);
    if (verdict != WEIR_TX_FULL)  // it comes again
        write_frame(pcap, flags_of(true, weir_tx_offload(tx)), tx->slices, tx->count);
    return verdict;
}

static void pcap_input(struct weir_netif *inner, const struct weir_frame *frame)
{
    struct pcap *pcap = inner->upper_data;
    write_frame(pcap, flags_of(false, weir_frame_offload(frame)), frame->slices, frame->count);
    weir_netif_deliver(&pcap->wrap.outer, frame);
}

static void pcap_ready(struct weir_netif *inner) { weir_netif_ready(&((struct pcap *)inner->upper_data)->wrap.outer); }
static void pcap_complete(struct weir_netif *inner, void *hold_owner, uint32_t hold_end)
{
    weir_netif_complete(&((struct pcap *)inner->upper_data)->wrap.outer, hold_owner, hold_end);
}
static void pcap_carrier(struct weir_netif *inner, bool up)
{
    weir_netif_carrier(&((struct pcap *)inner->upper_data)->wrap.outer, up);
}
static void pcap_flush(struct weir_netif *netif) { wrap_flush(&((struct pcap *)netif->driver_data)->wrap); }
static int pcap_poll(struct weir_netif *netif, int budget)
{
    return wrap_poll(&((struct pcap *)netif->driver_data)->wrap, budget);
}
static void pcap_filter(struct weir_netif *netif, const uint8_t address[6], bool join)
{
    wrap_filter(&((struct pcap *)netif->driver_data)->wrap, address, join);
}
static uint64_t pcap_timer(struct weir_netif *netif, uint64_t now_us)
{
    return wrap_timer(&((struct pcap *)netif->driver_data)->wrap, now_us);
}

static const struct weir_driver pcap_driver = {
    .name = "pcap",
    .tx = pcap_tx,
    .flush = pcap_flush,
    .poll = pcap_poll,
    .filter = pcap_filter,
    .timer = pcap_timer,
};
static const struct weir_upper pcap_upper = {pcap_input, pcap_ready, pcap_complete, pcap_carrier};

struct weir_netif *pcap_wrap(struct pcap *pcap, struct weir_netif *inner, struct pcap_file *file)
{
    memset(pcap, 0, sizeof *pcap);
    wrap_init(&pcap->wrap, inner, &pcap_driver, &pcap_upper, pcap);
    pcap->file = file;
    pcap->interface = describe(file, inner);
    return &pcap->wrap.outer;
}

void pcap_unwrap(struct pcap *pcap)
{
    pcap->wrap.inner->upper = NULL;
    pcap->wrap.inner->upper_data = NULL;
}

// --- at all interfaces -----------------------------------------------------------------------------------------------
static void heard(struct weir_tap *tap, const struct weir_netif *netif, bool outgoing, const struct weir_slice *slices,
                  uint16_t count, uint64_t now_us)
{
    struct pcap_listener *listener = tap->context;
    uint16_t *interface = &listener->interface[netif->index];
    if (*interface == 0)
        *interface = (uint16_t)(describe(listener->file, netif) + 1);
    pcapng_packet(&listener->file->pcapng, *interface - 1u, flags_of(outgoing, tap->offload), slices, count,
                  stamp_ns(listener->file, now_us));
}

void pcap_listen(struct pcap_listener *listener, struct weir *weir, struct pcap_file *file)
{
    memset(listener, 0, sizeof *listener);
    listener->tap.frame = heard;
    listener->tap.context = listener;
    listener->weir = weir;
    listener->file = file;
    weir_tap_add(weir, &listener->tap);
}

void pcap_unlisten(struct pcap_listener *listener) { weir_tap_remove(listener->weir, &listener->tap); }
