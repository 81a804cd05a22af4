// SPDX-License-Identifier: BSD-2-Clause
// Two processes on the host port that talk over the loopback, by the thesis's calls and BSD's through the table of
// system calls: a socket belongs to its process, and one that ends or is killed has its sockets closed, which the other
// sees.
#include "ports/preempt/process_sockets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/bsd/bsd_errno.h"
#include "api/flock/trap.c"
#include "ports/preempt/process_calls.c"
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
extern const char __executable_start[], edata[];  // the program up to the variables that begin as zero

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
    static const struct process_system system = {&kmem, process_socket_calls, PROCESS_SOCKET_CALLS,
                                                 process_sockets_begin, ends};
    static const struct port_board board = {virtual_now, 1, entropy, counting_alloc, counting_free};
    const struct thread_config io = {.stack = stacks[0], .stack_bytes = STACK_BYTES, .priority = IO_PRIORITY};
    const struct thread_config reaper = {
        .stack = stacks[1], .stack_bytes = STACK_BYTES, .priority = MAIN_PRIORITY + 10};
    host_stack_renew(stacks, sizeof stacks);
    host_stack_renew(pool, sizeof pool);
    kmem_init(&kmem, pool, sizeof pool);
    preempt_port_init(&port, &board);
    process_memory_guard(&port.core.port);
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
    static const struct process_region regions[] = {
        {__executable_start, edata, false}, {got, got + sizeof got, true}, {0}};
    const struct process_config config = {"test", program, NULL, PROCESS_STACK, PROCESS_PRIORITY, regions};
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
    if (tcprecv(server_socket, &byte, 1) != -1 || tcpsend(server_socket, "x", 1) != -1 ||
        tcpclose(server_socket) != -1 || tcplisten(server_socket) != -1 || tcpbind(server_socket, &here) != -1 ||
        tcpconnect(server_socket, &here) != -1 || udprecvfrom(server_socket, &from, &byte, 1) != -1 ||
        udpclose(server_socket) != -1)
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
        if (killed != -SIGNAL_KILL || saw != 10 || kmem.free_bytes != free_bytes || during <= before ||
            (round && allocated != before))
            say('!');
    }
}
static void test_a_killed_processes_peer_sees_the_end_and_memory_returns(void **state)
{
    (void)state;
    assert_string_equal(run_sockets(killing), "<>");
}

