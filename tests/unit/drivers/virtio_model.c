// SPDX-License-Identifier: BSD-2-Clause
#include "virtio_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mmio.h"

struct virtio_model model;
struct model_sent model_sent[MODEL_SENT];

// --- the driver's memory: little-endian ------------------------------------------------------------------------------

static uint8_t *at(uint64_t address) { return (uint8_t *)(uintptr_t)address; }
static uint64_t load(uint64_t address, uint32_t bytes)
{
    uint64_t value = 0;
    for (uint32_t i = bytes; i--;)
        value = value << 8 | at(address)[i];
    return value;
}
static void store(uint64_t address, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        at(address)[i] = (uint8_t)(value >> 8 * i);
}

static bool has(uint32_t feature) { return model.accepted >> feature & 1; }

void model_start(void)
{
    const uint32_t all[] = {MODEL_CSUM,       MODEL_GUEST_CSUM, MODEL_MTU,       MODEL_MAC,
                            MODEL_GUEST_TSO4, MODEL_GUEST_ECN,  MODEL_HOST_TSO4, MODEL_HOST_ECN,
                            MODEL_MRG_RXBUF,  MODEL_EVENT_IDX,  MODEL_STATUS,    MODEL_VERSION_1};
    memset(&model, 0, sizeof model);
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        model.offered |= 1ull << all[i];
    model.offered |= 0xfull << 24 | 1ull << 33 | 1ull << 22;  // things the driver does not know
    memcpy(model.mac, (uint8_t[]){0x52, 0x54, 0, 1, 2, 3}, 6);
    model.link = 1;
    model.mtu = 1500;
    model.queues[0].most = model.queues[1].most = 256;
    model.pci[0] = 0x10001af4;  // transitional
    model.pci[1] = 1u << 20;
    model.pci[4] = 0xc001;          // BAR 0: ports
    model.pci[8] = MODEL_BAR | 12;  // BAR 4: memory, 64 bits, prefetchable
    model.pci[0x34 / 4] = 0x98;
    const struct {
        uint8_t type, at, next;
        uint32_t offset, length;
    } capabilities[] = {{0, 0x98, 0x84, 0, 0},         {5, 0x84, 0x70, 0, 0},     {2, 0x70, 0x60, 0x400, 0x100},
                        {4, 0x60, 0x50, 0x200, 0x100}, {3, 0x50, 0x40, 0x100, 4}, {1, 0x40, 0, 0, 0x38}};
    for (uint32_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        uint32_t *to = &model.pci[capabilities[i].at / 4];
        to[0] =
            (i ? 9u : 0x11u) | (uint32_t)capabilities[i].next << 8 | 20u << 16 | (uint32_t)capabilities[i].type << 24;
        to[1] = 4;
        to[2] = capabilities[i].offset;
        to[3] = capabilities[i].length;
    }
    model.pci[0x80 / 4] = MODEL_NOTIFY_MULTIPLIER;
}

// --- registers -------------------------------------------------------------------------------------------------------

static void reset(void)
{
    for (uint32_t i = 0; i < 2; i++)
        model.queues[i] = (struct model_queue){.most = model.queues[i].most};
    model.accepted = 0;
    model.isr = 0;
    model.resets++;
    model.sent_count = 0;
}

// §3.1.1: acknowledge, driver, features, queues, driver ok; never a bit taken back but by a reset.
static void set_status(uint8_t value)
{
    const uint8_t before = model.status & 0x3f;
    if (!value) {
        model.reset_delay = 3;
        model.status = 0;
        reset();
        return;
    }
    if (value & 128) {
        model.status |= 128;
        return;
    }
    assert_int_equal(model.reset_delay, 0);
    assert_int_equal(value & before, before);
    if (value & 8 && !(before & 8)) {
        assert_int_equal(before, 3);
        assert_int_equal(model.accepted & ~model.offered, 0);
        if (!has(MODEL_CSUM))
            assert_false(has(MODEL_HOST_TSO4));
        if (!has(MODEL_GUEST_CSUM))
            assert_false(has(MODEL_GUEST_TSO4));
        if (model.accepted & model.refused)
            value &= (uint8_t)~8;
    }
    if (value & 4 && !(before & 4))
        assert_true(before & 8 && model.queues[0].enabled && model.queues[1].enabled);
    model.status = value;
}
static uint8_t get_status(void)
{
    if (model.stuck)
        return 0x0f;
    if (model.reset_delay && --model.reset_delay)
        return 0x0f;  // not yet
    return model.status;
}

static uint32_t offered_word(void)
{
    return model.features_select < 2 ? (uint32_t)(model.offered >> 32 * model.features_select) : 0;
}
static void accept_word(uint32_t value)
{
    assert_true(model.accept_select < 2 && model.status == 3);
    model.accepted = (model.accepted & (model.accept_select ? 0xffffffffull : ~0xffffffffull)) |
                     (uint64_t)value << 32 * model.accept_select;
}

