// SPDX-License-Identifier: BSD-2-Clause
#include "drivers/pcnet_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mmio.h"

enum {
    INIT = 1 << 0,
    STRT = 1 << 1,
    STOP = 1 << 2,
    TDMD = 1 << 3,
    TXON = 1 << 4,
    RXON = 1 << 5,
    IENA = 1 << 6,
    INTR = 1 << 7
};
enum {
    IDON = 1 << 8,
    TINT = 1 << 9,
    RINT = 1 << 10,
    MISS = 1 << 12,
    CERR = 1 << 13,
    ERR0 = 1 << 15,
    CLEARABLE = 0x7f00,
    RAISING = 0x5f00
};
enum { DXSUFLO = 1 << 6, BSWP = 1 << 2 };
enum { MISSED_COUNT = 112, STYLE = 20, STYLE_2 = 2, SSIZE32 = 1 << 8, LINK_LED = 4, BURST = 18, DWIO = 1 << 7 };
#define D_OWN 0x80000000u
#define D_ERR 0x40000000u
#define D_OFLO 0x10000000u
#define D_CRC 0x08000000u
#define D_BUFF 0x04000000u
#define D_STP 0x02000000u
#define D_ENP 0x01000000u
#define D_ONES 0x0000f000u
#define T_UFLO 0x40000000u  // of the third word, as those that follow
#define T_LCAR 0x08000000u
#define T_RTRY 0x04000000u

// --- memory ----------------------------------------------------------------------------------------------------------

#define REGIONS 8u
#define RAM_BASE 0x04000000u

static struct region {
    uint8_t *cpu, *ram;  // as the CPU sees it, as the device does: the same where it is not cached
    uint8_t *synced;     // what the CPU saw when a line was last clean
    uint32_t bytes, bus;
} regions[REGIONS];
static uint32_t region_count;
static struct pcnet_model *model;

void pcnet_model_share(void *memory, uint32_t bytes, bool cached)
{
    struct region *region = &regions[region_count];
    assert_true(region_count < REGIONS);
    *region = (struct region){memory, memory, NULL, bytes,
                              RAM_BASE + (region_count << 20) + (uint32_t)((uintptr_t)memory & 0xfff)};
    region_count++;
    assert_true(bytes < 1u << 19);
    if (!cached)
        return;
    region->ram = malloc(bytes);
    region->synced = malloc(bytes);
    assert_true(region->ram && region->synced);
    memset(region->ram, 0xa5, bytes);
    memset(region->synced, 0x5a, bytes);  // differs from most of what there may be: dirty
}

static struct region *region_of(const volatile void *memory)
{
    for (uint32_t i = 0; i < region_count; i++)
        if ((const volatile uint8_t *)memory >= regions[i].cpu &&
            (const volatile uint8_t *)memory < regions[i].cpu + regions[i].bytes)
            return &regions[i];
    fail_msg("memory that the device does not reach");
    return NULL;
}

uint32_t pcnet_model_address(const volatile void *memory)
{
    const struct region *region = region_of(memory);
    return region->bus + (uint32_t)((const volatile uint8_t *)memory - region->cpu);
}

// Calls `each` for the lines around the bytes, cut at the region's ends.
static void lines(const void *memory, uint32_t bytes,
                  void (*each)(struct region *region, uint32_t from, uint32_t length))
{
    struct region *region = region_of(memory);
    const uintptr_t first = (uintptr_t)memory / PCNET_MODEL_LINE * PCNET_MODEL_LINE, base = (uintptr_t)region->cpu;
    if (!region->synced)
        return;
    for (uintptr_t line = first; line < (uintptr_t)memory + bytes; line += PCNET_MODEL_LINE) {
        const uintptr_t from = line > base ? line - base : 0;
        const uintptr_t to =
            line + PCNET_MODEL_LINE - base < region->bytes ? line + PCNET_MODEL_LINE - base : region->bytes;
        each(region, (uint32_t)from, (uint32_t)(to - from));
    }
}

static void clean_line(struct region *region, uint32_t from, uint32_t length)
{
    if (memcmp(region->synced + from, region->cpu + from, length) == 0)
        return;
    memcpy(region->ram + from, region->cpu + from, length);
    memcpy(region->synced + from, region->cpu + from, length);
}
static void invalidate_line(struct region *region, uint32_t from, uint32_t length)
{
    memcpy(region->cpu + from, region->ram + from, length);
    memcpy(region->synced + from, region->ram + from, length);
}
static void must_be_clean(struct region *region, uint32_t from, uint32_t length)
{
    if (memcmp(region->synced + from, region->cpu + from, length) != 0)
        fail_msg("the device writes where the cache holds what it will write back some day");
}
void pcnet_model_clean(const void *memory, uint32_t bytes) { lines(memory, bytes, clean_line); }
void pcnet_model_invalidate(const void *memory, uint32_t bytes) { lines(memory, bytes, invalidate_line); }

