// SPDX-License-Identifier: BSD-2-Clause
// Processes that reach the stack by system calls, as in the thesis: an echo server on port 7 (api/flock) that leaves
// its sockets for the kernel to close, the same by BSD's calls, and one that tries the sockets of the other. A thread
// of the kernel takes a letter on each connection to port 9: s starts the server, b that with BSD's calls, k kills it,
// t sends it SIGTERM, c makes it compute, q lets it return, n runs the other and tells how many calls on sockets that
// are not its own succeeded, f runs one that stumbles and p one that wants to switch interrupts off, a tells how often
// an alarm interrupted the server, m tells what is free: bytes of the processes' pool, sockets, and bytes of the
// instance's pool where it has one.
#include "api/bsd/bsd_errno.h"
#include "api/bsd/posix_calls.h"
#include "apps/text.h"
#include "boards/board.h"
#include "boards/overflow.h"
#include "boards/start.h"
#include "kernel/preempt/arch.h"
#include "ports/preempt/preempt_port.h"
#include "ports/preempt/process_sockets.h"

#ifndef STACK_UNIT
#define STACK_UNIT 256
#endif
#define POOL_BYTES (160 * STACK_UNIT)
enum { PROCESS_PRIORITY = 10, CONTROL_PRIORITY = 15, REAPER_PRIORITY = 17, IO_PRIORITY = 20 };

#if WEIR_CFG_ALLOCATOR
static void *from_pool(size_t bytes);
static void to_pool(void *memory);
static uint64_t instance_pool[POOL_BYTES / 8];
#define ALLOCATOR .alloc = from_pool, .free = to_pool
#define INSTANCE NULL, 0
#else
static uint64_t memory[MEMORY_BYTES / 8];
static uint64_t instance_pool[8];
#define ALLOCATOR .alloc = NULL
#define INSTANCE memory, sizeof memory
#endif
static uint64_t pool[POOL_BYTES / 8], io_stack[8 * STACK_UNIT / 8], control_stack[10 * STACK_UNIT / 8];
static uint64_t reaper_stack[5 * STACK_UNIT / 8], idle_stack[STACK_UNIT / 8];
static struct kmem kmem, instance_kmem;
static struct thread control_thread;
static struct preempt_port port;
static struct weir_netif netif;
static struct process server, nosy;

#if WEIR_CFG_ALLOCATOR
static void *from_pool(size_t bytes) { return kmem_alloc(&instance_kmem, bytes); }
static void to_pool(void *freed) { kmem_free(&instance_kmem, freed); }
#endif

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

// --- the processes: from here to the next line of this kind all runs without privileges ------------------------------
static volatile int alarms;  // single address space: what both sides look at
static volatile bool compute, leave;

static void count_alarm(int signal) { alarms += signal == SIGNAL_ALARM; }

static void serve(int connection)
{
    char data[128];
    for (int got;;) {
        process_alarm_ms(50);
        if ((got = tcprecv(connection, data, sizeof data)) > 0)
            (void)tcpsend(connection, data, (unsigned)got);
        else if (!got || leave)  // not when an alarm interrupted it
            return;
        while (compute)
            ;
    }
}

static int echo_server(void *unused)
{
    const struct sockaddr local = {.port = 7};
    (void)unused;
    (void)process_alloc(1000);
    process_handle(SIGNAL_ALARM, count_alarm);
    while (!leave) {
        const int socket = tcpsocket();
        if (tcpbind(socket, &local) == 0 && tcplisten(socket) == 0)
            serve(socket);
        if (!leave)
            tcpclose(socket);
    }
    return 3;
}

// By BSD's calls: a listener, and one connection at a time. A signal ends the wait, no more.
static void echo(struct weir_pollfd *connection)
{
    char data[128];
    const int got = (int)weir_posix_recv(connection->fd, data, sizeof data, 0);
    if (got > 0) {
        (void)weir_posix_send(connection->fd, data, (size_t)got, 0);
    } else if (got == 0 || process_errno() != EINTR) {
        weir_posix_close(connection->fd);
        connection->fd = -1;
    }
}

