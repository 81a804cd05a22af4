// SPDX-License-Identifier: BSD-2-Clause
#include "api/linux_netdev/ports.h"

#include "api/linux_netdev/internal.h"

#define REGIONS 8
static struct region {
    unsigned from, extent;  // extent 0: free
} regions[REGIONS];

int check_region(unsigned from, unsigned extent)
{
    for (const struct region *at = regions; at < regions + REGIONS; at++)
        if (at->extent && from < at->from + at->extent && at->from < from + extent)
            return -EBUSY;
    return 0;
}

void request_region(unsigned from, unsigned extent, const char *name)
{
    (void)name;
    for (struct region *at = regions; at < regions + REGIONS; at++)
        if (!at->extent) {
            *at = (struct region){from, extent};
            return;
        }
}

void release_region(unsigned from, unsigned extent)
{
    for (struct region *at = regions; at < regions + REGIONS; at++)
        if (at->from == from && at->extent == extent)
            at->extent = 0;
}

void insb(unsigned port, void *to, unsigned long count)
{
    for (uint8_t *at = to; count; count--)
        *at++ = inb(port);
}
void outsb(unsigned port, const void *from, unsigned long count)
{
    for (const uint8_t *at = from; count; count--)
        outb(*at++, port);
}
// The processor's order of bytes is the bus's. Memory need not be aligned.
void insw(unsigned port, void *to, unsigned long count)
{
    for (uint8_t *at = to; count; count--, at += 2) {
        const uint16_t value = inw(port);
        memcpy(at, &value, sizeof value);
    }
}
void insl(unsigned port, void *to, unsigned long count)
{
    for (uint8_t *at = to; count; count--, at += 4) {
        const uint32_t value = inl(port);
        memcpy(at, &value, sizeof value);
    }
}
void outsw(unsigned port, const void *from, unsigned long count)
{
    for (const uint8_t *at = from; count; count--, at += 2) {
        uint16_t value;
        memcpy(&value, at, sizeof value);
        outw(value, port);
    }
}
void outsl(unsigned port, const void *from, unsigned long count)
{
    for (const uint8_t *at = from; count; count--, at += 4) {
        uint32_t value;
        memcpy(&value, at, sizeof value);
        outl(value, port);
    }
}

// --- DMA channels ----------------------------------------------------------------------------------------------------
// The first controller has channels 0 to 3 and moves bytes; the second, 4 to 7, moves words, and its registers lie two
// ports apart. A channel's page register has what is above its 16 bits of address.
#define CASCADE 4u
#define COUNTS 0x10000u

static bool dma_used[MAX_DMA_CHANNELS];

static unsigned dma_port(unsigned channel, unsigned number) { return channel < 4 ? number : 0xc0 + 2 * number; }
static void set_mask(unsigned channel, unsigned masked) { outb(masked | (channel & 3), dma_port(channel, 10)); }

int request_dma(unsigned channel, const char *device)
{
    (void)device;
    if (channel >= MAX_DMA_CHANNELS)
        return -EINVAL;
    if (channel == CASCADE || dma_used[channel])
        return -EBUSY;
    dma_used[channel] = true;
    return 0;
}

void free_dma(unsigned channel)
{
    if (channel < MAX_DMA_CHANNELS)
        dma_used[channel] = false;
}

void enable_dma(unsigned channel) { set_mask(channel, 0); }
void disable_dma(unsigned channel) { set_mask(channel, 4); }
void clear_dma_ff(unsigned channel) { outb(0, dma_port(channel, 12)); }
void set_dma_mode(unsigned channel, unsigned char mode) { outb(mode | (channel & 3u), dma_port(channel, 11)); }

static void set_16(unsigned channel, unsigned number, unsigned value)
{
    const unsigned port = dma_port(channel, 2 * (channel & 3) + number);
    outb(value & 0xff, port);
    outb(value >> 8 & 0xff, port);
}

void set_dma_addr(unsigned channel, unsigned address)
{
    static const uint8_t pages[MAX_DMA_CHANNELS] = {0x87, 0x83, 0x81, 0x82, 0x8f, 0x8b, 0x89, 0x8a};
    const bool words = channel >= 4;
    outb(address >> 16 & (words ? 0xfe : 0xff), pages[channel & 7]);
    set_16(channel, 0, words ? address >> 1 : address);
}

void set_dma_count(unsigned channel, unsigned bytes) { set_16(channel, 1, (channel < 4 ? bytes : bytes >> 1) - 1); }

int get_dma_residue(unsigned channel)
{
    const unsigned port = dma_port(channel, 2 * (channel & 3) + 1);
    const unsigned low = inb(port), left = (1 + low + (unsigned)inb(port) * 256) % COUNTS;
    return (int)(channel < 4 ? left : left << 1);
}