static uint8_t *bus(uint32_t address, uint32_t bytes, bool device_writes)
{
    for (uint32_t i = 0; i < region_count; i++) {
        struct region *region = &regions[i];
        if (address < region->bus || address - region->bus >= region->bytes)
            continue;
        assert_true(bytes <= region->bytes - (address - region->bus));
        if (device_writes)
            lines(region->cpu + (address - region->bus), bytes, must_be_clean);
        return region->ram + (address - region->bus);
    }
    fail_msg("the device accesses %u bytes at %08x, where no memory is", bytes, address);
    return NULL;
}

static uint32_t word_at(uint32_t address)
{
    const uint8_t *b = bus(address, 4, false);
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}
static void set_word(uint32_t address, uint32_t value)
{
    uint8_t *b = bus(address, 4, true);
    for (uint32_t i = 0; i < 4; i++)
        b[i] = (uint8_t)(value >> 8 * i);
}

// --- registers -------------------------------------------------------------------------------------------------------

static void reset(struct pcnet_model *m)
{
    m->csr[0] = STOP;
    m->csr[3] = m->csr[4] = 0;
    m->csr[MISSED_COUNT] = 0;
    m->rap = 0;
    m->in_frame = false;
    m->resets++;
    if (m->reset_to_words)
        m->double_words = false;
}

void pcnet_model_open(struct pcnet_model *m, uintptr_t base)
{
    static const uint8_t factory[6] = {0x00, 0x00, 0x1a, 0x11, 0x22, 0x33};
    memset(m, 0, sizeof *m);
    m->base = base;
    m->link = true;
    memcpy(m->aprom, factory, 6);
    m->bcr[LINK_LED] = 0x00c0;
    reset(m);
    m->resets = 0;
    m->csr[0] = STOP;
    model = m;
}

void pcnet_model_close(void)
{
    for (uint32_t i = 0; i < region_count; i++) {
        if (!regions[i].synced)
            continue;
        free(regions[i].ram);
        free(regions[i].synced);
    }
    region_count = 0;
    model = NULL;
}

static void interrupt(struct pcnet_model *m)
{
    m->csr[0] &= (uint16_t) ~(INTR | ERR0);
    if (m->csr[0] & RAISING & ~m->csr[3])
        m->csr[0] |= INTR;
    if (m->csr[0] & (CERR | MISS | 1 << 11 | 1 << 14))
        m->csr[0] |= ERR0;
}

bool pcnet_model_line(const struct pcnet_model *m) { return (m->csr[0] & (INTR | IENA)) == (INTR | IENA); }

static void initialise(struct pcnet_model *m)
{
    const uint32_t block = (uint32_t)m->csr[1] | (uint32_t)m->csr[2] << 16;
    assert_int_equal(block % 4, 0);
    // what follows is read as that style lays it out
    assert_int_equal(m->bcr[STYLE] & (0xff | SSIZE32), STYLE_2 | SSIZE32);
    assert_int_equal(m->csr[3] & BSWP, 0);
    const uint32_t first = word_at(block), low = word_at(block + 4), high = word_at(block + 8);
    assert_int_equal(first & 0xffff, 0);  // mode: nothing unusual
    m->tx_count = 1u << (first >> 28);
    m->rx_count = 1u << (first >> 20 & 15);
    assert_true(m->tx_count <= 512 && m->rx_count <= 512);
    for (uint32_t i = 0; i < 4; i++)
        m->address[i] = (uint8_t)(low >> 8 * i);
    m->address[4] = (uint8_t)high;
    m->address[5] = (uint8_t)(high >> 8);
    memcpy(m->groups, bus(block + 12, 8, false), 8);
    m->rx_ring = word_at(block + 20);
    m->tx_ring = word_at(block + 24);
    assert_int_equal(m->rx_ring % 16, 0);
    assert_int_equal(m->tx_ring % 16, 0);
    m->rx_at = m->tx_at = 0;
    m->in_frame = false;
    m->inits++;
    m->csr[0] |= IDON;
}

static void write_csr0(struct pcnet_model *m, uint16_t value)
{
    m->csr[0] &= (uint16_t) ~(value & CLEARABLE);
    m->csr[0] = (uint16_t)((m->csr[0] & ~IENA) | (value & IENA));
    if (value & STOP) {
        m->csr[0] = STOP;
        return;
    }
    if (value & INIT && m->csr[0] & STOP) {
        m->csr[0] &= (uint16_t)~STOP;
        m->csr[0] |= INIT;
        initialise(m);
    }
    if (value & STRT && !(m->csr[0] & STRT)) {
        assert_true(m->inits > 0);
        m->csr[0] &= (uint16_t)~STOP;
        m->csr[0] |= STRT | TXON | RXON;
    }
    m->flushes += (value & TDMD) != 0;
}