static struct model_queue *queue(void)
{
    assert_true(model.queue_select < 2);
    return &model.queues[model.queue_select];
}
static void set_size(uint32_t size)
{
    assert_true(size && size <= queue()->most && !(size & (size - 1)) && !queue()->enabled);
    queue()->size = (uint16_t)size;
}
static void half(uint64_t *address, bool high, uint32_t value)
{
    assert_false(queue()->enabled);
    *address = high ? (*address & 0xffffffff) | (uint64_t)value << 32 : (*address & ~0xffffffffull) | value;
}
static void enable(uint32_t value)
{
    assert_int_equal(value, 1);
    assert_true(model.status & 8 && queue()->size);
    assert_true(queue()->descriptors && queue()->descriptors % 16 == 0 && queue()->available % 2 == 0 &&
                queue()->used % 4 == 0);
    queue()->enabled = true;
}
static void doorbell(uint32_t number)
{
    assert_true(number < 2 && model.status & 4);
    model.queues[number].doorbells++;
}
static uint8_t config_byte(uint32_t offset)
{
    if (offset < 6)
        return model.mac[offset];
    fail_msg("configuration byte %u", (unsigned)offset);
    return 0;
}
static uint16_t config_half(uint32_t offset)
{
    assert_true(offset == 6 || offset == 10);
    return offset == 6 ? model.link : model.mtu;
}
static uint32_t take_isr(void)
{
    const uint32_t isr = model.isr;
    model.isr = 0;
    return isr;
}

static uint64_t *address_at(uint32_t offset)
{
    struct model_queue *q = queue();
    return offset < 8 ? &q->descriptors : offset < 16 ? &q->available : &q->used;
}

uint32_t mmio_model_read(uintptr_t address)
{
    if (address >= MODEL_BAR) {
        assert_int_equal(address - MODEL_BAR, 4);
        return offered_word();
    }
    switch (address - MODEL_MMIO) {
    case 0x00: return 0x74726976;
    case 0x04: return 2;
    case 0x08: return 1;
    case 0x10: return offered_word();
    case 0x34: return queue()->most;
    case 0x60: return model.isr;
    case 0x70: return get_status();
    default: fail_msg("read of %lx", (unsigned long)address); return 0;
    }
}

void mmio_model_write(uintptr_t address, uint32_t value)
{
    if (address >= MODEL_BAR) {
        const uint32_t offset = (uint32_t)(address - MODEL_BAR);
        assert_true(model.pci[1] & 4);  // bus master
        if (offset == 0)
            model.features_select = value;
        else if (offset == 8)
            model.accept_select = value;
        else if (offset == 12)
            accept_word(value);
        else if (offset >= 32 && offset < 56)
            half(address_at(offset - 32), offset & 4, value);
        else
            fail_msg("write of %lx", (unsigned long)address);
        return;
    }
    switch (address - MODEL_MMIO) {
    case 0x14: model.features_select = value; break;
    case 0x20: accept_word(value); break;
    case 0x24: model.accept_select = value; break;
    case 0x30: model.queue_select = value; break;
    case 0x38: set_size(value); break;
    case 0x44: enable(value); break;
    case 0x50: doorbell(value); break;
    case 0x64: model.isr &= ~value; break;
    case 0x70: set_status((uint8_t)value); break;
    case 0x80: half(&queue()->descriptors, false, value); break;
    case 0x84: half(&queue()->descriptors, true, value); break;
    case 0x90: half(&queue()->available, false, value); break;
    case 0x94: half(&queue()->available, true, value); break;
    case 0xa0: half(&queue()->used, false, value); break;
    case 0xa4: half(&queue()->used, true, value); break;
    default: fail_msg("write of %lx", (unsigned long)address);
    }
}

uint8_t mmio_model_read8(uintptr_t address)
{
    if (address == MODEL_BAR + 20)
        return get_status();
    if (address == MODEL_BAR + 0x100)
        return (uint8_t)take_isr();
    return config_byte((uint32_t)(address - (address >= MODEL_BAR ? MODEL_BAR + 0x200 : MODEL_MMIO + 0x100)));
}
void mmio_model_write8(uintptr_t address, uint8_t value)
{
    assert_int_equal(address, MODEL_BAR + 20);
    set_status(value);
}
uint16_t mmio_model_read16(uintptr_t address)
{
    if (address == MODEL_BAR + 24)
        return queue()->most;
    if (address == MODEL_BAR + 30)
        return (uint16_t)(model.queue_select + 3);
    return config_half((uint32_t)(address - (address >= MODEL_BAR ? MODEL_BAR + 0x200 : MODEL_MMIO + 0x100)));
}
void mmio_model_write16(uintptr_t address, uint16_t value)
{
    if (address == MODEL_BAR + 22) {
        model.queue_select = value;
    } else if (address == MODEL_BAR + 24) {
        set_size(value);
    } else if (address == MODEL_BAR + 28) {
        enable(value);
    } else {
        assert_int_equal(address, MODEL_BAR + 0x400 + (value + 3u) * MODEL_NOTIFY_MULTIPLIER);
        doorbell(value);
    }
}