// The same by BSD's calls: each of them once.
static int asks_by_bsd(void *unused)
{
    const struct weir_sockaddr_in there = {
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(PORT), .sin_addr = {weir_htonl(0x7f000001)}};
    const struct weir_sockaddr *to = (const struct weir_sockaddr *)&there;
    const int stream = weir_posix_socket(WEIR_AF_INET, WEIR_SOCK_STREAM, 0), one = 1;
    int value = 0;
    weir_socklen length = sizeof value;
    (void)unused;
    if (weir_posix_setsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &one, sizeof one) < 0 ||
        weir_posix_getsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &value, &length) < 0 || value != 1)
        return -1;
    struct weir_pollfd poll = {.fd = stream, .events = WEIR_POLLIN};
    if (weir_posix_connect(stream, to, sizeof there) < 0 || weir_posix_poll(&poll, 1, 20) != 0 ||
        weir_posix_send(stream, "hel", 3, 0) != 3 || weir_posix_poll(&poll, 1, -1) != 1 ||
        poll.revents != WEIR_POLLIN || weir_posix_recv(stream, got, sizeof got, 0) != 3)
        return -2;
    if (weir_posix_write(stream, "lo", 2) != 2 || weir_posix_read(stream, got + 3, sizeof got - 3) != 2)
        return -3;
    // Neither the server's socket nor one that is closed is ours.
    char byte;
    if (weir_posix_recv(server_socket, &byte, 1, 0) != -1 || process_errno() != EBADF ||
        weir_posix_close(server_socket) != -1 || weir_posix_bind(stream, to, 1) != -1 || process_errno() != EINVAL)
        return -4;
    if (weir_posix_shutdown(stream, WEIR_SHUT_WR) < 0 || weir_posix_recv(stream, &byte, 1, 0) != 0 ||
        weir_posix_close(stream) < 0)
        return -5;
    return weir_posix_send(stream, "x", 1, 0) == -1 && process_errno() == EBADF ? 1 : -6;
}
static int datagrams_by_bsd(void *unused)
{
    struct weir_sockaddr_in local = {.sin_family = WEIR_AF_INET,
                                     .sin_port = weir_htons(PORT),
                                     .sin_addr = {weir_htonl(0x7f000001)}},
                            from;
    const int here_fd = weir_posix_socket(WEIR_AF_INET, WEIR_SOCK_DGRAM, 0),
              there_fd = weir_posix_socket(WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    weir_socklen length = sizeof from;
    char text[8] = "";
    (void)unused;
    if (weir_posix_bind(here_fd, (struct weir_sockaddr *)&local, sizeof local) < 0 ||
        weir_posix_sendto(there_fd, "abc", 3, 0, (struct weir_sockaddr *)&local, sizeof local) != 3)
        return -1;
    if (weir_posix_recvfrom(here_fd, text, sizeof text, 0, (struct weir_sockaddr *)&from, &length) != 3 ||
        memcmp(text, "abc", 3) != 0)
        return -2;
    return from.sin_addr.s_addr == local.sin_addr.s_addr && from.sin_port != local.sin_port ? 1 : -3;
}
static int serves_by_bsd(void *unused)
{
    const struct weir_sockaddr_in local = {.sin_family = WEIR_AF_INET, .sin_port = weir_htons(PORT)};
    char data[64];
    (void)unused;
    server_socket = weir_posix_socket(WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    if (weir_posix_bind(server_socket, (const struct weir_sockaddr *)&local, sizeof local) < 0 ||
        weir_posix_listen(server_socket, 1) < 0)
        return -1;
    const int connection = weir_posix_accept(server_socket, NULL, NULL);
    for (int length; (length = (int)weir_posix_recv(connection, data, sizeof data, 0)) > 0;)
        if (weir_posix_send(connection, data, (size_t)length, 0) != length)
            return -2;
    return 7;  // both sockets are left to the kernel
}
static void bsd_conversation(void *unused)
{
    (void)unused;
    const size_t free_bytes = kmem.free_bytes;
    say_if(begin(&server, serves_by_bsd), 's');
    wait_ms(10);
    say_if(begin(&client, asks_by_bsd), 'c');
    say_if(status_of(&client) == 1, '1');
    say_if(status_of(&server) == 7, '7');
    say_if(!strcmp(got, "hello"), 'h');
    begin(&client, datagrams_by_bsd);
    say_if(status_of(&client) == 1, 'd');
    say_if(kmem.free_bytes == free_bytes, 'f');
}
static void test_bsd_calls_are_system_calls_too(void **state)
{
    (void)state;
    assert_string_equal(run_sockets(bsd_conversation), "<sc17hdf>");
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

// --- pointers --------------------------------------------------------------------------------------------------------
static char secret[64];  // the kernel's
static const char constant[] = "constant";

// Each call with one pointer that is not the process's: EFAULT, and nothing is done.
static int wrong;
static void refused(intptr_t result) { wrong += result != -1 || process_errno() != EFAULT; }

static void streams_refuse(int stream, void *bad)
{
    struct weir_pollfd good = {.fd = stream, .events = WEIR_POLLIN};
    weir_socklen length = 0;
    int value = 0;
    refused(weir_posix_send(stream, bad, 4, 0));
    wrong += tcpsend(stream, bad, 4) != -1;
    refused(weir_posix_setsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, bad, sizeof value));
    refused(weir_posix_getsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &value, bad));
    length = sizeof value;
    refused(weir_posix_getsockopt(stream, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, bad, &length));
    refused(weir_posix_poll(bad, 1, 0));
    wrong += weir_posix_poll(&good, 1, -1) != 1;
    refused(weir_posix_recv(stream, bad, 4, 0));
    wrong += tcprecv(stream, bad, 4) != -1;
}

static void datagrams_refuse(int datagram, const struct weir_sockaddr_in *self, void *bad)
{
    struct weir_sockaddr_in from;
    weir_socklen length = sizeof from;
    char text[8];
    refused(weir_posix_bind(datagram, bad, sizeof *self));
    refused(weir_posix_connect(datagram, bad, sizeof *self));
    refused(weir_posix_sendto(datagram, "x", 1, 0, bad, sizeof *self));
    refused(weir_posix_sendto(datagram, bad, 4, 0, (const struct weir_sockaddr *)self, sizeof *self));
    wrong += udpsendto(datagram, bad, "x", 1) != -1;
    wrong += weir_posix_sendto(datagram, "fine", 4, 0, (const struct weir_sockaddr *)self, sizeof *self) != 4;
    refused(weir_posix_recvfrom(datagram, bad, 4, 0, NULL, NULL));
    wrong += weir_posix_sendto(datagram, "fine", 4, 0, (const struct weir_sockaddr *)self, sizeof *self) != 4;
    wrong += weir_posix_recvfrom(datagram, text, 4, WEIR_MSG_PEEK, (struct weir_sockaddr *)&from, &length) != 4;
    refused(weir_posix_recvfrom(datagram, text, 4, WEIR_MSG_PEEK, bad, &length));
    while (weir_posix_recv(datagram, text, 4, WEIR_MSG_DONTWAIT) > 0)
        ;
}

static int names_what_is_not_its_own(void *unused)
{
    (void)unused;
    char *own = process_alloc(64);
    char *const bad[] = {NULL, secret, (char *)server.thread.stack, (char *)&kmem, own + 62, (char *)(UINTPTR_MAX - 2)};
    const struct weir_sockaddr_in self = {
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(PORT + 1), .sin_addr = {weir_htonl(0x7f000001)}};
    const int stream = connected(), datagram = udpsocket();
    if (stream < 0 || weir_posix_bind(datagram, (const struct weir_sockaddr *)&self, sizeof self) < 0)
        return -1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wrong += tcpsend(stream, "weir", 4) != 4;  // it comes back
        streams_refuse(stream, bad[i]);
        if (bad[i])  // no address is not a bad one
            datagrams_refuse(datagram, &self, bad[i]);
        wrong += tcprecv(stream, own, 64) != 4 || memcmp(own, "weir", 4) != 0;  // what was refused is still there
    }
    wrong += tcpsend(stream, constant, 4) != 4;
    refused(weir_posix_recv(stream, (char *)(uintptr_t)constant, 4, 0));  // constants are read, and not written
    wrong += tcprecv(stream, own, 64) != 4;
    tcpsend(stream, "bye", 3);
    return wrong;
}

static void pointers(void *unused)
{
    (void)unused;
    char expected[sizeof secret];
    const struct kmem before = kmem;
    wrong = 0;
    memset(secret, 'k', sizeof secret);
    say_if(begin(&server, serves), 's');
    wait_ms(10);
    say_if(begin(&client, names_what_is_not_its_own), 'c');
    say_if(status_of(&client) == 0, '0');
    say_if(status_of(&server) == 5, '5');
    memset(expected, 'k', sizeof expected);
    say_if(memcmp(secret, expected, sizeof secret) == 0, 'k');
    say_if(kmem.free_bytes == before.free_bytes, 'f');
}
static void test_a_pointer_that_is_not_the_processes_is_refused(void **state)
{
    (void)state;
    assert_string_equal(run_sockets(pointers), "<sc05kf>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_socket_belongs_to_its_process),
        cmocka_unit_test(test_a_killed_processes_peer_sees_the_end_and_memory_returns),
        cmocka_unit_test(test_bsd_calls_are_system_calls_too),
        cmocka_unit_test(test_no_number_is_two_processes),
        cmocka_unit_test(test_a_pointer_that_is_not_the_processes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