static void write_csr(struct pcnet_model *m, uint32_t index, uint16_t value)
{
    assert_true(index < 128);
    if (index == 0)
        write_csr0(m, value);
    else if (index <= 3 && !(m->csr[0] & STOP))
        fail_msg("CSR%u is written while the device is not stopped", index);
    else
        m->csr[index] = value;
    interrupt(m);
}

static uint32_t read_bcr(const struct pcnet_model *m, uint32_t index)
{
    assert_true(index < 32);
    return index == LINK_LED ? m->bcr[index] | (m->link && m->bcr[index] & 0x40 ? 0x8000u : 0) : m->bcr[index];
}

static void write_bcr(struct pcnet_model *m, uint32_t index, uint16_t value)
{
    assert_true(index < 32);
    if (index == STYLE) {
        assert_true(m->csr[0] & STOP);
        value = (uint16_t)((value & 0xff) | ((value & 0xff) == 2 || (value & 0xff) == 3 ? SSIZE32 : 0));
    }
    if (index == BURST)
        assert_true(value & DWIO);  // it is set by how the registers were first written, and stays
    m->bcr[index] = value;
}

static uint32_t offset_of(uintptr_t address, bool is_write)
{
    assert_non_null(model);
    assert_true(address >= model->base && address < model->base + 0x20);
    assert_int_equal(address % 4, 0);
    const uint32_t offset = (uint32_t)(address - model->base);
    if (model->before)
        model->before(model, offset, is_write);
    return offset;
}

// A little-endian register's word as this CPU loads or stores it.
static uint32_t turned(uint32_t value)
{
    uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    uint32_t word;
    memcpy(&word, bytes, 4);
    return word;
}

uint32_t mmio_model_read(uintptr_t address)
{
    const uint32_t offset = offset_of(address, false);
    if (offset < 0x10)
        return turned((uint32_t)model->aprom[offset] | (uint32_t)model->aprom[offset + 1] << 8 |
                      (uint32_t)model->aprom[offset + 2] << 16 | (uint32_t)model->aprom[offset + 3] << 24);
    if (!model->double_words)
        return 0xffffffff;
    if (offset == 0x18) {
        reset(model);
        return 0;
    }
    if (offset == 0x10) {
        assert_true(model->rap < 128);
        return turned(model->csr[model->rap]);
    }
    return turned(offset == 0x14 ? model->rap : read_bcr(model, model->rap));
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    const uint32_t offset = offset_of(address, true);
    value = turned(value);
    assert_int_equal(value >> 16, 0);  // undefined
    if (!model->double_words) {
        assert_int_equal(offset, 0x10);
        model->double_words = true;
        return;
    }
    if (offset == 0x10)
        write_csr(model, model->rap, (uint16_t)value);
    else if (offset == 0x14)
        model->rap = value;
    else if (offset == 0x1c)
        write_bcr(model, model->rap, (uint16_t)value);
    else
        fail_msg("nothing is written at %02x", offset);
}

// --- receiver --------------------------------------------------------------------------------------------------------

