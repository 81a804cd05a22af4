// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// not on mips: qemu-mips has no stacks for so many contexts
// What a client, the server and a driver run as processes of the microkernel, over system calls that are this file's:
// each process is a context of its own, in virtual time. On a board: tests/firmware/test_micro.py.
#define _GNU_SOURCE
#include "ports/micro/process_sockets.h"
#include "ports/micro/processes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <ucontext.h>

#include "checks.h"
#include "kernel/micro/micro.h"
#include "weir/error.h"

enum { SERVER, DRIVER, CLIENT, STRANGER, COUNT, NOBODY };
#define STACK_BYTES 262144u
#define CHANNELS 4u
#define RING 2048u
#define PORT 7

static struct process {
    ucontext_t context;
    uint32_t bits;
    uint32_t *call;        // of who waits for a reply; NULL: none
    uint32_t to, calls;    // whom; from whom, a bit mask: those not received yet
    int32_t result;        // of the call, once it is over
    uint64_t deadline_us;  // waits in micro_receive; 0: it runs
    bool there, gone;
} processes[COUNT];
static uint8_t stacks[COUNT][STACK_BYTES];
static ucontext_t scheduler;
static uint32_t current;
static uint64_t now_us;
static bool finished;
static uint32_t interrupts_on, printed;

// --- the kernel ------------------------------------------------------------------------------------------------------

static void yield(void) { swapcontext(&processes[current].context, &scheduler); }

int32_t micro_call(uint32_t process, uint32_t message[MICRO_MESSAGE_WORDS])
{
    struct process *const self = &processes[current];
    if (processes[process].gone)
        return MICRO_DEAD;
    self->call = message;
    self->to = process;
    processes[process].calls |= MICRO_BIT(current);
    while (self->call)
        yield();
    return self->result;
}

int32_t micro_receive(struct micro_event *event, uint32_t unused, uint64_t deadline_us)
{
    struct process *const self = &processes[current];
    CHECK(unused == 0);
    for (;;) {
        event->bits = self->bits;
        self->bits = 0;
        for (uint32_t from = 0; from < COUNT; from++)
            if (self->calls & MICRO_BIT(from)) {
                self->calls &= ~MICRO_BIT(from);
                event->sender = from;
                memcpy(event->message, processes[from].call, sizeof event->message);
                return MICRO_MESSAGE;
            }
        if (event->bits)
            return MICRO_NOTIFIED;
        if (deadline_us <= now_us)
            return MICRO_TIMEOUT;
        self->deadline_us = deadline_us;
        yield();
        self->deadline_us = 0;
    }
}

int32_t micro_reply(uint32_t process, const uint32_t message[MICRO_MESSAGE_WORDS])
{
    struct process *const to = &processes[process];
    CHECK(to->call && to->to == current && !(processes[current].calls & MICRO_BIT(process)));
    memcpy(to->call, message, MICRO_MESSAGE_WORDS * sizeof *message);
    to->call = NULL;
    to->result = MICRO_OK;
    return MICRO_OK;
}

int32_t micro_notify(uint32_t process)
{
    processes[process].bits |= MICRO_BIT(current);
    return processes[process].gone ? MICRO_DEAD : MICRO_OK;
}

static void ends(uint32_t process)
{
    processes[process].gone = true;
    processes[SERVER].bits |= MICRO_BIT_DEATH(process);
    for (uint32_t i = 0; i < COUNT; i++)
        if (processes[i].call && processes[i].to == process) {
            processes[i].call = NULL;
            processes[i].result = MICRO_DEAD;
        }
}

void micro_exit(void)
{
    ends(current);
    yield();
    abort();
}

uint64_t micro_now_us(void) { return ++now_us; }
int32_t micro_interrupt_on(void)
{
    CHECK(current == DRIVER);
    interrupts_on++;
    return MICRO_OK;
}
int32_t micro_print(const char *text, uint32_t bytes)
{
    CHECK(bytes > 0 && text[bytes - 1] == '\n');
    printed++;
    return MICRO_OK;
}
uint32_t micro_random(void) { return 4; }
static uint8_t foreign[64];
int32_t micro_owns(const void *memory, uint32_t bytes, uint32_t write)
{
    (void)bytes, (void)write;
    return (const uint8_t *)memory >= foreign && (const uint8_t *)memory < foreign + sizeof foreign ? MICRO_FAULT
                                                                                                    : MICRO_OK;
}
void *micro_self(void) { return &processes[current]; }

static bool runs(const struct process *process)
{
    return process->there && !process->gone && !process->call &&
           (!process->deadline_us || process->bits || process->calls || process->deadline_us <= now_us);
}

// Until the client has finished. What nobody can go on from is told.
static void run_all(void)
{
    for (uint32_t idle = 0; !finished && idle < 2;) {
        uint64_t next_us = MICRO_FOREVER;
        idle++;
        for (current = 0; current < COUNT && !finished; current++) {
            if (runs(&processes[current])) {
                swapcontext(&scheduler, &processes[current].context);
                idle = 0;
            }
            const struct process *const one = &processes[current];
            if (one->there && !one->gone && one->deadline_us && one->deadline_us < next_us)
                next_us = one->deadline_us;
        }
        if (idle && next_us != MICRO_FOREVER) {
            now_us = next_us > now_us ? next_us : now_us;
            idle = 0;
        }
    }
    CHECK(finished);
}