static int bsd_server(void *unused)
{
    const struct weir_sockaddr_in local = {.sin_family = WEIR_AF_INET, .sin_port = weir_htons(7)};
    struct weir_pollfd listener = {.fd = weir_posix_socket(WEIR_AF_INET, WEIR_SOCK_STREAM, 0), .events = WEIR_POLLIN};
    struct weir_pollfd connection = {.fd = -1, .events = WEIR_POLLIN};
    (void)unused;
    process_handle(SIGNAL_ALARM, count_alarm);
    (void)weir_posix_setsockopt(listener.fd, WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR, &(int){1}, sizeof(int));
    if (weir_posix_bind(listener.fd, (const struct weir_sockaddr *)&local, sizeof local) < 0 ||
        weir_posix_listen(listener.fd, 1) < 0)
        return -1;
    while (!leave) {
        struct weir_pollfd *waiting = connection.fd < 0 ? &listener : &connection;
        process_alarm_ms(50);
        const int found = weir_posix_poll(waiting, 1, -1);
        while (compute)
            ;
        if (found < 0 && process_errno() != EINTR)
            return -2;
        if (found > 0 && waiting == &connection)
            echo(&connection);
        else if (found > 0)
            connection.fd = weir_posix_accept(listener.fd, NULL, NULL);
    }
    return 3;
}

// All numbers that could be the server's. Its own socket shows that the calls do work.
static int try_all(void *unused)
{
    const struct sockaddr local = {.port = 7777};
    char byte = 'x';
    int succeeded = 0;
    (void)unused;
    const int own = tcpsocket();
    for (int socket = 0; socket < 64 * PROCESS_DESCRIPTORS; socket++)
        succeeded += socket != own && (tcprecv_for(socket, &byte, 1, 0) != -1 || tcpsend(socket, &byte, 1) != -1 ||
                                       tcpbind(socket, &local) != -1 || tcpclose(socket) != -1 ||
                                       weir_posix_recv(socket, &byte, 1, WEIR_MSG_DONTWAIT) >= 0 ||
                                       process_errno() != EBADF || weir_posix_close(socket) == 0);
    return tcpbind(own, &local) == 0 ? succeeded : -1000;
}

static int stumbles(void *unused)
{
    (void)unused;
    (void)tcpsocket();
    __builtin_trap();
}

// Where the processor does not end it for that, it has not happened.
static int overreaches(void *unused)
{
    (void)unused;
    (void)arch_interrupts_off();
    return 4;
}

// --- the kernel ------------------------------------------------------------------------------------------------------
static bool begin(struct process *process, const char *name, int (*program)(void *))
{
    static const struct process_region constants[] = {{link_text, link_text_end, false}, {0}};
    const struct process_config config = {name, program, NULL, 7 * STACK_UNIT, PROCESS_PRIORITY, constants};
    compute = leave = false;
    return process_start(process, &config);
}

static int status_of(struct process *process)
{
    int status = 0;
    return process_wait(process, board_now_us() + 5000000, &status) == KERNEL_WOKEN ? status : 9999;
}

// How many the instance has left: opens them all.
static int free_sockets(struct weir_bsd *bsd)
{
    int fds[WEIR_CFG_SOCKETS < 64 ? WEIR_CFG_SOCKETS : 64], count = 0;
    while (count < (int)(sizeof fds / sizeof *fds) &&
           (fds[count] = bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0)) >= 0)
        count++;
    for (int i = 0; i < count; i++)
        (void)bsd_close(bsd, fds[i]);
    return count;
}

static int obey(struct weir_bsd *bsd, char letter, int *second)
{
    switch (letter) {
    case 's':
    case 'b': return begin(&server, "server", letter == 's' ? echo_server : bsd_server) ? server.id : -1;
    case 'k':
    case 't': process_signal_send(&server, letter == 'k' ? SIGNAL_KILL : SIGNAL_TERM); return status_of(&server);
    case 'c': compute = true; return 0;
    case 'q':
        leave = true;
        process_signal_send(&server, SIGNAL_USER);
        return status_of(&server);
    case 'n': return begin(&nosy, "nosy", try_all) ? status_of(&nosy) : -1;
    case 'f':
    case 'p': return begin(&nosy, "nosy", letter == 'f' ? stumbles : overreaches) ? status_of(&nosy) : -1;
    case 'a': return alarms;
    case 'm': *second = free_sockets(bsd); return (int)kmem.free_bytes;
    default: return -1;
    }
}

