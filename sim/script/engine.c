// SPDX-License-Identifier: BSD-2-Clause
// The player behind the runner of conversation scripts: one Weir host with one interface, in virtual time, told what to
// do line by line on standard input. It knows nothing of scripts: sim/script/*.py parse them, play them and judge.
//
//     open ADDRESS PREFIX MTU RECEIVE SEND CC ECN   the host appears, with an address of either family ("-" or 0: the
//                                      default)
//     until US                         time passes up to US; what is due before is done, what is due then is not yet
//     wait US                          time passes until something is sent or a call returns, at most to the end of US
//     rx HEX                           a packet comes in
//     call NAME ARGUMENT…              a system call in a task of its own: a number, xHEX (bytes in), oN (N bytes out),
//                                      nN (N at address 0)
//     info FD                          TCP_INFO, name=value …
//     mtu BYTES                        the interface's MTU from now on
//
// Answers: `tx US HEX` (a packet left), `ret US RESULT ERRNO HEX…` (a call returned, with what it left in each buffer),
// `err TEXT`, and at last `ok US blocked|idle`. US counts from the start of the script.
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "bsd/weir_bsd.h"
#include "weir/netif.h"
#include "weir/stats.h"

#define START_US UINT64_C(1000000000)  // of the instance's time: away from 0
#define STACK_BYTES (256u * 1024u)
#define LINE_BYTES (8u * 1024u * 1024u)
#define ARGUMENTS 8
#define POLLS_WITHOUT_REST 100000u
#define FIRST_DESCRIPTOR 100  // so that the script's numbers are never taken for ours

struct argument {
    intptr_t number;
    uint8_t *bytes;  // NULL: a number
    size_t length;
};

struct task {
    ucontext_t context, back;
    const char *name;
    struct argument arguments[ARGUMENTS];
    int count;
    intptr_t result;
    int error;
    bool running, done, waiting, woken;
    const void *token;
    uint64_t deadline_us;
    uint8_t stack[STACK_BYTES];
};

struct engine {
    struct weir *weir;
    struct weir_bsd *bsd;
    struct weir_netif netif;
    struct weir_port port;
    uint64_t now_us, next_us, random;
    struct task task;
    uint64_t reported;  // packets and returns so far
};

static void fail(const char *text)
{
    printf("err %s\n", text);
    fflush(stdout);
    exit(1);
}

// --- port ------------------------------------------------------------------------------------------------------------

static void *allocate(void *context, size_t bytes) { return (void)context, malloc(bytes); }
static void release(void *context, void *memory, size_t bytes) { (void)context, (void)bytes, free(memory); }
static uint64_t port_now(void *context) { return ((struct engine *)context)->now_us; }
static void kick(void *context) { (void)context; }

static void entropy(void *context, void *out, size_t bytes)
{
    struct engine *e = context;
    for (uint8_t *to = out; bytes--; to++) {
        e->random ^= e->random << 13;
        e->random ^= e->random >> 7;
        e->random ^= e->random << 17;
        *to = (uint8_t)(e->random >> 24);
    }
}

static int wait_in_task(void *context, const void *token, uint64_t deadline_us)
{
    struct task *task = &((struct engine *)context)->task;
    if (!task->running)
        fail("wait outside of a call");
    task->waiting = true;
    task->woken = false;
    task->token = token;
    task->deadline_us = deadline_us;
    swapcontext(&task->context, &task->back);
    return task->woken ? 0 : 1;
}

static void wake(void *context, const void *token)
{
    struct task *task = &((struct engine *)context)->task;
    if (task->waiting && task->token == token)
        task->woken = true;
}

static int set_errno_of_task;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): the C library's errno
                               // would not survive
static void set_errno(void *context, int value) { (void)context, set_errno_of_task = value; }

// A caller's address may be wrong: the one that scripts use for that is 0.
static int copy_in(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if (!from)
        return -1;
    memcpy(to, from, bytes);
    return 0;
}
static int copy_out(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if (!to)
        return -1;
    memcpy(to, from, bytes);
    return 0;
}

// --- driver ----------------------------------------------------------------------------------------------------------

static void print_hex(const uint8_t *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        putchar(digits[bytes[i] >> 4]);
        putchar(digits[bytes[i] & 15]);
    }
}

static enum weir_tx_verdict driver_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct engine *e = netif->driver_data;
    printf("tx %" PRIu64 " ", e->now_us - START_US);
    for (uint16_t i = 0; i < tx->count; i++)
        print_hex(tx->slices[i].data, tx->slices[i].length);
    putchar('\n');
    e->reported++;
    return WEIR_TX_DONE;
}

