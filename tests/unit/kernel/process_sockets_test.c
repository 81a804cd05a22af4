// SPDX-License-Identifier: BSD-2-Clause
// Two processes on the host port that talk over the loopback, by the thesis's calls through the table of system calls: a socket belongs to
// its process, and one that ends or is killed has its sockets closed, which the other sees.
#include "ports/preempt/process_sockets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/flock/trap.c"
#include "ports/preempt/preempt_port.h"
#include "virtual_kernel.h"

#define PROCESS_STACK ((size_t)196608)
#define PORT 5000
enum { PROCESS_PRIORITY = 20, IO_PRIORITY = 120 };

static uint64_t pool[5 * PROCESS_STACK / 8], stacks[2][STACK_BYTES / 8];
static struct kmem kmem;
static struct preempt_port port;
static struct process server, client;
static size_t allocated;  // by the instance
static int server_socket;
static char got[64];

static void entropy(void *out, size_t bytes) { memset(out, 0x5a, bytes); }
static void *counting_alloc(size_t bytes)
{
    size_t *memory = malloc(bytes + 16);
    if (!memory)
        return NULL;
    *memory = bytes;
    allocated += bytes;
    return memory + 16 / sizeof *memory;
}
static void counting_free(void *memory)
{
    size_t *whole = (size_t *)memory - 16 / sizeof *whole;
    allocated -= *whole;
    free(whole);
}

static void ends(struct process *process)
{
    process_sockets_end(process);
    host_stack_renew(process->thread.stack, process->thread.stack_bytes);
}

static thread_entry *scenario;
static void with_sockets(void *unused)
{
    static const struct process_system system = {&kmem, process_socket_calls, PROCESS_SOCKET_CALLS, process_sockets_begin, ends};
    static const struct port_board board = {virtual_now, 1, entropy, counting_alloc, counting_free};
    const struct thread_config io = {.stack = stacks[0], .stack_bytes = STACK_BYTES, .priority = IO_PRIORITY};
    const struct thread_config reaper = {.stack = stacks[1], .stack_bytes = STACK_BYTES, .priority = MAIN_PRIORITY + 10};
    host_stack_renew(stacks, sizeof stacks);
    host_stack_renew(pool, sizeof pool);
    kmem_init(&kmem, pool, sizeof pool);
    preempt_port_init(&port, &board);
    struct weir *weir = weir_create(NULL, 0, &port.core.port, NULL);
    port_attach(&port.core, weir);
    process_sockets_init(weir, &kmem);
    memset(got, 0, sizeof got);
    server_socket = -1;
    say_if(preempt_port_start(&port, &io, 1) && process_init(&system, &reaper), '<');
    scenario(unused);
    say('>');
    thread_delete(&port.thread);
    weir_destroy(weir);
}
static const char *run_sockets(thread_entry *entry)
{
    scenario = entry;
    return run(with_sockets);
}

static bool begin(struct process *process, int (*program)(void *))
{
    const struct process_config config = {"test", program, NULL, PROCESS_STACK, PROCESS_PRIORITY};
    return process_start(process, &config);
}
static int status_of(struct process *process)
{
    int status = 99;
    (void)process_wait(process, now_us + 5000 * MS, &status);
    return status;
}
static void wait_ms(uint64_t ms) { thread_sleep_until(now_us + ms * MS); }

static const struct sockaddr here = {.addr = 0, .port = PORT};

// Answers each piece; "bye" ends it, with the socket open.
static int serves(void *unused)
{
    char data[64];
    (void)unused;
    server_socket = tcpsocket();
    if (tcpbind(server_socket, &here) < 0 || tcplisten(server_socket) < 0)
        return -1;
    for (int length; (length = tcprecv(server_socket, data, sizeof data)) > 0;) {
        if (!memcmp(data, "bye", 3))
            return 5;
        tcpsend(server_socket, data, (unsigned)length);
    }
    return 6;
}

static int connected(void)
{
    const struct sockaddr there = {.addr = pton(127, 0, 0, 1), .port = PORT};
    const int socket = tcpsocket();
    return tcpconnect(socket, &there) == 0 ? socket : -1;
}

