// SPDX-License-Identifier: BSD-2-Clause
// Drivers whose device lies: every register reads as the input wants, also another way each time, and the device writes
// into its descriptors, rings and receive buffers whatever and whenever it likes, also in the middle of what the driver
// does. The first byte says which driver; the rest is a script of calls, register values and writes.
//
// What is checked: the sanitizers (all memory is on the heap, in blocks of its own); that a frame handed up lies in one
// of the driver's receive buffers, or in as many slices as there may be; that what was lent for sending is given back
// once, in order, and was accepted before; that a call ends, which is that it looks at registers a bounded number of
// times.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "drivers/at91_emac.h"
#include "drivers/cadence_gem.h"
#include "drivers/lan9118.h"
#include "drivers/mmio.h"
#include "drivers/pcnet.h"
#include "drivers/smc91c111.h"
#include "drivers/stellaris.h"
#include "drivers/virtio_net.h"
#include "drivers/virtio_pci.h"
#include "fuzz.h"
#include "weir/error.h"

#define OPERATIONS 400u
#define REGISTERS 128u         // by the lowest bits of their word
#define ACCESSES_MAX 1200000u  // of a call: a driver may wait for a bit some 100,000 times
#define LENT_MAX 1024u
#define BASE 0x10000000u

// A register that does not stay the same has other bits with each reading.
static struct {
    uint32_t value, flips;
} registers[REGISTERS];

static struct bytes in;
static uint32_t accesses, until_interjection;
static bool interjecting;

// Memory that the device writes to.
static struct {
    uint8_t *bytes;
    uint32_t length;
} shared[4];

// Where frames may lie.
static struct {
    const uint8_t *bytes;
    uint32_t length, each;
} receive;

static void *lent[LENT_MAX];
static uint32_t lent_first, lent_count, next_end;

static struct weir_netif netif;

// --- what the device says and does -----------------------------------------------------------------------------------

static uint32_t word(void)
{
    const uint8_t choice = take8(&in);
    switch (choice >> 5) {
    case 0: return 1u << (choice & 31);
    case 1: return ~(1u << (choice & 31));
    case 2: return choice & 31;
    case 3: return 0x80000000u | (uint32_t)(choice & 31) << 24 | take16(&in);
    case 4: return take16(&in);
    case 5: return (uint32_t)(choice & 31) << 16 | take16(&in);
    case 6: return (uint32_t)take16(&in) << 16 | take16(&in);
    default: return choice & 1 ? UINT32_MAX : 0;
    }
}

static void set_register(void)
{
    const uint8_t which = take8(&in);
    registers[which % REGISTERS].value = word();
    registers[which % REGISTERS].flips = which & 0x80 ? word() : 0;
}

static void write_memory(void)
{
    const uint8_t choice = take8(&in);
    const uint32_t region = choice & 3, at = 4u * take16(&in), value = word();
    for (uint32_t n = 0; n < 1u + (choice >> 5) && shared[region].length; n++) {
        const uint32_t to = (at + n * (choice & 4 ? 16 : choice & 8 ? 8 : 4)) % shared[region].length & ~3u;
        memcpy(shared[region].bytes + to, &value, to + 4 <= shared[region].length ? 4 : shared[region].length - to);
    }
}

// Something happens in the middle of a call, where the driver looks at a register.
static void interject(void)
{
    if (interjecting || !until_interjection || --until_interjection)
        return;
    interjecting = true;
    if (take8(&in) & 1)
        write_memory();
    else
        set_register();
    interjecting = false;
}

static uint32_t answer(uintptr_t address)
{
    const uint32_t which = (uint32_t)(address >> 2) % REGISTERS;
    CHECK(++accesses < ACCESSES_MAX);
    interject();
    registers[which].value ^= registers[which].flips;
    return registers[which].value;
}

static void noticed(void)
{
    CHECK(++accesses < ACCESSES_MAX);
    interject();
}