static const struct weir_driver driver = {.name = "script", .tx = driver_tx};

// --- system calls ----------------------------------------------------------------------------------------------------

static int number(const struct task *t, int i) { return i < t->count ? (int)t->arguments[i].number : 0; }
static void *bytes(const struct task *t, int i) { return i < t->count ? t->arguments[i].bytes : NULL; }
static size_t length(const struct task *t, int i) { return i < t->count ? t->arguments[i].length : 0; }

static intptr_t do_accept(struct weir_bsd *b, struct task *t)
{
    weir_socklen size = (weir_socklen)length(t, 1);
    return bsd_accept4(b, number(t, 0), bytes(t, 1), bytes(t, 1) ? &size : NULL, number(t, 2));
}
static intptr_t do_bind(struct weir_bsd *b, struct task *t)
{
    return bsd_bind(b, number(t, 0), bytes(t, 1), (weir_socklen)length(t, 1));
}
static intptr_t do_close(struct weir_bsd *b, struct task *t) { return bsd_close(b, number(t, 0)); }
static intptr_t do_connect(struct weir_bsd *b, struct task *t)
{
    return bsd_connect(b, number(t, 0), bytes(t, 1), (weir_socklen)length(t, 1));
}
static intptr_t do_epoll_create(struct weir_bsd *b, struct task *t) { return (void)t, bsd_epoll_create(b); }
static intptr_t do_epoll_ctl(struct weir_bsd *b, struct task *t)
{
    return bsd_epoll_ctl(b, number(t, 0), number(t, 1), number(t, 2), bytes(t, 3));
}
static intptr_t do_epoll_wait(struct weir_bsd *b, struct task *t)
{
    return bsd_epoll_wait(b, number(t, 0), bytes(t, 1), number(t, 2), number(t, 3));
}
static intptr_t do_fcntl(struct weir_bsd *b, struct task *t)
{
    return bsd_fcntl(b, number(t, 0), number(t, 1), number(t, 2));
}
static intptr_t do_getpeername(struct weir_bsd *b, struct task *t)
{
    weir_socklen size = (weir_socklen)length(t, 1);
    return bsd_getpeername(b, number(t, 0), bytes(t, 1), &size);
}
static intptr_t do_getsockname(struct weir_bsd *b, struct task *t)
{
    weir_socklen size = (weir_socklen)length(t, 1);
    return bsd_getsockname(b, number(t, 0), bytes(t, 1), &size);
}
static intptr_t do_getsockopt(struct weir_bsd *b, struct task *t)
{
    weir_socklen size = (weir_socklen)length(t, 3);
    const int result = bsd_getsockopt(b, number(t, 0), number(t, 1), number(t, 2), bytes(t, 3), &size);
    if (result == 0)
        t->arguments[3].length = size;
    return result;
}
static intptr_t do_setsockopt(struct weir_bsd *b, struct task *t)
{
    return bsd_setsockopt(b, number(t, 0), number(t, 1), number(t, 2), bytes(t, 3), (weir_socklen)length(t, 3));
}
static intptr_t do_ioctl(struct weir_bsd *b, struct task *t)
{
    return bsd_ioctl(b, number(t, 0), (unsigned long)number(t, 1), bytes(t, 2));
}
static intptr_t do_listen(struct weir_bsd *b, struct task *t) { return bsd_listen(b, number(t, 0), number(t, 1)); }
static intptr_t do_poll(struct weir_bsd *b, struct task *t)
{
    return bsd_poll(b, bytes(t, 0), (size_t)number(t, 1), number(t, 2));
}
static intptr_t do_recv(struct weir_bsd *b, struct task *t)
{
    weir_socklen size = (weir_socklen)length(t, 3);
    return bsd_recvfrom(b, number(t, 0), bytes(t, 1), length(t, 1), number(t, 2), bytes(t, 3),
                        bytes(t, 3) ? &size : NULL);
}
static intptr_t do_recvmsg(struct weir_bsd *b, struct task *t)  // fd, bytes, flags, name out, msg_flags out
{
    struct weir_iovec vector = {bytes(t, 1), length(t, 1)};
    struct weir_msghdr message = {
        .msg_name = bytes(t, 3), .msg_namelen = (weir_socklen)length(t, 3), .msg_iov = &vector, .msg_iovlen = 1};
    const intptr_t result = bsd_recvmsg(b, number(t, 0), &message, number(t, 2));
    if (bytes(t, 4))
        memcpy(bytes(t, 4), &message.msg_flags, sizeof message.msg_flags);
    return result;
}
static intptr_t do_send(struct weir_bsd *b, struct task *t)
{
    return bsd_sendto(b, number(t, 0), bytes(t, 1), length(t, 1), number(t, 2), bytes(t, 3),
                      (weir_socklen)length(t, 3));
}
static intptr_t do_sendmsg(struct weir_bsd *b, struct task *t)
{
    struct weir_iovec vector = {bytes(t, 1), length(t, 1)};
    const struct weir_msghdr message = {
        .msg_name = bytes(t, 3), .msg_namelen = (weir_socklen)length(t, 3), .msg_iov = &vector, .msg_iovlen = 1};
    return bsd_sendmsg(b, number(t, 0), &message, number(t, 2));
}
static intptr_t do_shutdown(struct weir_bsd *b, struct task *t) { return bsd_shutdown(b, number(t, 0), number(t, 1)); }
static intptr_t do_socket(struct weir_bsd *b, struct task *t)
{
    return bsd_socket(b, number(t, 0), number(t, 1), number(t, 2));
}

