// SPDX-License-Identifier: BSD-2-Clause
#include "drivers/at91_emac_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mmio.h"

// Register offsets, as in the data sheet's map. Linux's header has DRFC at 0x6c and the hash registers in the other
// order; Atmel's own and NetBSD's have them so.
enum {
    CTL = 0x00,
    CFG = 0x04,
    SR = 0x08,
    TAR = 0x0c,
    TCR = 0x10,
    TSR = 0x14,
    RBQP = 0x18,
    RSR = 0x20,
    ISR = 0x24,
    IER = 0x28,
    IDR = 0x2c,
    IMR = 0x30,
    MAN = 0x34,
    FRA = 0x40,
    OK = 0x4c,
    ECOL = 0x60,
    TUE = 0x68,
    ELR = 0x70,
    USF = 0x78,
    DRFC = 0x80,
    HSH = 0x90,
    HSL = 0x94,
    SA1L = 0x98,
    SA4H = 0xb4,
};

enum { CTL_RE = 1 << 2, CTL_TE = 1 << 3, CTL_MPE = 1 << 4, CTL_CSR = 1 << 5 };
enum { CFG_CAF = 1 << 4, CFG_NBC = 1 << 5, CFG_MTI = 1 << 6, CFG_UNI = 1 << 7, CFG_BIG = 1 << 8 };
enum { SR_MDIO = 1 << 1, SR_IDLE = 1 << 2 };
enum { TCR_LEN = 0x7ff, TCR_NCRC = 1 << 15 };
enum {
    TSR_OVR = 1 << 0,
    TSR_RLE = 1 << 2,
    TSR_IDLE = 1 << 3,
    TSR_BNQ = 1 << 4,
    TSR_COMP = 1 << 5,
    TSR_UND = 1 << 6,
    TSR_CLEARABLE = 0x67
};
enum { RSR_BNA = 1 << 0, RSR_REC = 1 << 1, RSR_OVR = 1 << 2 };
enum { INTERRUPTS = 0xfff };
enum { WORD0_SOFTWARE = 1 << 0, WORD0_WRAP = 1 << 1, WORD1_LENGTH = 0x7ff };
#define WORD1_BROADCAST 0x80000000u
#define WORD1_MULTICAST 0x40000000u
#define WORD1_UNICAST 0x20000000u
#define WORD1_SPECIFIC1 0x04000000u  // 2, 3 and 4 below it
#define DESCRIPTORS 1024u
#define MAN_READS 5u  // looks until a frame of the management bus is out

// --- memory --------------------------------------------------------------------------------------------------------

#define REGIONS 8u
#define RAM_BASE 0x20000000u  // chip select 1: SDRAM
#define REGION_BYTES 0x01000000u

static struct {
    uint8_t *cpu, *ram;  // as the CPU sees it, as the device does: the same where it is not cached
    uint8_t *clean;      // what the CPU saw when its lines were last clean; NULL: not cached
    uint32_t bytes, bus;
} regions[REGIONS];
static uint32_t region_count;
static struct at91_emac_model *models;

void at91_emac_model_share(void *memory, uint32_t bytes, bool cached)
{
    assert_true(region_count < REGIONS && bytes <= REGION_BYTES / 2);
    regions[region_count].cpu = memory;
    regions[region_count].ram = memory;
    regions[region_count].clean = NULL;
    regions[region_count].bytes = bytes;
    // The low bits stay, so that alignment is what it is.
    regions[region_count].bus = RAM_BASE + region_count * REGION_BYTES + (uint32_t)((uintptr_t)memory & 0xfff);
    if (cached) {
        regions[region_count].ram = malloc(bytes);
        assert_non_null(regions[region_count].ram);
        memset(regions[region_count].ram, 0xa5, bytes);
        regions[region_count].clean = malloc(bytes);
        assert_non_null(regions[region_count].clean);
        memcpy(regions[region_count].clean, memory, bytes);
    }
    region_count++;
}