uint32_t model_pci_read(void *context, uint8_t offset)
{
    (void)context;
    assert_int_equal(offset % 4, 0);
    return model.pci[offset / 4];
}
void model_pci_write(void *context, uint8_t offset, uint32_t value)
{
    (void)context;
    assert_int_equal(offset, 4);
    model.pci[1] = (model.pci[1] & 0xffff0000) | (value & 0xffff);
}

// --- queues ----------------------------------------------------------------------------------------------------------

// The index is written; an interrupt, if the driver asked for one (§2.7.7.2).
static void publish(uint32_t number, uint16_t index)
{
    struct model_queue *q = &model.queues[number];
    const uint16_t old = q->done;
    q->done = index;
    store(q->used + 2, index, 2);
    const uint16_t event = (uint16_t)load(q->available + 4 + 2u * q->size, 2);
    const bool wanted =
        has(MODEL_EVENT_IDX) ? (uint16_t)(index - event - 1) < (uint16_t)(index - old) : !(load(q->available, 2) & 1);
    model.interrupts += wanted;
    model.isr |= wanted;
}
static void entry(struct model_queue *q, uint16_t index, uint32_t id, uint32_t length)
{
    const uint64_t to = q->used + 4 + 8ull * (index & (q->size - 1));
    store(to, id, 4);
    store(to + 4, length, 4);
}
void model_used(uint32_t number, uint32_t id, uint32_t length)
{
    entry(&model.queues[number], model.queues[number].done, id, length);
    publish(number, (uint16_t)(model.queues[number].done + 1));
}
void model_used_index(uint32_t number, uint16_t index) { publish(number, index); }

// Takes the next available chain's head. With the event index the device says that it wants to hear of the one after
// it.
static bool next(struct model_queue *q, uint16_t *head)
{
    const uint16_t available = (uint16_t)load(q->available + 2, 2);
    if (q->seen == available) {
        if (has(MODEL_EVENT_IDX))
            store(q->used + 4 + 8ull * q->size, q->seen, 2);
        return false;
    }
    assert_true((uint16_t)(available - q->seen) <= q->size);
    *head = (uint16_t)load(q->available + 4 + 2ull * (q->seen++ & (q->size - 1)), 2);
    assert_true(*head < q->size);
    return true;
}

uint32_t model_buffers(void) { return (uint16_t)(load(model.queues[0].available + 2, 2) - model.queues[0].seen); }

uint32_t model_receive(const uint8_t header[10], const uint8_t *bytes, uint32_t length)
{
    struct model_queue *q = &model.queues[0];
    uint8_t whole[MODEL_SENT_BYTES];
    uint32_t total = 12 + length, sent = 0, count = 0;
    uint64_t first = 0;
    uint16_t head, back = q->seen;
    assert_true(model.status & 4 && total <= sizeof whole);
    memcpy(whole, header, 10);
    memset(whole + 10, 0, 2);
    memcpy(whole + 12, bytes, length);
    while (sent < total) {
        if (!next(q, &head) || (count && !has(MODEL_MRG_RXBUF))) {
            q->seen = back;
            return 0;
        }
        const uint64_t descriptor = q->descriptors + 16ull * head, buffer = load(descriptor, 8);
        const uint32_t room = (uint32_t)load(descriptor + 8, 4), part = total - sent < room ? total - sent : room;
        assert_int_equal(load(descriptor + 12, 2), 2);  // device writes, no next
        assert_true(room >= 1526);
        memcpy(at(buffer), whole + sent, part);
        first = count ? first : buffer;
        entry(q, (uint16_t)(q->done + count), head, part);
        sent += part;
        count++;
    }
    store(first + 10, count, 2);
    publish(0, (uint16_t)(q->done + count));
    return count;
}

void model_transmit(void)
{
    struct model_queue *q = &model.queues[1];
    uint16_t head;
    while (next(q, &head)) {
        assert_true(model.sent_count < MODEL_SENT);
        struct model_sent *to = &model_sent[model.sent_count++];
        *to = (struct model_sent){.chain = head};
        for (uint32_t index = head, flags = 1; flags & 1; to->descriptors++) {
            const uint64_t descriptor = q->descriptors + 16ull * index;
            const uint32_t length = (uint32_t)load(descriptor + 8, 4);
            assert_true(index < q->size && to->descriptors < q->size && length &&
                        to->length + length <= MODEL_SENT_BYTES);
            memcpy(to->bytes + to->length, at(load(descriptor, 8)), length);
            to->length += length;
            flags = (uint32_t)load(descriptor + 12, 2);
            assert_false(flags & ~1u);
            index = (uint32_t)load(descriptor + 14, 2);
        }
        if (!model.keep)
            model_used(1, head, 0);
    }
}
void model_finish(uint32_t which) { model_used(1, model_sent[which].chain, 0); }