uint32_t mmio_model_read(uintptr_t address) { return answer(address); }
uint16_t mmio_model_read16(uintptr_t address) { return (uint16_t)(answer(address) >> 8 * (address & 2)); }
uint8_t mmio_model_read8(uintptr_t address) { return (uint8_t)(answer(address) >> 8 * (address & 3)); }
void mmio_model_write(uintptr_t address, uint32_t value) { (void)address, (void)value, noticed(); }
void mmio_model_write16(uintptr_t address, uint16_t value) { (void)address, (void)value, noticed(); }
void mmio_model_write8(uintptr_t address, uint8_t value) { (void)address, (void)value, noticed(); }

// --- the upper side --------------------------------------------------------------------------------------------------

static void check_inside(const struct weir_slice *slice)
{
    CHECK(slice->data >= receive.bytes && slice->length <= receive.length);
    const uint32_t at = (uint32_t)(slice->data - receive.bytes) % receive.each;
    CHECK(slice->data < receive.bytes + receive.length && slice->length <= receive.each - at);
}

static void upper_input(struct weir_netif *of, const struct weir_frame *frame)
{
    uint32_t length = 0, sum = 0;
    CHECK(of == &netif && frame->count >= 1 && frame->count <= WEIR_FRAME_SLICES);
    for (uint32_t i = 0; i < frame->count; i++) {
        CHECK(frame->slices[i].length);
        check_inside(&frame->slices[i]);
        for (uint32_t at = 0; at < frame->slices[i].length; at++)
            sum += frame->slices[i].data[at];
        length += frame->slices[i].length;
    }
    CHECK(length == frame->length && sum != UINT32_MAX);
    CHECK(frame->slices[0].length >= (length < WEIR_FRAME_HEAD ? length : WEIR_FRAME_HEAD));
}

static void upper_ready(struct weir_netif *of) { CHECK(of == &netif); }

static void upper_complete(struct weir_netif *of, void *owner, uint32_t end)
{
    CHECK(of == &netif && lent_count && owner == lent[lent_first % LENT_MAX]);
    CHECK(end == next_end - lent_count);
    free(owner);
    lent_first++;
    lent_count--;
}

static void upper_carrier(struct weir_netif *of, bool up) { CHECK(of == &netif && (up || !up)); }
static const struct weir_upper upper = {upper_input, upper_ready, upper_complete, upper_carrier};

// --- the devices -----------------------------------------------------------------------------------------------------

static void share(uint32_t region, void *memory, size_t length)
{
    shared[region].bytes = memory;
    shared[region].length = (uint32_t)length;
}

static void frames_lie_in(const void *memory, size_t length, size_t each)
{
    receive.bytes = memory;
    receive.length = (uint32_t)length;
    receive.each = (uint32_t)each;
}

static void *block(size_t align, size_t bytes)
{
    uint8_t *memory = aligned_alloc(align, (bytes + align - 1) / align * align);
    CHECK(memory != NULL);
    memset(memory, 0, bytes);
    return memory;
}

static const uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
static void *blocks[3];  // of the driver in use, to be freed

static void open_gem(void)
{
    static struct cadence_gem_board board;
    struct cadence_gem *gem = blocks[0] = block(CADENCE_GEM_ALIGN, sizeof *gem);
    struct cadence_gem_rings *rings = blocks[1] = block(8, sizeof *rings);
    board = (struct cadence_gem_board){.base = BASE, .rings = rings, .mac = {2, 0, 0, 0, 0, 1}};
    share(0, rings, sizeof *rings);
    share(1, gem->receive, sizeof gem->receive);
    frames_lie_in(gem->receive, sizeof gem->receive, sizeof gem->receive[0]);
    cadence_gem_open(gem, &board);
    cadence_gem_attach(gem, &netif, "dev0");
}
static void interrupt_gem(void) { cadence_gem_interrupt(blocks[0]); }