static uint32_t region_of(const void *memory)
{
    for (uint32_t i = 0; i < region_count; i++)
        if ((const uint8_t *)memory >= regions[i].cpu && (const uint8_t *)memory < regions[i].cpu + regions[i].bytes)
            return i;
    fail_msg("memory that the device does not reach: %p", memory);
    return 0;
}

uint32_t at91_emac_model_address(const void *memory)
{
    const uint32_t i = region_of(memory);
    return regions[i].bus + (uint32_t)((const uint8_t *)memory - regions[i].cpu);
}

// The ends of the cache lines around an offset, within the region.
static uint32_t line_start(uint32_t i, uint32_t offset)
{
    const uint32_t skew = (uint32_t)((uintptr_t)regions[i].cpu % AT91_EMAC_MODEL_LINE);
    const uint32_t down = (offset + skew) / AT91_EMAC_MODEL_LINE * AT91_EMAC_MODEL_LINE;
    return down < skew ? 0 : down - skew;
}
static uint32_t line_end(uint32_t i, uint32_t offset)
{
    const uint32_t end = line_start(i, offset + AT91_EMAC_MODEL_LINE - 1);
    return end > regions[i].bytes ? regions[i].bytes : end;
}

static uint8_t *bus(uint32_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < region_count; i++)
        if (address >= regions[i].bus && address - regions[i].bus < regions[i].bytes &&
            bytes <= regions[i].bytes - (address - regions[i].bus))
            return regions[i].ram + (address - regions[i].bus);
    fail_msg("the device accesses %u bytes at %08x, where no memory is", bytes, address);
    return NULL;
}

static uint32_t bus_read(uint32_t address)
{
    uint32_t word;
    assert_int_equal(address % 4, 0);
    memcpy(&word, bus(address, 4), 4);
    return word;
}

// Into a line that the CPU has written and not cleaned the device may not write: the cache puts its copy over it, some
// day.
static void bus_write(uint32_t address, const void *bytes, uint32_t length)
{
    uint8_t *to = bus(address, length);
    for (uint32_t i = 0; i < region_count; i++) {
        const uint32_t first = address - regions[i].bus, last = first + length;
        if (address < regions[i].bus || first >= regions[i].bytes || !regions[i].clean)
            continue;
        const uint32_t from = line_start(i, first), until = line_end(i, last);
        if (memcmp(regions[i].cpu + from, regions[i].clean + from, until - from) != 0)
            fail_msg("the device writes at %08x under a line that is dirty", address);
    }
    memcpy(to, bytes, length);
}

static void bus_write_word(uint32_t address, uint32_t word) { bus_write(address, &word, 4); }

// Whole lines pass, also what else is in them.
static void pass_lines(const void *memory, uint32_t bytes, bool to_ram)
{
    const uint32_t i = region_of(memory), offset = (uint32_t)((const uint8_t *)memory - regions[i].cpu);
    assert_true(bytes <= regions[i].bytes - offset);
    if (!regions[i].clean || bytes == 0)
        return;
    const uint32_t first = line_start(i, offset), length = line_end(i, offset + bytes) - first;
    if (to_ram)
        memcpy(regions[i].ram + first, regions[i].cpu + first, length);
    else
        memcpy(regions[i].cpu + first, regions[i].ram + first, length);
    memcpy(regions[i].clean + first, regions[i].cpu + first, length);
}
void at91_emac_model_clean(const void *memory, uint32_t bytes) { pass_lines(memory, bytes, true); }
void at91_emac_model_invalidate(const void *memory, uint32_t bytes) { pass_lines(memory, bytes, false); }

// --- the part ------------------------------------------------------------------------------------------------------

