// SPDX-License-Identifier: BSD-2-Clause
// not on mips: the ports are those of a little-endian bus
// A device of Linux 2.0 as Weir's driver, with the thread that runs it on the preemptive kernel in virtual time:
// packets both ways, a card that is busy or refuses, queues that end, a flood.
#include "drivers/upper.h"

#include <stdio.h>

#include "api/linux_netdev/internal.h"
#include "checks.h"
#include "kernel/virtual_kernel.h"

#define FRAME 60u

uint8_t port_model_read8(uint16_t port) { return (uint8_t)port; }
uint16_t port_model_read16(uint16_t port) { return port; }
uint32_t port_model_read32(uint16_t port) { return port; }
void port_model_write8(uint16_t port, uint8_t value) { (void)port, (void)value; }
void port_model_write16(uint16_t port, uint16_t value) { (void)port, (void)value; }
void port_model_write32(uint16_t port, uint32_t value) { (void)port, (void)value; }

static struct device dev;
static struct {
    bool refuses, stays_busy;
    uint32_t offered, sent, opened, filters;
    uint8_t order[512], bytes[FRAME];
    uint64_t last_us;
    int open_error;
} card;
static uint32_t news_count, lines_on, handled;
static char name[] = "lan0";

static void line(uint32_t number, bool on) { lines_on = on ? lines_on | 1u << number : lines_on & ~(1u << number); }
static void news(void) { news_count++; }
static void print(const char *text) { (void)text; }

static int card_open(struct device *of) { return card.opened += of == &dev, card.open_error; }
static void card_filter(struct device *of) { card.filters += (of->flags & IFF_ALLMULTI) != 0; }
static int card_send(struct sk_buff *skb, struct device *of)
{
    CHECK(of == &dev && skb->dev == of);
    card.offered++;
    card.last_us = now_us;
    if (card.refuses)
        return 1;
    card.order[card.sent++ % 512] = skb->data[0];
    memcpy(card.bytes, skb->data, FRAME);
    of->tbusy = card.stays_busy;
    of->trans_start = jiffies;
    dev_kfree_skb(skb, FREE_WRITE);
    return 0;
}

static void set_up(void)
{
    static uint64_t memory[512];
    static const struct linux_netdev_board board = {line, news, print, NULL, NULL, memory, sizeof memory};
    unregister_netdev(&dev);
    memset(&card, 0, sizeof card);
    memset(&upper, 0, sizeof upper);
    news_count = lines_on = handled = 0;
    failures = 0;
    linux_netdev_init(&board);
    dev = (struct device){.name = name,
                          .dev_addr = {2, 0, 0, 0, 0, 1},
                          .open = card_open,
                          .hard_start_xmit = card_send,
                          .set_multicast_list = card_filter};
    ether_setup(&dev);
    assert_int_equal(register_netdev(&dev), 0);
    assert_int_equal(linux_netdev_attach(&dev, &netif), 0);
    netif.upper = &upper_side;
    assert_memory_equal(netif.mac, dev.dev_addr, 6);
    assert_int_equal(card.opened, 1);
    assert_int_equal(card.filters, 1);
}

static void play(thread_entry *scenario)
{
    set_up();
    (void)run(scenario);
    assert_int_equal(failures, 0);
}

// A frame of `length` bytes that begins with the number.
static enum weir_tx_verdict send(uint8_t number, uint32_t length)
{
    static uint8_t bytes[2000];
    bytes[0] = number;
    bytes[1] = 0xee;
    const struct weir_slice slices[2] = {{bytes, 1}, {bytes + 1, length - 1}};
    const struct weir_tx tx = {.slices = slices, .length = length, .count = 2};
    const enum weir_tx_verdict verdict = netif.driver->tx(&netif, &tx);
    netif.driver->flush(&netif);
    return verdict;
}

// --- out -------------------------------------------------------------------------------------------------------------

static void sends(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY + 1, linux_netdev_thread, 0);
    CHECK(send(1, 20) == WEIR_TX_DONE && card.sent == 1);
    CHECK(card.bytes[1] == 0xee && card.bytes[20] == 0 && card.bytes[FRAME - 1] == 0);  // short ones are padded
    CHECK(send(2, 1514) == WEIR_TX_DONE && card.sent == 2 && card.order[1] == 2);
    CHECK(send(3, 1515) == WEIR_TX_DONE && card.sent == 2 && netif.stats.tx_dropped == 1);
}

static void frames_go_out_padded(void **state)
{
    (void)state;
    play(sends);
}