static void open_emac(void)
{
    static struct at91_emac_board board;
    struct at91_emac *emac = blocks[0] = block(AT91_EMAC_ALIGN, sizeof *emac);
    struct at91_emac_ring *ring = blocks[1] = block(64, sizeof *ring);
    board = (struct at91_emac_board){.base = BASE, .ring = ring, .mac = {2, 0, 0, 0, 0, 1}};
    share(0, ring, sizeof *ring);
    share(1, emac->receive, sizeof emac->receive);
    frames_lie_in(emac->receive, sizeof emac->receive, sizeof emac->receive[0]);
    at91_emac_open(emac, &board);
    at91_emac_attach(emac, &netif, "dev0");
}
static void interrupt_emac(void) { at91_emac_interrupt(blocks[0]); }

static void open_pcnet(void)
{
    static struct pcnet_board board;
    struct pcnet *pcnet = blocks[0] = block(PCNET_ALIGN, sizeof *pcnet);
    struct pcnet_shared *memory = blocks[1] = block(PCNET_ALIGN, sizeof *memory);
    board = (struct pcnet_board){.base = BASE, .shared = memory, .mac = {2, 0, 0, 0, 0, 1}};
    share(0, memory, sizeof *memory);
    share(1, pcnet->receive, sizeof pcnet->receive);
    frames_lie_in(pcnet->receive, sizeof pcnet->receive, sizeof pcnet->receive[0]);
    registers[0x10 / 4].value = 0x0130;  // initialised, receiving and transmitting
    pcnet_open(pcnet, &board);
    pcnet_attach(pcnet, &netif, "dev0");
}
static void interrupt_pcnet(void) { (void)pcnet_interrupt(blocks[0]); }

static void open_lan9118(void)
{
    struct lan9118 *device = blocks[0] = block(64, sizeof *device);
    frames_lie_in(device->buffer, sizeof device->buffer, sizeof device->buffer);
    registers[0x64 / 4].value = 0x87654321;
    registers[0x80 / 4].value = 0x1200;  // room in the transmit FIFO
    CHECK(lan9118_open(device, BASE, mac) == WEIR_OK);
    lan9118_attach(device, &netif, "dev0");
}
static void interrupt_lan9118(void) { lan9118_interrupt(blocks[0]); }

static void open_stellaris(void)
{
    struct stellaris *device = blocks[0] = block(64, sizeof *device);
    frames_lie_in(device->buffer, sizeof device->buffer, sizeof device->buffer);
    stellaris_open(device, BASE, mac);
    stellaris_attach(device, &netif, "dev0");
}
static void interrupt_stellaris(void) { stellaris_interrupt(blocks[0]); }

static void open_smc91c111(void)
{
    struct smc91c111 *device = blocks[0] = block(64, sizeof *device);
    frames_lie_in(device->buffer, sizeof device->buffer, sizeof device->buffer);
    registers[0x08 / 4].value = 0x00900000;  // the revision
    registers[0x0c / 4].value = 0x33000000;  // of the bank's register; its lower half is the interrupts
    CHECK(smc91c111_open(device, BASE, mac) == WEIR_OK);
    smc91c111_attach(device, &netif, "dev0");
}
static void interrupt_smc91c111(void) { smc91c111_interrupt(blocks[0]); }

// --- virtio: over a transport that answers like registers, or behind PCI ---------------------------------------------

enum { AT_STATUS, AT_FEATURES, AT_FEATURES_HIGH, AT_MAX, AT_ISR = 6, AT_CONFIG = 8 };
static uint8_t status_written;