void at91_emac_model_open(struct at91_emac_model *model, uintptr_t base)
{
    memset(model, 0, sizeof *model);
    model->base = base;
    model->cfg = 0x800;
    model->tsr = TSR_IDLE | TSR_BNQ;
    model->imr = INTERRUPTS;
    model->phy_address = 3;
    model->phy[0] = 0x3100;  // 100 Mbit/s, negotiates, full-duplex
    model->phy[1] = 0x782d;  // can all of that; negotiated, link
    model->phy[4] = model->phy[5] = 0x01e1;
    model->next = models;
    models = model;
}

void at91_emac_model_close(void)
{
    models = NULL;
    for (uint32_t i = 0; i < region_count; i++)
        if (regions[i].clean) {
            free(regions[i].ram);
            free(regions[i].clean);
        }
    region_count = 0;
}

// A set bit of IMR disables its interrupt: the data sheet points out that this is not the custom of the other
// peripherals.
bool at91_emac_model_line(const struct at91_emac_model *model) { return (model->isr & ~model->imr) != 0; }

static void raise(struct at91_emac_model *model, uint32_t bits)
{
    model->isr |= model->quirks.masked_events_lost ? bits & ~model->imr : bits;
}

uint32_t at91_emac_model_crc(const uint8_t *bytes, uint32_t length)
{
    uint32_t crc = 0xffffffff;
    for (uint32_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 1) ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    return ~crc;
}

// Every sixth bit of the destination, from its n-th one, makes bit n of the index.
static bool hash_match(const struct at91_emac_model *model, const uint8_t *address)
{
    uint32_t index = 0;
    for (uint32_t bit = 0; bit < 48; bit++)
        index ^= (uint32_t)(address[bit / 8] >> bit % 8 & 1) << bit % 6;
    return ((index < 32 ? model->hash_low : model->hash_high) >> index % 32 & 1) != 0;
}

// The reasons for which a frame is taken, as the descriptor's second word shows them; false: none.
static bool address_match(const struct at91_emac_model *model, const uint8_t *frame, uint32_t *reasons)
{
    static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const uint32_t low = frame[0] | (uint32_t)frame[1] << 8 | (uint32_t)frame[2] << 16 | (uint32_t)frame[3] << 24;
    const uint32_t high = frame[4] | (uint32_t)frame[5] << 8;
    *reasons = 0;
    if (memcmp(frame, broadcast, 6) == 0)
        *reasons |= (model->cfg & CFG_NBC) ? 0 : WORD1_BROADCAST;
    else if (frame[0] & 1)
        *reasons |= (model->cfg & CFG_MTI) && hash_match(model, frame) ? WORD1_MULTICAST : 0;
    else
        *reasons |= (model->cfg & CFG_UNI) && hash_match(model, frame) ? WORD1_UNICAST : 0;
    for (uint32_t i = 0; i < 4; i++)
        if ((model->specific_on >> i & 1) && model->specific[i][0] == low && model->specific[i][1] == high)
            *reasons |= WORD1_SPECIFIC1 >> i;
    return *reasons != 0 || (model->cfg & CFG_CAF) != 0;
}

static uint32_t descriptor_address(const struct at91_emac_model *model) { return model->rbqp + 8 * model->descriptor; }

// Status is written, the buffer becomes software's, the pointer goes on.
static void hand_over(struct at91_emac_model *model, uint32_t status)
{
    const uint32_t at = descriptor_address(model), word0 = bus_read(at);
    bus_write_word(at + 4, status);
    bus_write_word(at, word0 | WORD0_SOFTWARE);
    model->descriptor = (word0 & WORD0_WRAP) || model->descriptor + 1 == DESCRIPTORS ? 0 : model->descriptor + 1;
    model->rsr |= RSR_REC;
    model->ok++;
    raise(model, AT91_EMAC_MODEL_RCOM);
}