static bool wanted(const struct pcnet_model *m, const uint8_t *frame)
{
    static const uint8_t everyone[6] = {255, 255, 255, 255, 255, 255},
                         all_groups[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    if (frame[0] & 1)
        return memcmp(frame, everyone, 6) == 0 || memcmp(m->groups, all_groups, 8) == 0;
    return memcmp(frame, m->address, 6) == 0;
}

static bool available(const struct pcnet_model *m) { return word_at(m->rx_ring + 16 * m->rx_at + 4) & D_OWN; }

static void release(struct pcnet_model *m, uint32_t status, uint32_t length)
{
    const uint32_t descriptor = m->rx_ring + 16 * m->rx_at;
    set_word(descriptor + 8, length);
    set_word(descriptor + 4, (word_at(descriptor + 4) & 0xffff) | status);
    m->rx_at = (m->rx_at + 1) % m->rx_count;
}

enum pcnet_model_verdict pcnet_model_receive(struct pcnet_model *m, const uint8_t *frame, uint32_t length,
                                             enum pcnet_model_fault fault)
{
    uint8_t bytes[4096] = {0};
    uint32_t done = 0, total = length + 4, begun = D_STP;
    if (!(m->csr[0] & RXON))
        return PCNET_MODEL_OFF;
    if (!wanted(m, frame))
        return PCNET_MODEL_FILTERED;
    if (!available(m)) {
        m->csr[MISSED_COUNT]++;
        m->csr[0] |= MISS;
        interrupt(m);
        return PCNET_MODEL_MISSED;
    }
    memcpy(bytes, frame, length);
    memset(bytes + length, 0xfc, 4);
    for (;;) {
        const uint32_t status = word_at(m->rx_ring + 16 * m->rx_at + 4), room = 4096 - (status & 0xfff);
        const uint32_t part = total - done < room ? total - done : room;
        assert_int_equal(status & D_ONES, D_ONES);
        memcpy(bus(word_at(m->rx_ring + 16 * m->rx_at), part, true), bytes + done, part);
        done += part;
        if (fault == PCNET_MODEL_OVERFLOW) {
            release(m, begun | D_ERR | D_OFLO, 0xabc);
            break;
        }
        if (done == total) {
            // collisions and runts above
            release(m, begun | D_ENP | (fault == PCNET_MODEL_CRC ? D_ERR | D_CRC : 0), total | 0x12340000);
            break;
        }
        const uint32_t next = (m->rx_at + 1) % m->rx_count;
        if (!(word_at(m->rx_ring + 16 * next + 4) & D_OWN)) {
            release(m, begun | D_ERR | D_BUFF | D_OFLO, 0xabc);
            m->csr[0] |= RINT;
            interrupt(m);
            return PCNET_MODEL_CUT;
        }
        release(m, begun, 0xabc);  // says nothing before the end
        begun = 0;
    }
    m->csr[0] |= RINT;
    interrupt(m);
    return PCNET_MODEL_STORED;
}

void pcnet_model_receive_words(struct pcnet_model *m, uint32_t status, uint32_t length)
{
    assert_true(available(m));
    release(m, status, length);
    m->csr[0] |= RINT;
    interrupt(m);
}

uint32_t pcnet_model_owned(const struct pcnet_model *m, bool transmit)
{
    uint32_t owned = 0;
    for (uint32_t i = 0; i < (transmit ? m->tx_count : m->rx_count); i++)
        owned += (word_at((transmit ? m->tx_ring : m->rx_ring) + 16 * i + 4) & D_OWN) != 0;
    return owned;
}

// --- transmitter -----------------------------------------------------------------------------------------------------

static void frame_ends(struct pcnet_model *m, uint32_t descriptor, enum pcnet_model_end end)
{
    static const uint32_t words[] = {
        [PCNET_MODEL_UNDERFLOW] = T_UFLO, [PCNET_MODEL_LOST_CARRIER] = T_LCAR, [PCNET_MODEL_RETRIES] = T_RTRY};
    m->in_frame = false;
    m->csr[0] |= TINT;
    if (end == PCNET_MODEL_OK) {
        assert_true(m->partial_length >= 14 && m->partial_length <= 1518);
        memcpy(m->wire, m->partial, m->partial_length);
        m->wire_length = m->partial_length;
        m->wire_count++;
        return;
    }
    set_word(descriptor + 8, words[end]);
    set_word(descriptor + 4, word_at(descriptor + 4) | D_ERR);
    if (end == PCNET_MODEL_LOST_CARRIER)
        m->csr[0] |= CERR;
    if (end == PCNET_MODEL_UNDERFLOW && !(m->csr[3] & DXSUFLO))
        m->csr[0] &= (uint16_t)~TXON;
}

uint32_t pcnet_model_transmit(struct pcnet_model *m, uint32_t most, enum pcnet_model_end end)
{
    uint32_t taken = 0;
    for (; taken < most && m->csr[0] & TXON; taken++) {
        const uint32_t descriptor = m->tx_ring + 16 * m->tx_at, status = word_at(descriptor + 4),
                       bytes = 4096 - (status & 0xfff);
        if (!(status & D_OWN)) {
            if (m->in_frame)
                fail_msg("the device came to a part of a frame that is not its own");
            break;
        }
        assert_int_equal(status & D_ONES, D_ONES);
        assert_int_equal(status & 0x7c000000, 0);  // flags that only the device sets
        assert_int_equal((status & D_STP) != 0, !m->in_frame);
        assert_int_equal(word_at(descriptor + 8), 0);
        if (!m->in_frame)
            m->partial_length = 0;
        m->in_frame = true;
        assert_true(m->partial_length + bytes <= sizeof m->partial);
        memcpy(m->partial + m->partial_length, bus(word_at(descriptor), bytes, false), bytes);
        m->partial_length += bytes;
        if (status & D_ENP)
            frame_ends(m, descriptor, end);
        set_word(descriptor + 4, word_at(descriptor + 4) & ~D_OWN);
        m->tx_at = (m->tx_at + 1) % m->tx_count;
    }
    interrupt(m);
    return taken;
}
