// SPDX-License-Identifier: BSD-2-Clause
// not on mips: the ports are those of a little-endian bus
// What drivers of Linux 2.0 ask of the environment without a card: packets, bits, ports, PCI, messages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "api/linux_netdev/internal.h"

static char said[256];
static uint32_t config[4];
static uint32_t lines_on;

// A port that gives back what it was given, in its order.
#define PORT 0x310
static uint8_t bytes_in_port[64];
static uint32_t port_in, port_out;
static uint32_t out_of_port(uint16_t port, uint32_t count)
{
    uint32_t value = 0;
    assert_int_equal(port, PORT);
    memcpy(&value, bytes_in_port + port_out, count);
    port_out += count;
    return value;
}
static void into_port(uint16_t port, uint32_t value, uint32_t count)
{
    assert_int_equal(port, PORT);
    memcpy(bytes_in_port + port_in, &value, count);
    port_in += count;
}
uint8_t port_model_read8(uint16_t port) { return (uint8_t)out_of_port(port, 1); }
uint16_t port_model_read16(uint16_t port) { return (uint16_t)out_of_port(port, 2); }
uint32_t port_model_read32(uint16_t port) { return out_of_port(port, 4); }
void port_model_write8(uint16_t port, uint8_t value) { into_port(port, value, 1); }
void port_model_write16(uint16_t port, uint16_t value) { into_port(port, value, 2); }
void port_model_write32(uint16_t port, uint32_t value) { into_port(port, value, 4); }

static void line(uint32_t number, bool on) { lines_on = on ? lines_on | 1u << number : lines_on & ~(1u << number); }
static void news(void) {}
static void say(const char *text) { strcat(said, text); }
static uint32_t pci_read(uint32_t function, uint32_t offset) { return function == 3 ? config[offset / 4] : UINT32_MAX; }
static void pci_write(uint32_t function, uint32_t offset, uint32_t value)
{
    assert_int_equal(function, 3);
    config[offset / 4] = value;
}

static int set_up(void **state)
{
    static uint64_t memory[512];
    static const struct linux_netdev_board board = {line, news, say, pci_read, pci_write, memory, sizeof memory};
    (void)state;
    said[0] = 0;
    linux_netdev_init(&board);
    return 0;
}

static void test_packets(void **state)
{
    struct device dev = {.dev_addr = {2, 0, 0, 0, 0, 1}};
    static const uint8_t frame[18] = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 8, 0, 'd', 'a', 't', 'a'};
    (void)state;
    ether_setup(&dev);
    unsigned short protocol;
    memcpy(&protocol, frame + 12, sizeof protocol);
    struct sk_buff *skb = dev_alloc_skb(64);
    skb_reserve(skb, 2);
    memcpy(skb_put(skb, sizeof frame), frame, sizeof frame);
    assert_int_equal(skb->len, sizeof frame);
    assert_int_equal(eth_type_trans(skb, &dev), protocol);
    assert_int_equal(skb->pkt_type, PACKET_HOST);
    assert_int_equal(skb->len, 4);
    assert_memory_equal(skb->data, "data", 4);
    assert_ptr_equal(skb->mac.raw, skb->data - ETH_HLEN);
    skb_trim(skb, 3);
    assert_ptr_equal(skb_push(skb, 14), skb->mac.raw);
    assert_int_equal(skb->len, 17);
    assert_null(skb_pull(skb, 18));
    dev_kfree_skb(skb, FREE_READ);
    assert_null(dev_alloc_skb(SKB_BYTES + 1));
}

static void test_the_pool_ends_and_is_used_again(void **state)
{
    struct linux_queue queue = {0};
    struct sk_buff *all[LINUX_NETDEV_SKBS];
    (void)state;
    for (uint32_t i = 0; i < LINUX_NETDEV_SKBS; i++)
        assert_non_null(all[i] = dev_alloc_skb(SKB_BYTES));
    assert_null(dev_alloc_skb(1));
    for (uint32_t i = 0; i < LINUX_NETDEV_SKBS; i++)
        assert_int_equal(linux_queue_put(&queue, all[i]), i < LINUX_NETDEV_QUEUE);
    linux_queue_put_back(&queue, linux_queue_take(&queue));
    for (uint32_t i = 0; i < LINUX_NETDEV_QUEUE; i++)
        assert_ptr_equal(linux_queue_take(&queue), all[i]);
    assert_null(linux_queue_take(&queue));
    for (uint32_t i = 0; i < LINUX_NETDEV_SKBS; i++)
        dev_kfree_skb(all[i], FREE_READ);
    assert_non_null(dev_alloc_skb(1));
}

static void test_bits_and_regions(void **state)
{
    unsigned long words[2] = {0};
    (void)state;
    assert_int_equal(set_bit(0, words), 0);
    assert_int_equal(set_bit(0, words), 1);
    assert_int_equal(set_bit(8 * (int)sizeof *words + 1, words), 0);
    assert_int_equal(words[1], 2);
    assert_int_equal(test_bit(0, words), 1);
    assert_int_equal(clear_bit(0, words), 1);
    assert_int_equal(words[0], 0);
    request_region(0x300, 32, "ne");
    assert_int_not_equal(check_region(0x31f, 1), 0);
    assert_int_equal(check_region(0x320, 32), 0);
    release_region(0x300, 32);
    assert_int_equal(check_region(0x300, 32), 0);
}