static enum at91_emac_model_verdict receive(struct at91_emac_model *model, const uint8_t *frame, uint32_t length,
                                            bool bus_late)
{
    uint32_t reasons;
    if (!(model->ctl & CTL_RE))
        return AT91_EMAC_MODEL_OFF;
    if (model->stuck)
        return AT91_EMAC_MODEL_STUCK;
    if (length + 4 < 64 || length + 4 > ((model->cfg & CFG_BIG) ? 1522u : 1518u)) {
        *(length < 60 ? &model->usf : &model->elr) += 1;
        return AT91_EMAC_MODEL_BAD_LENGTH;
    }
    if (!address_match(model, frame, &reasons))
        return AT91_EMAC_MODEL_FILTERED;
    // The pointer is read anew for each frame until the buffer is the device's.
    const uint32_t word0 = bus_read(descriptor_address(model));
    if (word0 & WORD0_SOFTWARE) {
        model->rsr |= RSR_BNA;
        model->drfc++;
        model->stuck = model->quirks.stuck_without_buffer;
        raise(model, AT91_EMAC_MODEL_RBNA);
        return AT91_EMAC_MODEL_NO_BUFFER;
    }
    const uint32_t buffer = word0 & ~3u, crc = at91_emac_model_crc(frame, length);
    const uint8_t fcs[4] = {(uint8_t)crc, (uint8_t)(crc >> 8), (uint8_t)(crc >> 16), (uint8_t)(crc >> 24)};
    if (bus_late) {
        bus_write(buffer, frame, length / 2);  // some of it is there; the next frame goes over it
        model->rsr |= RSR_OVR;
        raise(model, AT91_EMAC_MODEL_ROVR);
        return AT91_EMAC_MODEL_OVERRUN;
    }
    bus_write(buffer, frame, length);
    bus_write(buffer + length, fcs, 4);
    hand_over(model, reasons | (length + 4));  // "length of frame including FCS"
    return AT91_EMAC_MODEL_STORED;
}

enum at91_emac_model_verdict at91_emac_model_receive(struct at91_emac_model *model, const uint8_t *frame,
                                                     uint32_t length)
{
    return receive(model, frame, length, false);
}

enum at91_emac_model_verdict at91_emac_model_receive_late(struct at91_emac_model *model, const uint8_t *frame,
                                                          uint32_t length)
{
    return receive(model, frame, length, true);
}

void at91_emac_model_receive_status(struct at91_emac_model *model, uint32_t status)
{
    assert_false(bus_read(descriptor_address(model)) & WORD0_SOFTWARE);
    hand_over(model, status);
}

// --- transmission --------------------------------------------------------------------------------------------------

// BNQ: an address and a length may be written. It falls when one frame is being sent and another waits. IDLE: there is
// none at all.
static void transmit_state(struct at91_emac_model *model)
{
    const uint32_t before = model->tsr;
    if (model->sending.length == 0 && model->queued.length) {
        model->sending = model->queued;
        model->queued.length = 0;
    }
    model->tsr &= ~(uint32_t)(TSR_IDLE | TSR_BNQ);
    model->tsr |= (model->sending.length ? 0 : TSR_IDLE) | (model->queued.length ? 0 : TSR_BNQ);
    if (model->tsr & ~before & TSR_IDLE)
        raise(model, AT91_EMAC_MODEL_TIDLE);
    if (model->tsr & ~before & TSR_BNQ)
        raise(model, AT91_EMAC_MODEL_TBRE);
}

// The address must be written before the length, every time.
static void write_tcr(struct at91_emac_model *model, uint32_t value)
{
    const uint32_t length = value & TCR_LEN;
    if (!(model->tsr & TSR_BNQ)) {
        model->tsr |= TSR_OVR;
        raise(model, AT91_EMAC_MODEL_TOVR);
        return;
    }
    if (length == 0)
        return;
    if (!(model->ctl & CTL_TE))
        fail_msg("a frame is queued while the transmitter is off");
    if (!model->tar_written)
        fail_msg("a length without an address before it");
    if (length < 8)
        fail_msg("transmission begins when two words are in the FIFO: %u bytes never do", length);
    model->tar_written = false;
    model->queued.address = model->tar;
    model->queued.length = length;
    model->queued.crc = !(value & TCR_NCRC);
    memcpy(model->queued.copy, bus(model->tar, length), length);
    transmit_state(model);
}