static const struct call {
    const char *name;
    intptr_t (*run)(struct weir_bsd *bsd, struct task *task);
} calls[] = {
    {"accept", do_accept},
    {"bind", do_bind},
    {"close", do_close},
    {"connect", do_connect},
    {"epoll_create", do_epoll_create},
    {"epoll_ctl", do_epoll_ctl},
    {"epoll_wait", do_epoll_wait},
    {"fcntl", do_fcntl},
    {"getpeername", do_getpeername},
    {"getsockname", do_getsockname},
    {"getsockopt", do_getsockopt},
    {"ioctl", do_ioctl},
    {"listen", do_listen},
    {"poll", do_poll},
    {"recv", do_recv},
    {"recvmsg", do_recvmsg},
    {"send", do_send},
    {"sendmsg", do_sendmsg},
    {"setsockopt", do_setsockopt},
    {"shutdown", do_shutdown},
    {"socket", do_socket},
};

static const struct call *find_call(const char *name)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    return NULL;
}

// --- the task --------------------------------------------------------------------------------------------------------

static void task_main(unsigned high, unsigned low)  // makecontext passes ints only
{
    struct engine *e = (struct engine *)(uintptr_t)((uint64_t)high << 32 | low);
    struct task *task = &e->task;
    set_errno_of_task = 0;
    task->result = find_call(task->name)->run(e->bsd, task);
    task->error = task->result < 0 ? set_errno_of_task : 0;
    task->done = true;
    swapcontext(&task->context, &task->back);
}

static void task_report(struct engine *e)
{
    struct task *task = &e->task;
    printf("ret %" PRIu64 " %ld %d", e->now_us - START_US, (long)task->result, task->error);
    for (int i = 0; i < task->count; i++) {
        putchar(' ');
        putchar('x');
        print_hex(task->arguments[i].bytes, task->arguments[i].bytes ? task->arguments[i].length : 0);
        free(task->arguments[i].bytes);
    }
    putchar('\n');
    task->running = task->done = task->waiting = false;
    task->count = 0;
    e->reported++;
}

static void task_enter(struct engine *e)
{
    e->task.waiting = false;
    swapcontext(&e->task.back, &e->task.context);
    if (e->task.done)
        task_report(e);
}

static bool task_ready(const struct engine *e)
{
    return e->task.waiting && (e->task.woken || e->task.deadline_us <= e->now_us);
}

static void task_start(struct engine *e)
{
    struct task *task = &e->task;
    getcontext(&task->context);
    task->context.uc_stack.ss_sp = task->stack;
    task->context.uc_stack.ss_size = sizeof task->stack;
    task->context.uc_link = NULL;
    const uint64_t address = (uintptr_t)e;
    makecontext(&task->context, (void (*)(void))task_main, 2, (unsigned)(address >> 32), (unsigned)address);
    task->running = true;
    task_enter(e);
}

// --- time ------------------------------------------------------------------------------------------------------------

// All that is to be done now is done.
static void settle(struct engine *e)
{
    for (uint32_t round = 0; round < POLLS_WITHOUT_REST; round++) {
        e->next_us = weir_poll(e->weir, e->now_us);
        bsd_dispatch(e->bsd);
        if (task_ready(e))
            task_enter(e);
        else if (e->next_us > e->now_us && !weir_output_pending(e->weir))
            return;
    }
    fail("weir_poll finds no rest");
}

