// SPDX-License-Identifier: BSD-2-Clause
#include "slip.h"

#include <string.h>

enum { END = 0xc0, ESC = 0xdb, ESC_END = 0xdc, ESC_ESC = 0xdd };
#define READ_BYTES 128u
#define POLL_BYTES (4 * SLIP_MTU)  // read in a poll: a line full of what is no packet gives way to other work, too

void slip_open(struct slip *slip, const struct slip_pipe *pipe)
{
    memset(slip, 0, sizeof *slip);
    slip->pipe = pipe;
}

// --- in --------------------------------------------------------------------------------------------------------------

static void store(struct slip *slip, uint8_t byte)
{
    if (slip->in_length < SLIP_MTU) {
        slip->in[slip->in_length++] = byte;
    } else if (!slip->damaged) {
        slip->damaged = true;
        slip->counters.overlong++;
    }
}

// Behind ESC. The RFC would keep any other byte as it is; but one that no sender writes tells that the line lost or
// changed some, and not every packet has a sum.
static void store_escaped(struct slip *slip, uint8_t byte)
{
    slip->escaped = false;
    if (byte == ESC_END || byte == ESC_ESC) {
        store(slip, byte == ESC_END ? END : ESC);
        return;
    }
    slip->counters.bad_escape += !slip->damaged;
    slip->damaged = true;
}

// END. Between two of them there may be nothing: senders begin with one, so that noise before it is a packet of its
// own.
static int end_of_packet(struct slip *slip, struct weir_netif *netif)
{
    const uint32_t length = slip->in_length;
    const bool whole = length > 0 && !slip->damaged;
    if (slip->damaged)
        netif->stats.rx_dropped++;
    slip->in_length = 0;
    slip->damaged = false;
    if (!whole)
        return 0;
    const struct weir_slice slice = {slip->in, length};
    const struct weir_frame frame = {.slices = &slice, .length = length, .count = 1};
    weir_netif_deliver(netif, &frame);
    return 1;
}

static int take_byte(struct slip *slip, struct weir_netif *netif, uint8_t byte)
{
    if (slip->escaped)
        store_escaped(slip, byte);
    else if (byte == ESC)
        slip->escaped = true;
    else if (byte != END)
        store(slip, byte);
    return byte == END ? end_of_packet(slip, netif) : 0;
}

// --- out -------------------------------------------------------------------------------------------------------------

static void code(struct slip *slip, uint8_t byte)
{
    if (byte == END || byte == ESC) {
        slip->coded[slip->coded_length++] = ESC;
        byte = byte == END ? ESC_END : ESC_ESC;
    }
    slip->coded[slip->coded_length++] = byte;
}

// Fills the empty `coded` with what comes next of the packet, END at its end; then there is no packet any more.
static void code_more(struct slip *slip)
{
    slip->coded_at = slip->coded_length = 0;
    if (slip->out_length == 0)
        return;
    while (slip->out_at < slip->out_length && slip->coded_length + 2 < sizeof slip->coded)
        code(slip, slip->out[slip->out_at++]);
    if (slip->out_at == slip->out_length) {
        slip->coded[slip->coded_length++] = END;
        slip->out_length = 0;
    }
}

// Gives the pipe what it takes.
static void push(struct slip *slip)
{
    for (;;) {
        if (slip->coded_at == slip->coded_length)
            code_more(slip);
        const uint32_t left = slip->coded_length - slip->coded_at;
        const uint32_t taken = left ? slip->pipe->write(slip->pipe->context, slip->coded + slip->coded_at, left) : 0;
        slip->coded_at += taken;
        if (taken == 0 || taken < left)
            return;
    }
}

static bool busy(const struct slip *slip) { return slip->out_length > 0; }

static enum weir_tx_verdict slip_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct slip *slip = netif->driver_data;
    uint32_t length = 0;
    push(slip);
    if (busy(slip) || slip->coded_at != slip->coded_length) {
        slip->waiting = true;
        return WEIR_TX_FULL;
    }
    if (tx->length > SLIP_MTU) {
        netif->stats.tx_dropped++;
        return WEIR_TX_DONE;
    }
    for (uint32_t i = 0; i < tx->count; length += tx->slices[i++].length)
        memcpy(slip->out + length, tx->slices[i].data, tx->slices[i].length);
    slip->out_length = length;
    slip->out_at = 0;
    slip->coded[0] = END;
    slip->coded_at = 0;
    slip->coded_length = 1;
    push(slip);
    return WEIR_TX_DONE;
}

static void slip_flush(struct weir_netif *netif) { push(netif->driver_data); }

static int slip_poll(struct weir_netif *netif, int budget)
{
    struct slip *slip = netif->driver_data;
    uint8_t bytes[READ_BYTES];
    uint32_t got, total = 0;
    int frames = 0;
    push(slip);
    if (slip->waiting && !busy(slip) && slip->coded_at == slip->coded_length) {
        slip->waiting = false;
        weir_netif_ready(netif);
    }
    // A packet takes more than 20 bytes, so that what one read brings never holds many beyond the budget.
    while (frames < budget && total < POLL_BYTES &&
           (got = slip->pipe->read(slip->pipe->context, bytes, sizeof bytes)) > 0) {
        for (uint32_t i = 0; i < got; i++)
            frames += take_byte(slip, netif, bytes[i]);
        total += got;
    }
    return total >= POLL_BYTES ? budget : frames;
}

static const struct weir_driver slip_driver = {.name = "slip", .tx = slip_tx, .flush = slip_flush, .poll = slip_poll};

void slip_attach(struct slip *slip, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &slip_driver, &weir_link_rawip);
    netif->driver_data = slip;
    netif->mtu = SLIP_MTU;
}