bool at91_emac_model_sent(struct at91_emac_model *model, enum at91_emac_model_end end)
{
    struct at91_emac_model_queued *frame = &model->sending;
    if (frame->length == 0)
        return false;
    // The DMA read it some time between then and now.
    if (memcmp(bus(frame->address, frame->length), frame->copy, frame->length) != 0)
        fail_msg("a frame changed while it was being sent");
    if (end == AT91_EMAC_MODEL_OK) {
        memset(model->wire, 0, sizeof model->wire);
        memcpy(model->wire, frame->copy, frame->length);
        // That the part fills short frames up is written of the later ones of its family, not verified for this one.
        // Without CRC by the part there is no padding by it either.
        model->wire_length = !frame->crc ? frame->length - 4 : frame->length < 60 ? 60 : frame->length;
        model->wire_count++;
        model->fra++;
        model->tsr |= TSR_COMP;
    } else {
        model->transmit_errors++;
        *(end == AT91_EMAC_MODEL_UNDERRUN ? &model->tue : &model->ecol) += 1;
        model->tsr |= end == AT91_EMAC_MODEL_UNDERRUN ? TSR_UND : TSR_RLE;
        raise(model, end == AT91_EMAC_MODEL_UNDERRUN ? AT91_EMAC_MODEL_TUND : AT91_EMAC_MODEL_RTRY);
    }
    frame->length = 0;
    if (end == AT91_EMAC_MODEL_OK || !model->quirks.failed_is_not_complete)
        raise(model, AT91_EMAC_MODEL_TCOM);
    transmit_state(model);
    return true;
}

// --- the management bus --------------------------------------------------------------------------------------------

// LOW 0, HIGH 1, read or write, CODE 2: any other frame no PHY understands.
static void write_man(struct at91_emac_model *model, uint32_t value)
{
    const uint32_t phy = value >> 23 & 31, index = value >> 18 & 31;
    const bool reads = (value & 0xf0030000) == 0x60020000;
    if (!(model->ctl & CTL_MPE))
        fail_msg("the management port is not enabled");
    if (model->man_reads && !model->man_stuck)
        fail_msg("a management frame is written while one is shifted out");
    if (!reads && (value & 0xf0030000) != 0x50020000)
        fail_msg("no management frame: %08x", value);
    model->man = value;
    model->man_reads = MAN_READS;
    if (reads)
        model->man = (value & 0xffff0000) | (phy == model->phy_address ? model->phy[index] : 0xffff);
    else if (phy == model->phy_address)
        model->phy[index] = (uint16_t)value;
    if (reads && phy == model->phy_address && index == 1)
        model->phy[1] |= model->phy[31] & 4;  // the link's bit, latched low until it was read: behind it is its state
}

static uint32_t read_sr(struct at91_emac_model *model)
{
    if (model->man_reads && !model->man_stuck)
        model->man_reads--;
    return SR_MDIO | (model->man_reads ? 0 : SR_IDLE);
}

// --- registers -----------------------------------------------------------------------------------------------------

static struct at91_emac_model *part_at(uintptr_t address, uint32_t *offset)
{
    for (struct at91_emac_model *model = models; model; model = model->next)
        if (address >= model->base && address - model->base < 0x4000) {
            *offset = (uint32_t)(address - model->base);
            return model;
        }
    fail_msg("no part at %lx", (unsigned long)address);
    return NULL;
}

static uint32_t take(uint32_t *value)
{
    const uint32_t was = *value;
    *value = 0;
    return was;
}