static int asks(void *unused)
{
    (void)unused;
    const int socket = connected();
    if (socket < 0 || tcpsend(socket, "hello", 5) != 5 || tcprecv(socket, got, sizeof got) != 5)
        return -1;
    // The server's socket is not ours, whatever the call.
    char byte;
    struct sockaddr from;
    if (tcprecv(server_socket, &byte, 1) != -1 || tcpsend(server_socket, "x", 1) != -1 || tcpclose(server_socket) != -1 ||
        tcplisten(server_socket) != -1 || tcpbind(server_socket, &here) != -1 || tcpconnect(server_socket, &here) != -1 ||
        udprecvfrom(server_socket, &from, &byte, 1) != -1 || udpclose(server_socket) != -1)
        return -2;
    if (tcpsend(socket, "again", 5) != 5 || tcprecv(socket, got + 5, sizeof got - 5) != 5)  // it was not harmed
        return -3;
    tcpsend(socket, "bye", 3);
    return tcprecv(socket, &byte, 1) == 0 ? 1 : -4;  // the server ended: FIN. Ours stays open, too
}

static void conversation(void *unused)
{
    (void)unused;
    const size_t free_bytes = kmem.free_bytes;
    say_if(begin(&server, serves), 's');
    wait_ms(10);
    say_if(begin(&client, asks), 'c');
    say_if(status_of(&client) == 1, '1');
    say_if(status_of(&server) == 5, '5');
    say_if(!strcmp(got, "helloagain"), 'h');
    say_if(kmem.free_bytes == free_bytes, 'f');
}
static void test_a_socket_belongs_to_its_process(void **state)
{
    (void)state;
    assert_string_equal(run_sockets(conversation), "<sc15hf>");
}

static int waits_for_the_end(void *unused)
{
    char byte;
    (void)unused;
    const int socket = connected();
    const int result = tcprecv(socket, &byte, 1);
    return result == 0 ? 10 : result;
}
static void killing(void *unused)
{
    (void)unused;
    for (int round = 0; round < 20; round++) {
        const size_t free_bytes = kmem.free_bytes, before = allocated;
        begin(&server, serves);
        wait_ms(10);
        begin(&client, waits_for_the_end);
        wait_ms(100);
        const size_t during = allocated;
        process_signal_send(&server, SIGNAL_KILL);
        const int killed = status_of(&server), saw = status_of(&client);
        wait_ms(130000);  // both ends are forgotten
        if (killed != -SIGNAL_KILL || saw != 10 || kmem.free_bytes != free_bytes || during <= before || (round && allocated != before))
            say('!');
    }
}
static void test_a_killed_processes_peer_sees_the_end_and_memory_returns(void **state)
{
    (void)state;
    assert_string_equal(run_sockets(killing), "<>");
}

// Two sockets of the same number are two sockets: numbers of processes do not meet.
static int opens(void *unused)
{
    (void)unused;
    const int socket = udpsocket(), second = tcpsocket();
    const struct sockaddr local = {.port = 6000};
    const int bound = udpbind(socket, &local);
    process_sleep_ms(10);
    return bound == 0 ? socket * 100 + second : -1;
}
static void numbers(void *unused)
{
    (void)unused;
    begin(&server, opens);
    begin(&client, opens);
    const int first = status_of(&server), second = status_of(&client);
    say_if(first == 1, '1');    // numbers 0 and 1
    say_if(second == -1, 'u');  // the port is the other's
    begin(&server, opens);
    say_if(status_of(&server) == 2 * PROCESS_DESCRIPTORS * 101 + 1, '2');
}
static void test_no_number_is_two_processes(void **state)
{
    (void)state;
    assert_string_equal(run_sockets(numbers), "<1u2>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_socket_belongs_to_its_process),
        cmocka_unit_test(test_a_killed_processes_peer_sees_the_end_and_memory_returns),
        cmocka_unit_test(test_no_number_is_two_processes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