// --- the processes ---------------------------------------------------------------------------------------------------

static struct micro_service service;
static struct micro_relay relay;
static struct frames frames;
static struct window *window;
static void *service_memory;
static const uint32_t server_number = SERVER;
static uint32_t silenced, asked;  // frames that wait in the card
static uint8_t sent[1600];
static uint32_t sent_length;
static bool driver_ends;

static struct micro_service_client service_clients[1];
static struct micro_service_config config;

static void serve(void) { micro_serve(&service, &config); }

// Who has 10.0.0.1, says 10.0.0.2.
static const uint8_t question[42] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0,  0, 0, 0, 5, 8, 6, 0, 1, 8, 0,  6, 4, 0,
                                     1,    2,    0,    0,    0,    0,    5, 10, 0, 0, 2, 0, 0, 0, 0, 0, 0, 10, 0, 0, 1};

static int card_poll(struct weir_netif *netif, int budget)
{
    int count = 0;
    for (; count < budget && asked; count++, asked--) {
        const struct weir_slice slice = {question, sizeof question};
        const struct weir_frame frame = {.slices = &slice, .length = sizeof question, .count = 1};
        weir_netif_deliver(netif, &frame);
    }
    if (driver_ends)
        micro_exit();
    return count;
}
static enum weir_tx_verdict card_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    (void)netif;
    for (uint32_t i = sent_length = 0; i < tx->count; sent_length += tx->slices[i++].length)
        memcpy(sent + sent_length, tx->slices[i].data, tx->slices[i].length);
    return WEIR_TX_DONE;
}
static void silence(void) { silenced++; }

static void drive(void)
{
    static const struct weir_driver card = {.name = "card", .tx = card_tx, .poll = card_poll};
    static struct weir_netif netif;
    weir_netif_init(&netif, "eth0", &card, &weir_link_ethernet);
    memcpy(netif.mac, (const uint8_t[6]){2, 0, 0, 0, 0, 9}, 6);
    micro_drive(&relay, &netif, &frames, &server_number, silence);
}

static void interrupt(void) { processes[DRIVER].bits |= MICRO_BIT_INTERRUPT; }

static void (*script)(void);
static void play(void)
{
    script();
    finished = true;
    yield();
}

static void (*stranger_script)(void);
static void play_stranger(void)
{
    stranger_script();
    micro_exit();
}

static void begin(uint32_t process, void (*entry)(void))
{
    struct process *const one = &processes[process];
    getcontext(&one->context);
    one->context.uc_stack.ss_sp = stacks[process];
    one->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&one->context, entry, 0);
    one->there = true;
}

static void run(void (*client)(void), void (*driver)(void), void (*stranger)(void), size_t memory_bytes)
{
    memset(processes, 0, sizeof processes);
    memset(&frames, 0, sizeof frames);
    now_us = 1000;
    finished = driver_ends = false;
    failures = 0;
    interrupts_on = printed = silenced = asked = sent_length = 0;
    window = aligned_alloc(64, (window_bytes(CHANNELS, RING) + 63) & ~(size_t)63);
    memset(window, 0, window_bytes(CHANNELS, RING));
    service_memory = malloc(memory_bytes);
    service_clients[0] = (struct micro_service_client){CLIENT, window, CHANNELS, RING, NULL};
    config = (struct micro_service_config){.driver = DRIVER,
                                           .frames = &frames,
                                           .clients = service_clients,
                                           .client_count = 1,
                                           .address = weir_ip4(10, 0, 0, 1),
                                           .prefix_length = 24,
                                           .gateway = weir_ip4(10, 0, 0, 254),
                                           .memory = service_memory,
                                           .memory_bytes = memory_bytes};
    script = client;
    stranger_script = stranger;
    begin(SERVER, serve);
    if (driver)
        begin(DRIVER, driver);
    begin(CLIENT, play);
    if (stranger)
        begin(STRANGER, play_stranger);
    run_all();
    free(window);
    free(service_memory);
    assert_int_equal(failures, 0);
}

static void pass_us(uint64_t us)
{
    struct micro_event event;
    const uint64_t until_us = now_us + us;
    while (micro_receive(&event, 0, until_us) != MICRO_TIMEOUT)
        ;
}

// --- what they do ----------------------------------------------------------------------------------------------------

static struct client client;