static void set_time(struct engine *e, uint64_t now_us)
{
    if (now_us > e->now_us)
        e->now_us = now_us;
    weir_clock(e->weir, e->now_us);
}

static uint64_t next_deadline(const struct engine *e)
{
    return e->task.waiting && e->task.deadline_us < e->next_us ? e->task.deadline_us : e->next_us;
}

static void pass_until(struct engine *e, uint64_t end_us)
{
    while (next_deadline(e) < end_us) {
        set_time(e, next_deadline(e));
        settle(e);
    }
    set_time(e, end_us);
}

static void pass_waiting(struct engine *e, uint64_t end_us)
{
    const uint64_t before = e->reported;
    settle(e);
    while (e->reported == before && next_deadline(e) <= end_us) {
        set_time(e, next_deadline(e));
        settle(e);
    }
    if (e->reported == before)
        set_time(e, end_us);
}

// --- commands --------------------------------------------------------------------------------------------------------

static uint8_t *from_hex(const char *text, size_t digits, size_t room)
{
    uint8_t *out = calloc(1, room ? room : 1);
    if (!out)
        fail("no memory");
    for (size_t i = 0; i + 1 < digits; i += 2) {
        const char pair[3] = {text[i], text[i + 1], 0};
        out[i / 2] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return out;
}

static void take_argument(struct task *task, const char *word)
{
    if (task->count == ARGUMENTS)
        fail("too many arguments");
    struct argument *argument = &task->arguments[task->count++];
    *argument = (struct argument){0};
    if (*word == 'o') {
        argument->length = strtoul(word + 1, NULL, 10);
        argument->bytes = from_hex("", 0, argument->length);
    } else if (*word == 'x') {
        argument->length = strlen(word + 1) / 2;
        argument->bytes = from_hex(word + 1, strlen(word + 1), argument->length);
    } else if (*word == 'n') {
        argument->length = strtoul(word + 1, NULL, 10);
    } else if (*word != '-' || word[1]) {
        argument->number = (intptr_t)strtoll(word, NULL, 0);
    }
}

// The first address is of IPv4; one of IPv6 is a further one.
static int interface_address(struct weir_netif *netif, struct weir_addr address, uint8_t prefix)
{
    return weir_addr_is_v4(address) ? weir_netif_set_address(netif, address, prefix, WEIR_ADDRESS_AT_ONCE)
                                    : weir_netif_address_add(netif, address, prefix, WEIR_ADDRESS_AT_ONCE);
}

static void command_open(struct engine *e, char **save)
{
    struct weir_addr address;
    const char *text = strtok_r(NULL, " ", save);
    if (!text || !weir_addr_read(text, (uint32_t)strlen(text), &address))
        fail("this build has no such addresses");
    const uint8_t prefix = (uint8_t)strtoul(strtok_r(NULL, " ", save), NULL, 0);
    const uint16_t mtu = (uint16_t)strtoul(strtok_r(NULL, " ", save), NULL, 0);
    struct weir_config config = {0};
    config.tcp_receive_buffer_bytes = (uint32_t)strtoul(strtok_r(NULL, " ", save), NULL, 0);
    config.tcp_send_buffer_bytes = (uint32_t)strtoul(strtok_r(NULL, " ", save), NULL, 0);
    const char *cc = strtok_r(NULL, " ", save);
    config.congestion_control = cc && strcmp(cc, "-") != 0 ? cc : NULL;
    config.tcp_ecn = (uint8_t)strtoul(strtok_r(NULL, " ", save), NULL, 0);
    e->now_us = START_US;
    e->random = UINT64_C(0x9e3779b97f4a7c15);
    e->port = (struct weir_port){.context = e,
                                 .alloc = allocate,
                                 .free = release,
                                 .entropy = entropy,
                                 .now_us = port_now,
                                 .granularity_us = 1,
                                 .wait = wait_in_task,
                                 .wake = wake,
                                 .kick = kick,
                                 .copy_in = copy_in,
                                 .copy_out = copy_out};
    e->weir = weir_create(NULL, 0, &e->port, &config);
    if (!e->weir)
        fail("weir_create refused the configuration");
    weir_clock(e->weir, e->now_us);
    weir_netif_init(&e->netif, "script0", &driver, &weir_link_rawip);
    e->netif.driver_data = e;
    e->netif.mtu = mtu;
    const struct weir_addr any = weir_addr_any();
    if (weir_netif_add(e->weir, &e->netif) || interface_address(&e->netif, address, prefix) ||
        weir_route_add(e->weir, any, 0, any, &e->netif, 1))
        fail("the interface could not be set up");
    const struct weir_bsd_config bsd = {
        .first_descriptor = FIRST_DESCRIPTOR, .descriptors = 4096, .set_errno = set_errno};
    e->bsd = bsd_create(e->weir, &bsd);
    settle(e);
}

static void command_rx(struct engine *e, const char *hex)
{
    const size_t digits = strlen(hex);
    uint8_t *packet = from_hex(hex, digits, digits / 2);
    const struct weir_slice slice = {packet, (uint32_t)(digits / 2)};
    weir_input(&e->netif, &(struct weir_frame){.slices = &slice, .count = 1, .length = slice.length});
    memset(packet, 0xa5, slice.length);  // the frame was lent, not given
    free(packet);
    settle(e);
}

static void command_info(struct engine *e, int fd)
{
    struct weir_tcp_info i;
    const int result = weir_socket_tcp_info(e->weir, bsd_handle(e->bsd, fd), &i);
    if (result) {
        printf("none %s\n", weir_error_name(result));
        return;
    }
#define SHOW(field) printf(" " #field "=%" PRIu64, (uint64_t)i.field)
    printf("info");
    SHOW(state), SHOW(recovery), SHOW(backoff), SHOW(probes), SHOW(sack), SHOW(timestamps), SHOW(window_scaling),
        SHOW(ecn);
    SHOW(snd_wscale), SHOW(rcv_wscale), SHOW(rto_us), SHOW(srtt_us), SHOW(rttvar_us), SHOW(min_rtt_us);
    SHOW(snd_mss), SHOW(rcv_mss), SHOW(path_mtu), SHOW(cwnd), SHOW(ssthresh), SHOW(inflight), SHOW(sacked), SHOW(lost),
        SHOW(retrans_out);
    SHOW(snd_wnd), SHOW(rcv_wnd), SHOW(send_queue), SHOW(receive_queue), SHOW(unsent), SHOW(total_retrans);
    SHOW(rto_count), SHOW(fast_recoveries), SHOW(out_of_order), SHOW(bytes_sent), SHOW(bytes_retrans),
        SHOW(bytes_acked), SHOW(bytes_received);
    SHOW(segs_out), SHOW(segs_in), SHOW(pacing_rate), SHOW(delivery_rate), SHOW(last_sent_us), SHOW(last_received_us);
    SHOW(accecn), SHOW(received_ce), SHOW(delivered_ce), SHOW(bytes_delivered), SHOW(delivered);
    SHOW(reorder_seen), SHOW(reordering), SHOW(duplicates);
#undef SHOW
    putchar('\n');
}

static void command_call(struct engine *e, char **save)
{
    static char name[32];
    const char *word = strtok_r(NULL, " ", save);
    if (!word || !find_call(word))
        fail("no such call");
    if (e->task.running)
        fail("a call is still blocked");
    snprintf(name, sizeof name, "%s", word);
    e->task.name = name;
    e->task.count = 0;
    while ((word = strtok_r(NULL, " ", save)))
        take_argument(&e->task, word);
    task_start(e);
    settle(e);
}

static void command(struct engine *e, char *line)
{
    char *save = NULL;
    const char *verb = strtok_r(line, " ", &save);
    if (!verb)
        return;
    if (strcmp(verb, "open") == 0)
        command_open(e, &save);
    else if (strcmp(verb, "until") == 0)
        pass_until(e, START_US + strtoull(save, NULL, 10));
    else if (strcmp(verb, "wait") == 0)
        pass_waiting(e, START_US + strtoull(save, NULL, 10));
    else if (strcmp(verb, "rx") == 0)
        command_rx(e, save);
    else if (strcmp(verb, "call") == 0)
        command_call(e, &save);
    else if (strcmp(verb, "info") == 0)
        command_info(e, atoi(save));
    else if (strcmp(verb, "mtu") == 0)
        e->netif.mtu = (uint16_t)atoi(save);
    else
        fail("unknown command");
    printf("ok %" PRIu64 " %s\n", e->now_us - START_US, e->task.running ? "blocked" : "idle");
    fflush(stdout);
}

int main(void)
{
    static struct engine engine;
    static char line[LINE_BYTES];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        command(&engine, line);
    }
    // The end: what a blocked call holds is left as it is, everything else is torn down, so that a sanitizer can tell
    // of leaks.
    if (engine.weir && !engine.task.running) {
        bsd_destroy(engine.bsd);
        freopen("/dev/null", "w", stdout);
        weir_destroy(engine.weir);
    }
    return 0;
}
