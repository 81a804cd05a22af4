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
#include "kernel/virtual_kernel.h"

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
// Of another port it is noted what goes there.
static bool any_port;
static char accesses[128];
static void into_port(uint16_t port, uint32_t value, uint32_t count)
{
    if (any_port) {
        sprintf(accesses + strlen(accesses), "%x=%x ", port, value);
        return;
    }
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

// A card that interrupts on this line when it is unmasked; 0: none does.
static uint32_t line_of_card;
static void line(uint32_t number, bool on)
{
    lines_on = on ? lines_on | 1u << number : lines_on & ~(1u << number);
    if (on && number && number == line_of_card)
        linux_netdev_interrupt(number);
}
static void news(void) {}
static void print(const char *text) { strcat(said, text); }
// A device of one function that answers for all eight.
static uint32_t pci_read(uint32_t function, uint32_t offset)
{
    return function / 8 == 3 ? config[offset / 4] : UINT32_MAX;
}
static void pci_write(uint32_t function, uint32_t offset, uint32_t value)
{
    assert_int_equal(function, 24);
    config[offset / 4] = value;
}

// A clock that goes on with each look.
static uint64_t look_at_clock(void)
{
    static uint64_t time_us;
    return time_us += 1000;
}

static int set_up(void **state)
{
    static const struct kernel_board clock = {look_at_clock,    virtual_alarm,      virtual_idle,
                                              virtual_overflow, virtual_idle_stack, STACK_BYTES};
    static uint64_t memory[512];
    static const struct linux_netdev_board board = {line, news, print, pci_read, pci_write, memory, sizeof memory};
    (void)state;
    said[0] = 0;
    linux_netdev_init(&board);
    assert_true(kernel_init(&clock));
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
    skb = alloc_skb(SKB_BYTES, GFP_ATOMIC);
    assert_ptr_equal(skb->data, skb->head);
    memset(skb->data, 0xee, 64);
    skb_put(skb, 14);
    eth_copy_and_sum(skb, frame, 14, 0);
    assert_memory_equal(skb->data, frame, 14);
    assert_ptr_equal(skb_padto(skb, 60), skb);
    assert_int_equal(skb->len, 14);
    assert_int_equal(skb->data[14] | skb->data[59], 0);
    assert_int_equal(skb->data[60], 0xee);
    assert_null(skb_padto(skb, 2 * SKB_BYTES));  // and is freed
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
    config[2] = PCI_CLASS_NETWORK_ETHERNET << 16 | 1;
    config[3] = 0;
    assert_int_equal(pcibios_find_device(0x10ec, 0x8029, 0, &bus, &function), PCIBIOS_SUCCESSFUL);
    assert_int_equal(function, 24);
    assert_int_equal(pcibios_find_device(0x10ec, 0x8029, 1, &bus, &function), PCIBIOS_DEVICE_NOT_FOUND);
    function = 0;
    assert_int_equal(pcibios_find_class(PCI_CLASS_NETWORK_ETHERNET << 8, 0, &bus, &function), PCIBIOS_SUCCESSFUL);
    assert_int_equal(function, 24);
    assert_int_equal(PCI_SLOT(function), 3);
    assert_int_equal(PCI_FUNC(function), 0);
    config[3] = 0x800000;  // of several functions
    assert_int_equal(pcibios_find_class(PCI_CLASS_NETWORK_ETHERNET << 8, 1, &bus, &function), PCIBIOS_SUCCESSFUL);
    assert_int_equal(function, 25);
    assert_string_equal(pcibios_strerror(PCIBIOS_DEVICE_NOT_FOUND), "DEVICE_NOT_FOUND");
    pcibios_read_config_byte(0, 24, 5, &byte);
    pcibios_read_config_word(0, 24, 6, &word);
    pcibios_read_config_dword(0, 24, 4, &dword);
    assert_int_equal(byte, 0x56);
    assert_int_equal(word, 0x1234);
    assert_int_equal(dword, 0x12345678);
    pcibios_write_config_byte(0, 24, 5, 0xab);
    assert_int_equal(config[1], 0xab78);  // bits of the status that are set would be cleared by ones
    pcibios_write_config_word(0, 24, 10, 0xcdef);
    assert_int_equal(config[2], 0xcdef0001);
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
    handled = 0;
    assert_int_equal(request_irq(NR_IRQS, handler, 0, "ne", &one), -EINVAL);
    assert_int_equal(request_irq(5, handler, SA_SHIRQ, "ne", &one), 0);
    assert_int_equal(request_irq(5, handler, 0, "ne", &ten), -EBUSY);  // does not share
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

static void test_a_line_that_its_driver_disables_waits(void **state)
{
    uint32_t one = 1;
    (void)state;
    handled = 0;
    assert_int_equal(request_irq(5, handler, 0, "ne", &one), 0);
    linux_netdev_interrupt(5);
    disable_irq(5);
    assert_false(linux_irq_waits());
    linux_irq_run();
    assert_int_equal(handled, 0);
    assert_int_equal(lines_on, 0);
    enable_irq(5);
    lines_on = 0;  // (the handler looks)
    linux_irq_run();
    assert_int_equal(handled, 1);
    free_irq(5, &one);
}

// By a card on line 10, as ISA has them; another line has a handler.
static void test_a_card_is_asked_which_line_it_has(void **state)
{
    uint32_t one = 1;
    (void)state;
    assert_int_equal(request_irq(5, handler, 0, "ne", &one), 0);
    assert_int_equal(autoirq_setup(0), 0xffff & ~0x2147 & ~(1 << 5));
    linux_netdev_interrupt(10);
    assert_int_equal(autoirq_report(0), 10);
    assert_int_equal(lines_on, 1 << 5);
    assert_false(linux_irq_waits());
    (void)autoirq_setup(0);
    assert_int_equal(autoirq_report(0), 0);  // nobody: after two ticks
    unsigned long lines = probe_irq_on();
    linux_netdev_interrupt(10);
    linux_netdev_interrupt(11);
    assert_int_equal(probe_irq_off(lines), -10);
    line_of_card = 10;  // interrupts of itself, and so is not the card that is asked
    lines = probe_irq_on();
    assert_int_equal(lines >> 10 & 1, 0);
    assert_int_equal(probe_irq_off(lines), 0);
    line_of_card = 0;
    free_irq(5, &one);
}

static void test_dma_channels(void **state)
{
    (void)state;
    assert_int_equal(request_dma(8, "lance"), -EINVAL);
    assert_int_equal(request_dma(4, "lance"), -EBUSY);  // joins the two controllers
    assert_int_equal(request_dma(5, "lance"), 0);
    assert_int_equal(request_dma(5, "lance"), -EBUSY);
    free_dma(5);
    assert_int_equal(request_dma(5, "lance"), 0);
    free_dma(5);
    any_port = true;
    accesses[0] = 0;
    set_dma_mode(5, DMA_MODE_CASCADE);
    enable_dma(5);
    disable_dma(1);
    clear_dma_ff(1);
    assert_string_equal(accesses, "d6=c1 d4=1 a=5 c=0 ");
    accesses[0] = 0;
    set_dma_addr(1, 0x123456);
    set_dma_count(1, 0x200);
    assert_string_equal(accesses, "83=12 2=56 2=34 3=ff 3=1 ");
    accesses[0] = 0;
    set_dma_addr(5, 0x123456);
    set_dma_count(5, 0x200);
    assert_string_equal(accesses, "8b=12 c4=2b c4=1a c6=ff c6=0 ");
    any_port = false;
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

// Each as a driver of Linux 2.0 writes it.
static void test_messages(void **state)
{
    (void)state;
    printk(KERN_INFO "%s: %d, %u, %#x, %04lx, %3d%%%c\n", "eth0", -7, 4000000000u, 0x300, 0xabul, 5, '!');
    assert_string_equal(said, "eth0: -7, 4000000000, 0x300, 00ab,   5%!\n");
    said[0] = 0;
    printk("%2.2x:%4.4x %#3x %#2.2x %8.8lx %#4.4x %-4s|%.3s|%-5d|%+d|% d|%o|%5s|\n", 7, 0x1c, 0x300, 0, 0xbeeful, 0x12,
           "ne", "NE2000", 42, 3, 4, 8, "ab");
    assert_string_equal(said, "07:001c 0x300 0x00 0000beef 0x0012 ne  |NE2|42   |+3| 4|10|   ab|\n");
    said[0] = 0;
    printk(KERN_NOTICE "a\n" KERN_DEBUG "b<5>%*d%.*s\n", -3, 1, 1, "xyz");
    assert_string_equal(said, "a\nb<5>1  x\n");
    said[0] = 0;
    printk("%s %hd %X %i%", (char *)NULL, 0x12345, 0xabcu, 0);
    assert_string_equal(said, "<NULL> 9029 ABC 0");
    said[0] = 0;
    printk("%ld %hu %-05d| %05.3d %+x %#o %#X %0-3u| %.0s|\n", -1234567890L, 0x10007, 42, 7, 255u, 8u, 0xabu, 5u, "no");
    assert_string_equal(said, "-1234567890 7 42   |   007 ff 010 0XAB 5  | |\n");
    said[0] = 0;
    printk("%p|%4p|", (void *)0x1f, (void *)0x2f);
    assert_string_equal(said, sizeof(void *) == 8 ? "000000000000001f|002f|" : "0000001f|002f|");
    said[0] = 0;
    printk("<8>a<1 b<x>\n<9>c\n<2>");  // no levels, but the last, behind which there is nothing
    assert_string_equal(said, "<8>a<1 b<x>\n<9>c\n");
}

static void test_text_and_numbers(void **state)
{
    char text[64], *end;
    (void)state;
    assert_int_equal(sprintf(text, "eth%d <1>%05d", 3, -42), 13);
    assert_string_equal(text, "eth3 <1>-0042");
    assert_int_equal(simple_strtoul("0x1Fg", &end, 0), 0x1f);
    assert_int_equal(*end, 'g');
    assert_int_equal(simple_strtoul("010", NULL, 0), 8);
    assert_int_equal(simple_strtoul("0x10", NULL, 16), 16);
    assert_int_equal(simple_strtoul("12,", &end, 10), 12);
    assert_int_equal(simple_strtoul("12", NULL, 0), 12);
    assert_int_equal(simple_strtoul("0X1f", NULL, 0), 0x1f);
    assert_int_equal(simple_strtoul("0x1f", NULL, 8), 0);  // the x is no digit
    assert_int_equal(simple_strtoul("zz!", NULL, 36), 35 * 36 + 35);
    assert_int_equal(simple_strtoul("", NULL, 10), 0);
    assert_int_equal(*end, ',');
    assert_int_equal(ntohs(htons(0x1234)), 0x1234);
    assert_int_equal(*(const unsigned char *)&(uint16_t){htons(0x1234)}, 0x12);
    assert_int_equal(ntohl(htonl(0x12345678)), 0x12345678);
    assert_int_equal(*(const unsigned char *)&(uint32_t){htonl(0x12345678)}, 0x12);
}

static void test_memory_of_cards(void **state)
{
    uint8_t memory[8] = {0}, back[4];
    (void)state;
    void *const at = ioremap(virt_to_bus(memory), sizeof memory);
    writel(0x01020304, at);
    writew(0xbeef, virt_to_bus(memory) + 4);
    assert_int_equal(readl(at), 0x01020304);
    assert_int_equal(readw(memory + 4), 0xbeef);
    assert_int_equal(readb(memory + 6), 0);
    memcpy_fromio(back, at, 4);
    assert_memory_equal(back, memory, 4);
    memset_io(at, 7, 2);
    assert_int_equal(readb(memory + 1), 7);
    iounmap(at);
    assert_true(high_memory != 0);
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
        cmocka_unit_test_setup(test_a_line_that_its_driver_disables_waits, set_up),
        cmocka_unit_test_setup(test_a_card_is_asked_which_line_it_has, set_up),
        cmocka_unit_test_setup(test_dma_channels, set_up),
        cmocka_unit_test_setup(test_text_and_numbers, set_up),
        cmocka_unit_test_setup(test_memory_of_cards, set_up),
    };
    return cmocka_run_group_tests_name("linux_netdev/system", tests, NULL, NULL);
}