static void test_ports(void **state)
{
    static const uint8_t text[] = "twenty bytes and one";
    uint8_t back[1 + sizeof text] = {0};
    (void)state;
    port_in = port_out = 0;
    outsl(PORT, text, 2);
    outsw(PORT, text + 8, 4);
    outsb(PORT, text + 16, 4);
    insb(PORT, back + 1, 2);
    insl(PORT, back + 3, 4);
    insw(PORT, back + 19, 1);
    assert_string_equal(back + 1, text);
    assert_int_equal(port_out, port_in);
}

static void test_pci(void **state)
{
    unsigned char bus, function, byte;
    unsigned short word;
    unsigned int dword;
    (void)state;
    config[0] = 0x802910ec;
    config[1] = 0x12345678;
    assert_int_equal(pcibios_find_device(0x10ec, 0x8029, 0, &bus, &function), PCIBIOS_SUCCESSFUL);
    assert_int_equal(function, 3);
    assert_int_equal(pcibios_find_device(0x10ec, 0x8029, 1, &bus, &function), PCIBIOS_DEVICE_NOT_FOUND);
    pcibios_read_config_byte(0, 3, 5, &byte);
    pcibios_read_config_word(0, 3, 6, &word);
    pcibios_read_config_dword(0, 3, 4, &dword);
    assert_int_equal(byte, 0x56);
    assert_int_equal(word, 0x1234);
    assert_int_equal(dword, 0x12345678);
    pcibios_write_config_byte(0, 3, 5, 0xab);
    pcibios_write_config_word(0, 3, 6, 0xcdef);
    assert_int_equal(config[1], 0xcdefab78);
}

static uint32_t handled;
static void handler(int irq, void *dev_id, struct pt_regs *regs)
{
    assert_int_equal(irq, 5);
    assert_null(regs);
    assert_int_equal(lines_on, 0);
    handled += *(uint32_t *)dev_id;
}

// Handlers run when the thread comes to it; the line is masked until then.
static void test_interrupts(void **state)
{
    uint32_t one = 1, ten = 10;
    (void)state;
    assert_int_equal(request_irq(NR_IRQS, handler, 0, "ne", &one), -EINVAL);
    assert_int_equal(request_irq(5, handler, SA_SHIRQ, "ne", &one), 0);
    assert_int_equal(request_irq(5, handler, SA_SHIRQ, "ne", &ten), 0);
    assert_int_equal(lines_on, 1 << 5);
    linux_netdev_interrupt(5);
    assert_int_equal(lines_on, 0);
    assert_true(linux_irq_waits());
    assert_int_equal(handled, 0);
    linux_irq_run();
    assert_int_equal(handled, 11);
    assert_int_equal(lines_on, 1 << 5);
    free_irq(5, &one);
    assert_int_equal(lines_on, 1 << 5);
    free_irq(5, &ten);
    assert_int_equal(lines_on, 0);
}

static void test_devices_are_named_unless_they_have_a_name(void **state)
{
    static char blank[] = " ", own[] = "lan";
    struct device second = {.name = blank}, third = {.name = own};
    (void)state;
    struct device *const first = init_etherdev(NULL, 8);
    assert_non_null(first);
    assert_non_null(first->priv);
    assert_string_equal(first->name, "eth0");
    assert_int_equal(register_netdev(&second), 0);
    assert_string_equal(second.name, "eth1");
    assert_ptr_equal(init_etherdev(&third, 0), &third);
    assert_ptr_equal(third.name, own);
    unregister_netdev(&third);
    unregister_netdev(&second);
    unregister_netdev(first);
    assert_null(init_etherdev(NULL, 1 << 20));
}

static void test_messages(void **state)
{
    (void)state;
    printk(KERN_INFO "%s: %d, %u, %#x, %04lx, %3d%%%c\n", "eth0", -7, 4000000000u, 0x300, 0xabul, 5, '!');
    assert_string_equal(said, "eth0: -7, 4000000000, 0x300, 00ab,   5%!\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_packets, set_up),
        cmocka_unit_test_setup(test_the_pool_ends_and_is_used_again, set_up),
        cmocka_unit_test_setup(test_bits_and_regions, set_up),
        cmocka_unit_test_setup(test_ports, set_up),
        cmocka_unit_test_setup(test_pci, set_up),
        cmocka_unit_test_setup(test_interrupts, set_up),
        cmocka_unit_test_setup(test_devices_are_named_unless_they_have_a_name, set_up),
        cmocka_unit_test_setup(test_messages, set_up),
    };
    return cmocka_run_group_tests_name("linux_netdev/system", tests, NULL, NULL);
}