static uint8_t virtio_status(struct virtio_transport *t)
{
    return (uint8_t)((void)t, answer(4 * AT_STATUS) ^ status_written);
}
static void virtio_set_status(struct virtio_transport *t, uint8_t value)
{
    (void)t;
    status_written = value;
    noticed();
}
static uint64_t virtio_features(struct virtio_transport *t)
{
    return (void)t, (uint64_t)~answer(4 * AT_FEATURES_HIGH) << 32 | (uint32_t)~answer(4 * AT_FEATURES);
}
static void virtio_accept(struct virtio_transport *t, uint64_t wanted) { (void)t, (void)wanted, noticed(); }
static uint16_t virtio_queue_max(struct virtio_transport *t, uint16_t queue)
{
    return (void)t, (uint16_t)(256 ^ answer(4u * (AT_MAX + queue)));
}
static void virtio_queue_start(struct virtio_transport *t, uint16_t queue, uint16_t size,
                               const struct virtio_ring_memory *memory)
{
    (void)t, (void)queue, (void)memory;
    CHECK(size && size <= VIRTIO_RING_MAX && !(size & (size - 1)));
}
static void virtio_notify(struct virtio_transport *t, uint16_t queue) { (void)t, (void)queue, noticed(); }
static uint8_t virtio_interrupt(struct virtio_transport *t) { return (void)t, (uint8_t)answer(4 * AT_ISR); }
static uint8_t virtio_config8(struct virtio_transport *t, uint32_t at)
{
    return (void)t, (uint8_t)answer(4 * AT_CONFIG + at);
}
static uint16_t virtio_config16(struct virtio_transport *t, uint32_t at)
{
    return (void)t, (uint16_t)answer(4 * AT_CONFIG + at);
}
static const struct virtio_transport_calls virtio_calls = {
    virtio_status,      virtio_set_status, virtio_features,  virtio_accept,  virtio_queue_max,
    virtio_queue_start, virtio_notify,     virtio_interrupt, virtio_config8, virtio_config16};

static bool attach_virtio(struct virtio_transport *transport)
{
    struct virtio_net *net = blocks[0] = block(64, sizeof *net);
    struct virtio_net_memory *memory = blocks[1] = block(VIRTIO_NET_ALIGN, sizeof *memory);
    share(0, &memory->rx_ring.used, sizeof memory->rx_ring.used);
    share(1, &memory->tx_ring.used, sizeof memory->tx_ring.used);
    share(2, memory, sizeof memory->rx_ring + sizeof memory->tx_ring);
    share(3, memory->receive, sizeof memory->receive);
    frames_lie_in(memory->receive, sizeof memory->receive, sizeof memory->receive[0]);
    if (virtio_net_open(net, transport, memory) != WEIR_OK)
        return false;
    virtio_net_attach(net, &netif, "dev0");
    return true;
}

// Some features may be missing, and queues be small, from the beginning.
static void open_virtio(void)
{
    static struct virtio_transport transport = {&virtio_calls};
    registers[AT_FEATURES].value = word();
    registers[AT_MAX].value = take8(&in);
    (void)attach_virtio(&transport);
}
static void interrupt_virtio(void) { virtio_net_interrupt(blocks[0]); }

static uint32_t pci_space[64];
static uint32_t pci_read(void *context, uint8_t at)
{
    (void)context;
    CHECK(at % 4 == 0);
    return pci_space[at / 4];
}
static void pci_write(void *context, uint8_t at, uint32_t value) { (void)context, (void)at, (void)value; }

// A configuration space that is right, but for some words.
static void open_virtio_pci(void)
{
    static const struct virtio_pci_function function = {pci_read, pci_write, NULL};
    static struct virtio_pci pci;
    static const uint8_t places[4] = {0x50, 0x60, 0x70, 0x80}, types[4] = {1, 2, 3, 4};
    memset(pci_space, 0, sizeof pci_space);
    pci_space[0] = 0x10411af4;
    pci_space[1] = 1u << 20;
    pci_space[4] = BASE;
    pci_space[0x34 / 4] = places[0];
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t *capability = &pci_space[places[i] / 4];
        capability[0] = 9 | (i < 3 ? (uint32_t)places[i + 1] << 8 : 0) | (uint32_t)types[i] << 24;
        capability[2] = 0x40 * i;
        capability[3] = 0x40;
    }
    for (uint8_t n = take8(&in) & 7; n; n--) {
        const uint8_t at = take8(&in);
        pci_space[at % 64] = word();
    }
    registers[1].value = UINT32_MAX;                    // features
    registers[5].value = registers[5].flips = 1u << 3;  // the status: none after a reset, then it agrees
    registers[6].value = 256;                           // the size of a queue
    if (virtio_pci_open(&pci, &function, VIRTIO_ID_NET))
        (void)attach_virtio(&pci.transport);
}

