// SPDX-License-Identifier: BSD-2-Clause
// An application's process that does on demand what it may not: port 9, a letter a connection. What the kernel answers
// with an error is told; the rest ends the process.
#include "processes.h"

#define ETHERNET 0x40200000u
#define KERNEL_MEMORY 0x20080000u  // link.ld

PROCESS_STACK_BYTES(rogue_stack, ROGUE_STACK_BYTES);
static struct client client;
static uint32_t message[MICRO_MESSAGE_WORDS + 1];

static volatile uint32_t *at(uintptr_t address) { return (volatile uint32_t *)address; }

static void tell(int socket, int32_t number)
{
    char text[3] = {number < 0 ? '-' : ' ', (char)('0' + (number < 0 ? -number : number)), '\n'};
    (void)client_send_all(&client, socket, text, sizeof text);
}

// Everything the server reads of us becomes something else, again and again.
static void lie(void)
{
    uint32_t random = 1;
    for (uint32_t round = 0; round < 200; round++) {
        for (uint32_t i = 0; i < window_bytes(ROGUE_CHANNELS, ROGUE_RING) / 4; i++)
            at((uintptr_t)&link_rogue_window)[i] = random = random * 1664525u + 1013904223u;
        (void)micro_notify(PROCESS_STACK);
        for (uint32_t i = 0; i < MICRO_MESSAGE_WORDS; i++)
            message[i] = random = random * 1664525u + 1013904223u;
        if (round % 2)
            message[0] = round % 11, message[1] = round % 4;
        (void)micro_call(PROCESS_STACK, message);
    }
}

// How far it comes in a second: what a flood leaves to applications.
static void compute(int socket)
{
    const uint64_t end_us = micro_now_us() + 1000000;
    uint32_t rounds = 0;
    while (micro_now_us() < end_us)
        rounds++;
    (void)client_send_all(&client, socket, &rounds, sizeof rounds);
}

// As many calls as it can make in a second.
static void call_on(int socket)
{
    const uint64_t end_us = micro_now_us() + 1000000;
    uint32_t calls = 0;
    for (; micro_now_us() < end_us; calls++) {
        message[0] = MICRO_LISTEN, message[1] = CLIENT_CHANNELS;
        (void)micro_call(PROCESS_STACK, message);
    }
    (void)client_send_all(&client, socket, &calls, sizeof calls);
}

static void obey(int socket, char letter)
{
    static const char text[] = "x";
    switch (letter) {
    // refused
    case 'p': tell(socket, micro_print((const char *)stack_stack, 4)); break;
    case 'q': tell(socket, micro_print(text, 0xfffffff0u)); break;
    case 'm': tell(socket, micro_call(PROCESS_STACK, (uint32_t *)(void *)stack_stack)); break;
    case 'u': tell(socket, micro_call(PROCESS_STACK, (uint32_t *)(void *)((uint8_t *)message + 1))); break;
    case 'e': tell(socket, micro_receive((struct micro_event *)(void *)echo_stack, 0, 0)); break;
    // code may be read, not written
    case 'c': tell(socket, micro_receive((struct micro_event *)(void *)text, 0, 0)); break;
    case 'n': tell(socket, micro_notify(PROCESS_DRIVER)); break;
    case 'y': tell(socket, micro_reply(PROCESS_ECHO, message)); break;
    case 'i': tell(socket, micro_interrupt_on()); break;
    // the end
    case 'w': *at((uintptr_t)stack_stack) = 1; break;
    case 'r': tell(socket, (int32_t)*at((uintptr_t)&link_echo_window)); break;
    case 'd': *at(ETHERNET + 0x74) = 1; break;
    case 'k': tell(socket, (int32_t)*at(KERNEL_MEMORY)); break;
    case 'x': ((void (*)(void))((uintptr_t)message | 1))(); break;
    case 's': __asm__ volatile("mov sp, %0\n\tsvc 0" ::"r"(stack_stack + 64)); break;
    case 'v': *at(0xe000ed94u) = 0; break;  // the MPU itself
    case 'z': micro_exit();
    // neither
    case 'l': lie(); break;
    case 'b': compute(socket); break;
    case 'f': call_on(socket); break;
    case 'h':
        for (;;)
            message[0]++;
    default: tell(socket, 0);
    }
}

void rogue_process(void)
{
    static const uint32_t stack = PROCESS_STACK;
    const struct weir_endpoint local = {weir_addr_any(), 9};
    micro_client_init(&client, &stack, &link_rogue_window);
    const int listener = client_socket(&client, WEIR_STREAM);
    if (listener < 0 || client_bind(&client, listener, &local) < 0 || client_listen(&client, listener, 1) < 0)
        return;
    for (;;) {
        char letter;
        const int socket = client_accept(&client, listener, NULL);
        if (socket < 0)
            return;
        // an orphan, as long as its peer does not close
        while (client_recv(&client, socket, &letter, 1) == 1 && letter != 'o')
            obey(socket, letter);
        (void)client_close(&client, socket);
    }
}