uint32_t mmio_model_read(uintptr_t address)
{
    uint32_t offset;
    struct at91_emac_model *model = part_at(address, &offset);
    switch (offset) {
    case CTL: return model->ctl;
    case CFG: return model->cfg;
    case SR: return read_sr(model);
    case TAR: return model->tar;
    case TCR: return model->sending.length;
    case TSR: return model->tsr;
    case RBQP: return descriptor_address(model);
    case RSR: return model->rsr;
    case ISR: return take(&model->isr);
    case IMR: return model->imr;
    case MAN: return model->man_reads ? model->man << 1 : model->man;  // half shifted out
    case FRA: return take(&model->fra);
    case OK: return take(&model->ok);
    case ECOL: return take(&model->ecol);
    case TUE: return take(&model->tue);
    case ELR: return take(&model->elr);
    case USF: return take(&model->usf);
    case DRFC: return take(&model->drfc);
    case HSH: return model->hash_high;
    case HSL: return model->hash_low;
    case IER:
    case IDR: fail_msg("read of a register that can only be written: %x", offset); return 0;
    default: break;
    }
    if (offset >= SA1L && offset <= SA4H && offset % 4 == 0)
        return model->specific[(offset - SA1L) / 8][(offset - SA1L) / 4 % 2];
    if (offset < FRA || offset > DRFC || offset % 4)
        fail_msg("read of %x", offset);
    return 0;  // the other statistics
}

static void write_ctl(struct at91_emac_model *model, uint32_t value)
{
    if ((value & CTL_RE) && !(model->ctl & CTL_RE) && model->rbqp == 0)
        fail_msg("the receiver is switched on before its queue is known");
    if (!(value & CTL_RE))
        model->stuck = false;  // erratum 11's way out; the queue pointer stays where it is
    if (!(value & CTL_TE) && model->sending.length)
        fail_msg("the transmitter is switched off with a frame in it");
    if (value & CTL_CSR)
        model->fra = model->ok = model->ecol = model->tue = model->elr = model->usf = model->drfc = 0;
    model->ctl = value & ~(uint32_t)(CTL_CSR | 1 << 6);  // ISR, increment statistics: a test bit
}

// Of the later parts of this family it is written that the low half switches the comparison off and the high half on
// again.
static void write_specific(struct at91_emac_model *model, uint32_t offset, uint32_t value)
{
    const uint32_t i = (offset - SA1L) / 8, high = (offset - SA1L) / 4 % 2;
    model->specific[i][high] = high ? value & 0xffff : value;
    if (high)
        model->specific_on |= (uint8_t)(1 << i);
    else
        model->specific_on &= (uint8_t) ~(1 << i);
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    uint32_t offset;
    struct at91_emac_model *model = part_at(address, &offset);
    if (model->before_write)
        model->before_write(model, offset, value);
    switch (offset) {
    case CTL: write_ctl(model, value); return;
    case CFG: model->cfg = value & 0x3ff7; return;
    case TAR:
        if (!(model->tsr & TSR_BNQ)) {
            model->tsr |= TSR_OVR;
            raise(model, AT91_EMAC_MODEL_TOVR);
            return;
        }
        model->tar = value;
        model->tar_written = true;
        return;
    case TCR: write_tcr(model, value); return;
    case TSR: model->tsr &= ~(value & TSR_CLEARABLE); return;
    case RBQP:
        model->rbqp = value & ~3u;
        model->descriptor = 0;
        return;
    case RSR: model->rsr &= ~value; return;
    case IER: model->imr &= ~value; return;
    case IDR: model->imr |= value & INTERRUPTS; return;
    case MAN: write_man(model, value); return;
    case HSH: model->hash_high = value; return;
    case HSL: model->hash_low = value; return;
    default: break;
    }
    if (offset >= SA1L && offset <= SA4H && offset % 4 == 0)
        write_specific(model, offset, value);
    else
        fail_msg("write of %x to %x", value, offset);
}