static void is_busy(void *unused)
{
    (void)unused;
    card.stays_busy = true;
    spawn(0, MAIN_PRIORITY + 1, linux_netdev_thread, 0);
    const uint64_t from_us = now_us;
    CHECK(send(1, FRAME) == WEIR_TX_DONE && card.sent == 1);
    CHECK(send(2, FRAME) == WEIR_TX_DONE && send(3, FRAME) == WEIR_TX_DONE && card.sent == 1);
    dev.tbusy = 0;  // as its interrupt would, which then wakes the thread
    mark_bh(NET_BH + 1);
    CHECK(card.sent == 1);
    mark_bh(NET_BH);
    CHECK(card.sent == 2 && now_us == from_us);
    (void)thread_sleep_until(now_us + 2 * LINUX_NETDEV_LATE_MS * MS);
    CHECK(card.sent == 3 && card.order[2] == 3);  // offered all the same
    CHECK(card.last_us - from_us >= LINUX_NETDEV_LATE_MS * MS &&
          card.last_us - from_us < 2 * LINUX_NETDEV_LATE_MS * MS);
}

static void a_card_that_stays_busy_is_offered_a_packet(void **state)
{
    (void)state;
    play(is_busy);
}

static void refuses(void *unused)
{
    (void)unused;
    card.refuses = true;
    spawn(0, MAIN_PRIORITY + 1, linux_netdev_thread, 0);
    CHECK(send(1, FRAME) == WEIR_TX_DONE && send(2, FRAME) == WEIR_TX_DONE && card.sent == 0);
    const uint32_t offered = card.offered;
    (void)thread_sleep_until(now_us + LINUX_NETDEV_LATE_MS * MS + 1);
    CHECK(card.offered == offered + 1);
    card.refuses = false;
    (void)thread_sleep_until(now_us + LINUX_NETDEV_LATE_MS * MS + 1);
    CHECK(card.sent == 2 && card.order[0] == 1 && card.order[1] == 2);
}

static void what_is_refused_is_tried_again_in_order(void **state)
{
    (void)state;
    play(refuses);
}

static void queues_end(void *unused)
{
    (void)unused;
    dev.tbusy = 1;
    dev.trans_start = jiffies;
    spawn(0, MAIN_PRIORITY + 1, linux_netdev_thread, 0);
    for (uint32_t i = 0; i < LINUX_NETDEV_QUEUE; i++)
        CHECK(send((uint8_t)i, FRAME) == WEIR_TX_DONE);
    CHECK(send(200, FRAME) == WEIR_TX_FULL && netif.driver->poll(&netif, 8) == 0 && upper.ready == 0);
    const uint32_t before = news_count;
    dev.tbusy = 0;
    mark_bh(NET_BH);
    CHECK(card.sent == LINUX_NETDEV_QUEUE && news_count > before);
    for (uint32_t i = 0; i < LINUX_NETDEV_QUEUE; i++)
        CHECK(card.order[i] == i);
    CHECK(netif.driver->poll(&netif, 8) == 0 && upper.ready == 1 && netif.driver->poll(&netif, 8) == 0);
    CHECK(upper.ready == 1 && send(200, FRAME) == WEIR_TX_DONE && card.order[LINUX_NETDEV_QUEUE] == 200);
}

static void a_full_queue_is_told_and_has_room_again(void **state)
{
    (void)state;
    play(queues_end);
}

// --- in --------------------------------------------------------------------------------------------------------------

static void arrives(uint8_t number)
{
    const uint8_t frame[FRAME] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, number};
    struct sk_buff *const skb = dev_alloc_skb(FRAME + 2);
    CHECK(skb != NULL);
    if (!skb)
        return;
    skb->dev = &dev;
    skb_reserve(skb, 2);
    memcpy(skb_put(skb, FRAME), frame, FRAME);
    skb->protocol = eth_type_trans(skb, &dev);
    netif_rx(skb);
}

static void receives(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY + 1, linux_netdev_thread, 0);
    for (uint32_t i = 0; i < 5; i++)
        arrives((uint8_t)i);
    CHECK(news_count == 5 && netif.driver->poll(&netif, 3) == 3);
    CHECK(upper.length == FRAME && upper.last[14] == 2 && upper.last[0] == 2);
    CHECK(netif.driver->poll(&netif, 3) == 2 && upper.last[14] == 4 && netif.driver->poll(&netif, 3) == 0);
    for (uint32_t i = 0; i < 2 * LINUX_NETDEV_QUEUE; i++)  // what does not fit is freed
        arrives((uint8_t)i);
    CHECK(netif.driver->poll(&netif, 1000) == LINUX_NETDEV_QUEUE && upper.last[14] == LINUX_NETDEV_QUEUE - 1);
    dev.netif = NULL;
    for (uint32_t i = 0; i < 2 * LINUX_NETDEV_SKBS; i++)
        arrives(1);
    CHECK(netif.driver->poll(&netif, 8) == 0);
}

static void frames_come_in_by_polls(void **state)
{
    (void)state;
    play(receives);
}

static void handler(int irq, void *dev_id, struct pt_regs *regs)
{
    CHECK(irq == 5 && dev_id == &dev && !regs);
    handled++;
}
static void interrupts(void) { linux_netdev_interrupt(5); }