static void put_number(struct text *text, int number)
{
    if (number < 0)
        text_put(text, "-");
    text_u64(text, (uint64_t)(number < 0 ? -number : number));
    text_put(text, "\n");
}

static void converse(struct weir_bsd *bsd, int connection)
{
    char letter, line[48];
    struct text text;
    if (bsd_recv(bsd, connection, &letter, 1, 0) != 1)
        return;
    int second = 0;
    text_init(&text, line, sizeof line);
    put_number(&text, obey(bsd, letter, &second));
    put_number(&text, second);
    put_number(&text, (int)instance_kmem.free_bytes);
    (void)bsd_send(bsd, connection, line, text.length, 0);
    (void)bsd_recv(bsd, connection, &letter, 1, 0);  // the other side ends it, and has the TIME-WAIT
}

static struct weir_bsd *start(void)
{
    static const struct port_board board = {
        .now_us = board_now_us, .granularity_us = 1, .entropy = board_entropy, ALLOCATOR};
    static const struct process_system system = {&kmem, process_socket_calls, PROCESS_SOCKET_CALLS,
                                                 process_sockets_begin, process_sockets_end};
    static volatile bool unused;
    kmem_init(&kmem, pool, sizeof pool);
    kmem_init(&instance_kmem, instance_pool, sizeof instance_pool);
    preempt_port_init(&port, &board);
    process_memory_guard(&port.core.port);
    board_ethernet(&netif, &unused);
    struct weir *weir = board_start(&port.core, &netif, INSTANCE);
    if (!weir)
        return NULL;
    const struct thread_config io = {.stack = io_stack, .stack_bytes = sizeof io_stack, .priority = IO_PRIORITY};
    const struct thread_config reaper = {
        .stack = reaper_stack, .stack_bytes = sizeof reaper_stack, .priority = REAPER_PRIORITY};
    process_sockets_init(weir, &kmem);
    struct weir_bsd_config config = {.descriptors = 24, .set_errno = preempt_port_set_errno};
    if (!WEIR_CFG_ALLOCATOR) {
        config.memory_bytes = bsd_memory_bytes(config.descriptors);
        config.memory = kmem_alloc(&kmem, config.memory_bytes);
    }
    return preempt_port_start(&port, &io, PROCESS_PRIORITY) && process_init(&system, &reaper)
               ? bsd_create(weir, &config)
               : NULL;
}

static void control(void *unused)
{
    (void)unused;
    struct weir_bsd *bsd = start();
    const struct weir_sockaddr_in local = {.sin_family = WEIR_AF_INET, .sin_port = weir_htons(9)};
    const int listener = bsd ? bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0) : -1;
    if (listener < 0 || bsd_bind(bsd, listener, (const struct weir_sockaddr *)&local, sizeof local) < 0 ||
        bsd_listen(bsd, listener, 2) < 0) {
        board_puts("weir: no memory, or no interface\n");
        return;
    }
    board_puts("weir: processes by port 9\n");
    for (;;) {
        const int connection = bsd_accept(bsd, listener, NULL, NULL);
        if (connection < 0)
            continue;
        converse(bsd, connection);
        (void)bsd_close(bsd, connection);
    }
}

int main(void)
{
    static const struct kernel_board board = {board_now_us,   board_alarm, board_idle,
                                              board_overflow, idle_stack,  sizeof idle_stack};
    const struct thread_config config = {"control",       control, NULL, control_stack, sizeof control_stack,
                                         CONTROL_PRIORITY};
    board_init();
    if (!kernel_init(&board) || !thread_create(&control_thread, &config))
        return 1;
    kernel_start();
}