static const struct device {
    void (*open)(void);
    void (*interrupt)(void);
} devices[] = {
    {open_gem, interrupt_gem},           {open_emac, interrupt_emac},           {open_pcnet, interrupt_pcnet},
    {open_lan9118, interrupt_lan9118},   {open_stellaris, interrupt_stellaris}, {open_virtio, interrupt_virtio},
    {open_virtio_pci, interrupt_virtio}, {open_smc91c111, interrupt_smc91c111}};

// --- the stack's side ------------------------------------------------------------------------------------------------

// A frame, as the stack would send it: headers in a slice, payload in up to three, which may be kept.
static void transmit(void)
{
    static const uint16_t lengths[8] = {0, 6, 46, 512, 1000, 1400, 1446, 1460};
    const uint8_t how = take8(&in);
    const uint32_t parts = how & 3, payload = lengths[how >> 2 & 7], head = 54;
    uint8_t *header = malloc(head), *memory = malloc(payload ? payload : 1);
    struct weir_slice slices[4] = {{header, head}};
    struct weir_tx tx = {.slices = slices, .length = head, .count = 1, .header_length = 54};
    CHECK(header != NULL && memory != NULL);
    memset(header, 0x11, head);
    memset(memory, 0x22, payload ? payload : 1);
    for (uint32_t i = 0, at = 0; i < parts && payload >= parts; i++) {
        const uint32_t length = i + 1 == parts ? payload - at : payload / parts;
        slices[tx.count++] = (struct weir_slice){memory + at, length};
        at += length;
        tx.length += length;
    }
    tx.holdable = how & 0x20 && tx.count > 1;
    if (how & 0x40 && netif.capabilities & WEIR_NETIF_TX_CHECKSUM) {
        tx.checksum_start = 34;
        tx.checksum_offset = 16;
    }
    tx.hold_owner = memory;
    tx.hold_end = next_end;
    const enum weir_tx_verdict verdict = netif.driver->tx(&netif, &tx);
    CHECK(verdict == WEIR_TX_DONE || verdict == WEIR_TX_FULL || (verdict == WEIR_TX_HELD && tx.holdable));
    free(header);
    if (verdict != WEIR_TX_HELD) {
        free(memory);
        return;
    }
    CHECK(lent_count < LENT_MAX);
    lent[(lent_first + lent_count++) % LENT_MAX] = memory;
    next_end++;
}

static void operate(const struct device *device, uint64_t *now_us)
{
    const uint8_t operation = take8(&in), arg = operation >> 4;
    accesses = 0;
    switch (operation & 15) {
    case 0:
    case 1:
    case 2: CHECK(netif.driver->poll(&netif, 1 + arg * 4) <= 1 + arg * 4); break;
    case 3:
    case 4: transmit(); break;
    case 5:
        *now_us += 1000u << arg;
        if (netif.driver->timer)
            (void)netif.driver->timer(&netif, *now_us);
        break;
    case 6: device->interrupt(); break;
    case 7:
        if (netif.driver->flush)
            netif.driver->flush(&netif);
        break;
    case 8: until_interjection = 1u + take8(&in); break;
    case 9:
    case 10:
    case 11: set_register(); break;
    default: write_memory(); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t now_us = 1000000;
    in = (struct bytes){data, (uint32_t)size};
    memset(registers, 0, sizeof registers);
    memset(shared, 0, sizeof shared);
    memset(&netif, 0, sizeof netif);
    memset(blocks, 0, sizeof blocks);
    accesses = until_interjection = lent_first = lent_count = next_end = 0;
    status_written = 0;
    const struct device *device = &devices[take8(&in) % (sizeof devices / sizeof *devices)];
    device->open();
    netif.upper = &upper;
    for (uint32_t n = 0; n < OPERATIONS && in.left && netif.driver; n++)
        operate(device, &now_us);
    for (; lent_count; lent_count--)  // what the device has still
        free(lent[lent_first++ % LENT_MAX]);
    for (uint32_t i = 0; i < 3; i++)
        free(blocks[i]);
    return 0;
}