static void in_a_flood(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY + 1, linux_netdev_thread, 0);
    CHECK(request_irq(5, handler, 0, "lan", &dev) == 0);
    in_interrupt(interrupts);
    CHECK(handled == 1);
    for (uint32_t i = 0; i <= LINUX_NETDEV_QUEUE / 2; i++)
        arrives((uint8_t)i);
    in_interrupt(interrupts);
    CHECK(handled == 1 && linux_irq_waits());  // the card may drop
    CHECK(netif.driver->poll(&netif, 8) == 8 && handled == 2);
    free_irq(5, &dev);
}

static void a_flood_holds_interrupts_back(void **state)
{
    (void)state;
    play(in_a_flood);
}

// --- timers ----------------------------------------------------------------------------------------------------------

static struct timer_list timer;
static uint32_t ticks;
static void tick(unsigned long data)
{
    CHECK(data == 7);
    if (++ticks < 3) {
        timer.expires = jiffies + 5;
        add_timer(&timer);
    }
}

// In the drivers' thread, which waits no longer than until the first of them; nobody else runs them.
static void has_timers(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY + 1, linux_netdev_thread, 0);
    init_timer(&timer);
    timer.function = tick;
    timer.data = 7;
    timer.expires = jiffies + 5;
    add_timer(&timer);
    (void)thread_sleep_until(now_us + 40 * MS);
    CHECK(ticks == 0);
    (void)thread_sleep_until(now_us + 200 * MS);
    CHECK(ticks == 3 && del_timer(&timer) == 0);
    timer.expires = jiffies;
    ticks = 2;
    add_timer(&timer);  // at once
    CHECK(ticks == 3);
}

static void timers_run_in_the_thread_of_drivers(void **state)
{
    (void)state;
    ticks = 0;
    play(has_timers);
}

// --- probes ----------------------------------------------------------------------------------------------------------

static int finds_two(struct device *of)
{
    struct device *const first = init_etherdev(of, 0), *const second = init_etherdev(NULL, 16);
    if (first != of || !second || !second->priv || !strcmp(first->name, second->name))
        return ENODEV;
    unregister_netdev(second);
    return 0;
}

// As PCI drivers do in the probe that register_netdev calls.
static void a_device_is_in_the_list_once(void **state)
{
    struct device other = {.init = finds_two};
    (void)state;
    set_up();
    assert_int_equal(register_netdev(&other), 0);
    assert_ptr_equal(dev_base, &dev);
    assert_ptr_equal(dev.next, &other);
    assert_null(other.next);
    assert_int_equal(register_netdev(&other), 0);
    assert_null(other.next);
    unregister_netdev(&other);
}

// --- what is refused -------------------------------------------------------------------------------------------------

static void frames_are_for_somebody(void **state)
{
    static const struct {
        uint8_t to[6];
        int type;
    } frames[] = {{{2, 0, 0, 0, 0, 1}, PACKET_HOST},
                  {{2, 0, 0, 0, 0, 7}, PACKET_OTHERHOST},
                  {{1, 0, 0x5e, 0, 0, 1}, PACKET_MULTICAST},
                  {{255, 255, 255, 255, 255, 255}, PACKET_BROADCAST}};
    (void)state;
    set_up();
    for (uint32_t i = 0; i < 4; i++) {
        struct sk_buff *const skb = dev_alloc_skb(FRAME);
        memset(skb_put(skb, FRAME), 0, FRAME);
        memcpy(skb->data, frames[i].to, 6);
        (void)eth_type_trans(skb, &dev);
        assert_int_equal(skb->pkt_type, frames[i].type);
        dev_kfree_skb(skb, FREE_READ);
    }
}

static int fails(struct device *of) { return of == NULL ? 0 : -ENODEV; }
static void a_card_that_does_not_begin(void **state)
{
    struct device other = {.init = fails};
    static char blank[] = "";
    (void)state;
    set_up();
    other.name = blank;
    assert_int_equal(register_netdev(&other), -EIO);
    card.open_error = -EAGAIN;
    assert_int_equal(linux_netdev_attach(&dev, &netif), -EAGAIN);
    assert_null(dev.netif);
    assert_int_equal(card.filters, 1);  // only the first time
    dev.open = NULL;
    dev.set_multicast_list = NULL;
    assert_int_equal(linux_netdev_attach(&dev, &netif), 0);
    assert_ptr_equal(dev.netif, &netif);
    while (kmalloc(64, GFP_KERNEL))
        ;
    while (kmalloc(1, GFP_KERNEL))
        ;
    other.name = blank;
    assert_int_equal(register_netdev(&other), -ENOMEM);
    assert_null(init_etherdev(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_go_out_padded),
        cmocka_unit_test(a_card_that_stays_busy_is_offered_a_packet),
        cmocka_unit_test(what_is_refused_is_tried_again_in_order),
        cmocka_unit_test(a_full_queue_is_told_and_has_room_again),
        cmocka_unit_test(frames_come_in_by_polls),
        cmocka_unit_test(a_flood_holds_interrupts_back),
        cmocka_unit_test(timers_run_in_the_thread_of_drivers),
        cmocka_unit_test(a_device_is_in_the_list_once),
        cmocka_unit_test(frames_are_for_somebody),
        cmocka_unit_test(a_card_that_does_not_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