// Builds with an allocator have none here: their sockets are refused, and the client learns why.
static void sockets(void)
{
    micro_client_init(&client, &server_number, window);
    CHECK(micro_process_self() == (void *)&processes[CLIENT]);
    uint8_t data[16] = "own";
    CHECK(client_copy_in(&client, data, foreign, 5) == WEIR_FAULT && strcmp((const char *)data, "own") == 0);
    CHECK(client_copy_out(&client, foreign + 8, data, 5) == WEIR_FAULT && foreign[8] == 0);
    CHECK(client_copy_in(&client, data, "hello", 6) == WEIR_OK && strcmp((const char *)data, "hello") == 0);
    CHECK(client_copy_out(&client, data, "other", 6) == WEIR_OK && strcmp((const char *)data, "other") == 0);
    client.timeout_us = 20000;
    uint64_t from_us = now_us;
    CHECK(client_poll(&client, NULL, 0) == 0 && now_us - from_us >= 20000 && now_us - from_us < 30000);
    if (WEIR_CFG_ALLOCATOR) {
        CHECK(client_socket(&client, WEIR_DATAGRAM) == WEIR_NO_MEMORY);
        CHECK(client_bind(&client, 0, &(struct weir_endpoint){weir_addr_any(), PORT}) < 0);
        return;
    }
    const struct weir_endpoint there = {weir_ip4(10, 0, 0, 2), PORT};
    const int socket = client_socket(&client, WEIR_DATAGRAM);
    CHECK(socket >= 0 && client_bind(&client, socket, &(struct weir_endpoint){weir_addr_any(), PORT}) == WEIR_OK);
    CHECK(client_sendto(&client, socket, foreign, 5, &there) == WEIR_FAULT);
    CHECK(client_sendto(&client, socket, "hello", 5, &there) == 5);
    CHECK(client_recvfrom(&client, socket, data, sizeof data, NULL) == WEIR_NO_ROUTE);
    from_us = now_us;
    CHECK(client_recvfrom(&client, socket, data, sizeof data, NULL) == WEIR_AGAIN && now_us - from_us >= 20000);
    CHECK(client_close(&client, socket) == WEIR_OK);
}

static void a_client_has_sockets_by_messages(void **state)
{
    (void)state;
    run(sockets, NULL, NULL, weir_size(NULL));
    assert_true(service.messages >= 2 && service.turns >= 2);
}

// The driver comes, and the interface has its address; a frame comes by an interrupt, and its answer goes.
static void frames_come_and_go(void)
{
    pass_us(1000000);
    CHECK(service.netif.netif.weir == service.weir && service.netif.frames == &frames);
    const uint32_t before = interrupts_on;
    sent_length = 0;
    asked = 1;
    interrupt();
    pass_us(100000);
    CHECK(silenced == before + 1 && interrupts_on == before + 1);
    CHECK(sent_length >= 42 && sent[21] == 2 && memcmp(sent, question + 6, 6) == 0);
    CHECK(memcmp(sent + 22, (const uint8_t[6]){2, 0, 0, 0, 0, 9}, 6) == 0);
    driver_ends = true;
    interrupt();
    pass_us(100000);
    CHECK(processes[DRIVER].gone && !service.netif.frames && service.netif.netif.weir == service.weir);
}

static void a_driver_comes_and_goes(void **state)
{
    (void)state;
    run(frames_come_and_go, drive, NULL, weir_size(NULL));
}

static struct micro_message refused;
static void asks_for_a_socket(void)
{
    refused = (struct micro_message){.operation = MICRO_OPEN};
    CHECK(micro_call(SERVER, (uint32_t *)(void *)&refused) == MICRO_OK);
}
static void waits(void) { pass_us(100000); }

static void who_has_no_window_is_refused(void **state)
{
    (void)state;
    run(waits, NULL, asks_for_a_socket, weir_size(NULL));
    assert_int_equal((int32_t)refused.operation, WEIR_PERMISSION);
    assert_true(processes[STRANGER].gone);
}

// The stranger here plays the kernel: it ends the client's process in the middle, and the server lets go of it.
static void nothing_more(void) { pass_us(1000); }
static void ends_the_client(void)
{
    pass_us(5000);
    CHECK(service.server.session[0].window == window);
    ends(CLIENT);
    pass_us(5000);
    CHECK(service.server.session[0].window == NULL);
    finished = true;
}
static void until_ended(void) { pass_us(MICRO_FOREVER / 2); }

static void a_client_that_ends_leaves_nothing(void **state)
{
    (void)state;
    run(until_ended, NULL, ends_the_client, weir_size(NULL));
}

static void without_memory_there_is_no_server(void **state)
{
    (void)state;
    run(nothing_more, NULL, NULL, 16);
    assert_true(processes[SERVER].gone);
    assert_int_equal(printed, 1);
}

static void calls_a_server_that_is_gone(void)
{
    pass_us(1000);
    micro_client_init(&client, &server_number, window);
    CHECK(client_socket(&client, WEIR_STREAM) == WEIR_CLOSED);
}

static void the_server_is_gone(void **state)
{
    (void)state;
    run(calls_a_server_that_is_gone, NULL, NULL, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_has_sockets_by_messages),  cmocka_unit_test(a_driver_comes_and_goes),
        cmocka_unit_test(who_has_no_window_is_refused),      cmocka_unit_test(a_client_that_ends_leaves_nothing),
        cmocka_unit_test(without_memory_there_is_no_server), cmocka_unit_test(the_server_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
