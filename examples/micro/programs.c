// SPDX-License-Identifier: BSD-2-Clause
// The programs of examples/either, each a client process of the microkernel: the table of this image, and what a client
// does around its program.
#include "examples/either/programs.h"

#include "apps/text.h"
#include "boot.h"
#include "examples/flock/http.h"
#include "examples/flock/process.h"
#include "kernel/micro/micro.h"
#include "ports/micro/process_sockets.h"
#include "processes.h"
#include "weir/error.h"

#define CLIENTS 4u
#define CHANNELS 4u
#define RING 2048u
#define STACK_BYTES 4096
#define MICRO_IDLE (2 + CLIENTS)

// As in programs.ld.
enum { BYTES_stack = 524288, BYTES_driver = 8192, BYTES_idle = 256, BYTES_frames = 65536 };
#define BYTES_CLIENT 8192
#define BYTES_WINDOW 32768
extern uint8_t link_stack[], link_driver[], link_idle[], link_windows[];
extern uint8_t link_poll[], link_http[], link_echo[], link_pointers[];
_Static_assert(sizeof(struct frames) <= BYTES_frames, "the frames' memory");
_Static_assert(sizeof(struct window) + CHANNELS * (sizeof(struct window_channel) + 2 * RING) <= BYTES_WINDOW,
               "a client's window");

// --- what a program has beside its sockets ---------------------------------------------------------------------------
static uint32_t length_of(const char *text)
{
    uint32_t length = 0;
    while (text[length])
        length++;
    return length;
}

void print(const char *text)
{
    for (uint32_t left = length_of(text), now; left; text += now, left -= now) {
        now = left < MICRO_PRINT_BYTES ? left : MICRO_PRINT_BYTES;
        (void)micro_print(text, now);
    }
}

void print_number(const char *before, unsigned number, const char *behind)
{
    char line[80];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, before);
    text_u64(&text, number);
    text_put(&text, behind);
    print(line);
}

void *foreign_memory(void) { return link_stack; }

// --- the clients -----------------------------------------------------------------------------------------------------
struct memory {  // of a client; its stack lowest
    uint64_t stack[STACK_BYTES / 8];
    struct micro_process process;
};
static struct memory poll_memory __attribute__((section(".bss.poll"))),
    http_memory __attribute__((section(".bss.http"))), echo_memory __attribute__((section(".bss.echo"))),
    pointers_memory __attribute__((section(".bss.pointers")));

static const struct program poll = {"poll", poll_client}, http = {"http", http_client}, echo = {"echo", select_echo},
                            pointers = {"pointers", pointers_server};

// On the preemptive kernel processes begin when the interface is there.
static void await_network(struct client *client)
{
    const struct weir_endpoint gateway = {weir_ip4(BOARD_GATEWAY), 9};
    struct micro_event event;
    const int probe = client_socket(client, WEIR_DATAGRAM);
    while (client_connect(client, probe, &gateway) == WEIR_NO_ROUTE)
        (void)micro_receive(&event, 0, micro_now_us() + 10000);
    (void)client_close(client, probe);
}

static void run(const struct program *program, uint32_t index)
{
    static const uint32_t stack = PROCESS_STACK;
    struct micro_process *process = micro_process_self();
    micro_client_init(&process->client, &stack, (struct window *)(void *)(link_windows + index * BYTES_WINDOW));
    micro_process_open(process);
    await_network(&process->client);
    const unsigned status = (unsigned)program->run();
    print(program->name);
    print_number(" ended with ", status, "\n");
}

static void poll_process(void) { run(&poll, 0); }
static void http_process(void) { run(&http, 1); }
static void echo_client_process(void) { run(&echo, 2); }
static void pointers_process(void) { run(&pointers, 3); }

// --- the table -------------------------------------------------------------------------------------------------------
#define CLIENT(number, title, entry) \
    { \
#title, entry, title##_memory.stack + STACK_BYTES / 8, 2, PROCESS_STACK, -1, MICRO_BIT(PROCESS_STACK), \
            {{(uintptr_t)link_##title, BYTES_CLIENT, REGION_DATA }, \
              {(uintptr_t)link_windows + (number)*BYTES_WINDOW, BYTES_WINDOW, REGION_DATA } }, &title##_memory.process \
    }
static const struct process_config processes[] = {
    {"stack",
     stack_process,
     STACK_END(stack, STACK_STACK_BYTES),
     2,
     PROCESS_STACK,
     -1,
     0x3e,  // the driver and the clients
     {MEMORY(stack), SHARED(frames), {(uintptr_t)link_windows, CLIENTS *BYTES_WINDOW, REGION_DATA}},
     NULL},
    {"driver",
     driver_process,
     STACK_END(driver, DRIVER_STACK_BYTES),
     3,
     PROCESS_STACK,
     ETHERNET_IRQ,
     MICRO_BIT(PROCESS_STACK),
     {MEMORY(driver), SHARED(frames), ETHERNET_REGION},
     NULL},
    CLIENT(0, poll, poll_process),
    CLIENT(1, http, http_process),
    CLIENT(2, echo, echo_client_process),
    CLIENT(3, pointers, pointers_process),
    {"idle", idle_process, STACK_END(idle, IDLE_STACK_BYTES), 0, MICRO_IDLE, -1, 0, {MEMORY(idle)}, NULL},
};
const struct kernel_table kernel_table = KERNEL_TABLE(processes, sizeof processes / sizeof *processes);

// Together no more sockets than the stack has (tools/micro.mk). The echo server's: a listener, three that wait there,
// and three connections.
static const struct micro_quota server_quota = {.sockets = 8, .calls = WEIR_CFG_MICRO_CALLS},
                                client_quota = {.sockets = 3, .calls = WEIR_CFG_MICRO_CALLS};
#define STACK_CLIENT(number, quota) \
    { \
        2 + (number), (struct window *)(void *)(link_windows + (number)*BYTES_WINDOW), CHANNELS, RING, &(quota) \
    }
const struct micro_service_client stack_clients[] = {STACK_CLIENT(0, client_quota), STACK_CLIENT(1, client_quota),
                                                     STACK_CLIENT(2, server_quota), STACK_CLIENT(3, server_quota)};
const uint32_t stack_client_count = CLIENTS;
WEIR_STATIC_ASSERT(2 * 8 + 2 * 3 <= WEIR_CFG_SOCKETS, "the sockets of all clients");
