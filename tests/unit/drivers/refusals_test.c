// SPDX-License-Identifier: BSD-2-Clause
// not on mips: qemu-mips has neither TAP nor filters of system calls
// The drivers for Linux's interfaces where Linux refuses a call: each call of opening one is refused in turn, by a
// filter (seccomp) in a process of its own. The driver says why, and leaves nothing open; frames that cannot leave are
// kept or counted. Where no namespace, no TAP or no filter may be made the tests are skipped. What goes well:
// linux_test.c.
#define _GNU_SOURCE
#include "drivers/link_ends.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/if_xdp.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drivers/af_packet.h"
#include "drivers/af_xdp.h"
#include "drivers/tap.h"
#include "drivers/tun.h"
#include "weir/error.h"

#define SKIPPED 77
#define ANY 6u  // no argument is looked at

static struct af_packet packet;
static struct af_xdp xdp;
static struct tap tap, under;  // `under` is what the others open
static bool alone;             // in a namespace

// A call whose argument is this fails with that. A descriptor that is named here stays open until its process ends:
// another file would have its number.
struct refusal {
    long call;
    uint32_t argument, value;
    int error;
};

static void refuse(const struct refusal *refusal)
{
    const uint32_t at = (uint32_t)offsetof(struct seccomp_data, args) + 8u * (refusal->argument % ANY);
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refusal->call, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, refusal->value, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)refusal->error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};
    if (refusal->argument == ANY)
        code[3] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, 0, 0, 0);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        exit(SKIPPED);
}

// In the child, whose exit status says it.
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1); \
        } \
    } while (false)

// Runs in a process of its own, whose filters go with it.
static void apart(void (*function)(const void *), const void *context)
{
    int status;
    if (!alone)
        skip();
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (tap_open(&under, "t0", TAP_NO_VNET) != WEIR_OK)
            exit(SKIPPED);
        function(context);
        exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == SKIPPED)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static uint32_t entries(const char *path)
{
    uint32_t count = 0;
    DIR *const folder = opendir(path);
    CHECK(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

// --- opening ---------------------------------------------------------------------------------------------------------

struct opening {
    struct refusal refusal;
    int (*open)(void);
    const char *(*error)(void);
    int want;
    const char *says;
};

static int open_tap(void) { return tap_open(&tap, "t1", TAP_UP); }
static int open_plain_tap(void) { return tap_open(&tap, "t1", TAP_NO_VNET); }
static int open_packet(void) { return af_packet_open(&packet, "t0", AF_PACKET_UP); }
static int open_xdp(void) { return af_xdp_open(&xdp, "t0", 0, AF_XDP_GENERIC | AF_XDP_UP); }
static const char *error_of_tap(void) { return tap_error(&tap); }
static const char *error_of_packet(void) { return af_packet_error(&packet); }
static const char *error_of_xdp(void) { return af_xdp_error(&xdp); }

// What may be opened at all is what can be refused.
static void open_and_close(const void *context)
{
    const struct opening *const opening = context;
    const uint32_t before = entries("/proc/self/fd");
    if (opening->open() != WEIR_OK)
        exit(SKIPPED);
    if (opening->open == open_packet)
        af_packet_close(&packet);
    else if (opening->open == open_xdp)
        af_xdp_close(&xdp);
    else
        tap_close(&tap);
    CHECK(entries("/proc/self/fd") == before);
}

static void open_refused(const void *context)
{
    const struct opening *const opening = context;
    const uint32_t before = entries("/proc/self/fd");
    refuse(&opening->refusal);
    const int got = opening->open();
    if (got != opening->want || strstr(opening->error(), opening->says) == NULL) {
        fprintf(stderr, "call %ld, %x: %d, \"%s\"\n", opening->refusal.call, opening->refusal.value, got,
                opening->error());
        exit(1);
    }
    CHECK(entries("/proc/self/fd") == before);
}

static void open_all(const struct opening *openings, uint32_t count)
{
    apart(open_and_close, &openings[0]);
    for (uint32_t i = 0; i < count; i++)
        apart(open_refused, &openings[i]);
}

#define TAP_REFUSED open_tap, error_of_tap
#define PLAIN_TAP_REFUSED open_plain_tap, error_of_tap
static void a_tap_that_cannot_be_opened_says_why(void **state)
{
    static const struct opening openings[] = {
        {{SYS_openat, 2, O_RDWR | O_NONBLOCK | O_CLOEXEC, ENOENT},
         TAP_REFUSED,
         WEIR_NOT_SUPPORTED,
         "offers no TUN/TAP"},
        {{SYS_openat, 2, O_RDWR | O_NONBLOCK | O_CLOEXEC, EMFILE}, TAP_REFUSED, WEIR_NO_MEMORY, "Too many open files"},
        {{SYS_openat, 2, O_RDWR | O_NONBLOCK | O_CLOEXEC, ENFILE}, TAP_REFUSED, WEIR_NO_MEMORY, "log"},
        {{SYS_openat, 2, O_RDWR | O_NONBLOCK | O_CLOEXEC, ENOTTY}, TAP_REFUSED, WEIR_NOT_SUPPORTED, "log"},
        {{SYS_ioctl, 1, TUNSETIFF, EBUSY}, TAP_REFUSED, WEIR_IN_USE, "another program"},
        {{SYS_ioctl, 1, TUNSETIFF, EPERM}, TAP_REFUSED, WEIR_PERMISSION, "as root"},
        {{SYS_ioctl, 1, TUNSETVNETHDRSZ, EINVAL}, TAP_REFUSED, WEIR_INVALID, "t1"},
        {{SYS_ioctl, 1, TUNSETOFFLOAD, EINVAL}, TAP_REFUSED, WEIR_INVALID, "t1"},
        {{SYS_ioctl, 1, TUNSETOFFLOAD, EINVAL}, PLAIN_TAP_REFUSED, WEIR_INVALID, "t1"},
        {{SYS_socket, 0, AF_INET, ENOMEM}, TAP_REFUSED, WEIR_NO_MEMORY, "memory"},
        {{SYS_ioctl, 1, SIOCGIFFLAGS, ENODEV}, TAP_REFUSED, WEIR_NOT_SUPPORTED, "t1"},
        {{SYS_ioctl, 1, SIOCSIFFLAGS, EPERM}, TAP_REFUSED, WEIR_PERMISSION, "t1"},
    };
    (void)state;
    open_all(openings, sizeof openings / sizeof openings[0]);
}

#define PACKET_REFUSED open_packet, error_of_packet
static void a_packet_socket_that_cannot_be_opened_says_why(void **state)
{
    static const struct opening openings[] = {
        {{SYS_socket, 0, AF_PACKET, EPERM}, PACKET_REFUSED, WEIR_PERMISSION, "unshare"},
        {{SYS_socket, 0, AF_PACKET, EAFNOSUPPORT}, PACKET_REFUSED, WEIR_NOT_SUPPORTED, "lacks packet sockets"},
        {{SYS_setsockopt, 2, PACKET_VNET_HDR, EINVAL}, PACKET_REFUSED, WEIR_NOT_SUPPORTED, "lacks packet sockets"},
        {{SYS_setsockopt, 2, PACKET_VERSION, EINVAL}, PACKET_REFUSED, WEIR_NOT_SUPPORTED, "lacks packet sockets"},
        {{SYS_setsockopt, 2, PACKET_RESERVE, EINVAL}, PACKET_REFUSED, WEIR_NOT_SUPPORTED, "lacks packet sockets"},
        {{SYS_setsockopt, 2, PACKET_RX_RING, ENOMEM}, PACKET_REFUSED, WEIR_NO_MEMORY, "memory for the ring"},
        {{SYS_mmap, 3, MAP_SHARED, ENOMEM}, PACKET_REFUSED, WEIR_NO_MEMORY, "memory for the ring"},
        {{SYS_socket, 0, AF_INET, EMFILE}, PACKET_REFUSED, WEIR_NOT_SUPPORTED, "Too many open files"},
        {{SYS_ioctl, 1, SIOCGIFFLAGS, ENODEV}, PACKET_REFUSED, WEIR_INVALID, "no such interface"},
        {{SYS_ioctl, 1, SIOCGIFHWADDR, ENXIO}, PACKET_REFUSED, WEIR_INVALID, "no such interface"},
        {{SYS_setsockopt, 2, PACKET_ADD_MEMBERSHIP, EINVAL}, PACKET_REFUSED, WEIR_INVALID, "Ethernet interface"},
        {{SYS_bind, ANY, 0, ENODEV}, PACKET_REFUSED, WEIR_INVALID, "no such interface"},
    };
    (void)state;
    open_all(openings, sizeof openings / sizeof openings[0]);
}

#define XDP_REFUSED open_xdp, error_of_xdp
static void an_af_xdp_socket_that_cannot_be_opened_says_why(void **state)
{
    static const struct opening openings[] = {
        {{SYS_socket, 0, AF_XDP, EAFNOSUPPORT}, XDP_REFUSED, WEIR_NOT_SUPPORTED, "lacks AF_XDP"},
        {{SYS_socket, 0, AF_INET, ENOMEM}, XDP_REFUSED, WEIR_NO_MEMORY, "memory"},
        {{SYS_ioctl, 1, SIOCGIFFLAGS, ENXIO}, XDP_REFUSED, WEIR_INVALID, "no such interface"},
        {{SYS_mmap, 3, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, ENOMEM}, XDP_REFUSED, WEIR_NO_MEMORY, "memory"},
        {{SYS_mmap, 3, MAP_SHARED | MAP_POPULATE, ENOMEM}, XDP_REFUSED, WEIR_NO_MEMORY, "memory"},
        {{SYS_setsockopt, 2, XDP_UMEM_REG, ENOBUFS}, XDP_REFUSED, WEIR_NO_MEMORY, "memory"},
        {{SYS_setsockopt, 2, XDP_TX_RING, ENOMEM}, XDP_REFUSED, WEIR_NO_MEMORY, "memory"},
        {{SYS_getsockopt, 2, XDP_MMAP_OFFSETS, ENOPROTOOPT}, XDP_REFUSED, WEIR_NOT_SUPPORTED, "lacks AF_XDP"},
        {{SYS_bind, ANY, 0, EBUSY}, XDP_REFUSED, WEIR_IN_USE, "has the queue"},
        {{SYS_bind, ANY, 0, EINVAL}, XDP_REFUSED, WEIR_INVALID, "has this queue"},
        {{SYS_bpf, 0, BPF_MAP_CREATE, EPERM}, XDP_REFUSED, WEIR_PERMISSION, "as root"},
        {{SYS_bpf, 0, BPF_PROG_LOAD, EACCES}, XDP_REFUSED, WEIR_PERMISSION, "as root"},
        {{SYS_bpf, 0, BPF_MAP_UPDATE_ELEM, ENOMEM}, XDP_REFUSED, WEIR_NO_MEMORY, "memory"},
        {{SYS_bpf, 0, BPF_LINK_CREATE, ERANGE}, XDP_REFUSED, WEIR_INVALID, "MTU"},
    };
    (void)state;
    open_all(openings, sizeof openings / sizeof openings[0]);
}

// What is only better to have is done without.
static void open_without(const void *context)
{
    const struct refusal *const refusal = context;
    const int before = open_tap();
    if (before != WEIR_OK)
        exit(SKIPPED);
    tap_close(&tap);
    refuse(refusal);
    CHECK(open_tap() == WEIR_OK);
    ends_open();
    tap_attach(&tap, &ends.netif, "t1");
    ends_attach(&ends.netif);
    CHECK(ends_send(&ends.netif, 1, 100) == WEIR_TX_DONE);
    ends.netif.driver->flush(&ends.netif);
    CHECK(tap.io.counters.tx_refused == 0 && tap.io.counters.tx_batches == 0 && ends.netif.stats.tx_dropped == 0);
    CHECK(tap_fd(&tap) >= 0);
    tap_close(&tap);
    (void)ends_end(NULL);
}

static void a_tap_does_without_io_uring(void **state)
{
    static const struct refusal refusals[] = {{SYS_io_uring_setup, ANY, 0, EPERM},
                                              {SYS_mmap, 3, MAP_SHARED | MAP_POPULATE, ENOMEM}};
    (void)state;
    for (uint32_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        apart(open_without, &refusals[i]);
}

// --- sending ---------------------------------------------------------------------------------------------------------

static void attach_tap(unsigned flags)
{
    ends_open();
    if (tap_open(&tap, "t1", flags) != WEIR_OK)
        exit(SKIPPED);
    tap_attach(&tap, &ends.netif, "t1");
    ends_attach(&ends.netif);
}

// A frame that is too long to be copied leaves at once.
#define AT_ONCE (TUNTAP_FLAT_BYTES + 1)

static void send_refused(const void *context)
{
    const int error = *(const int *)context;
    const bool later = error == EAGAIN || error == ENOBUFS || error == ENOMEM;
    const bool down = error == EIO || error == ENETDOWN || error == EBADFD;
    attach_tap(TAP_UP);
    const struct refusal single = {SYS_writev, 0, (uint32_t)tap_fd(&tap), error};
    const struct refusal flat = {SYS_write, 0, (uint32_t)tap_fd(&tap), error};
    refuse(&single);
    refuse(&flat);
    CHECK(ends_send(&ends.netif, 1, AT_ONCE) == (later ? WEIR_TX_FULL : WEIR_TX_DONE));
    CHECK(tap.io.counters.tx_full == later && tap.io.counters.tx_down == down);
    CHECK(tap.io.counters.tx_refused == (!later && !down));
    CHECK(ends.netif.stats.tx_dropped == !later);
    CHECK(tap_events(&tap) == (later ? POLLIN | POLLOUT : error == EBADFD ? 0 : POLLIN));
    // A frame that was copied is kept where it can be sent again, and those behind it wait.
    CHECK(ends_send(&ends.netif, 2, 100) == WEIR_TX_DONE);
    ends.netif.driver->flush(&ends.netif);
    CHECK(tap.io.waiting == later);
    CHECK(ends.netif.stats.tx_dropped == (later ? 0 : 2));
    CHECK(ends_send(&ends.netif, 3, AT_ONCE) == (later ? WEIR_TX_FULL : WEIR_TX_DONE));
    if (later) {
        CHECK(ends.netif.driver->timer(&ends.netif, ends.now_us) <= ends.now_us + 1000);
        (void)ends.netif.driver->poll(&ends.netif, 4);  // there is room, says Linux
        CHECK(ends.ready_count == 1 && tap.io.waiting == 1);
    }
    (void)ends_end(NULL);
}

static void what_cannot_leave_a_tap_is_kept_or_counted(void **state)
{
    static const int errors[] = {EAGAIN, ENOBUFS, ENOMEM, EIO, ENETDOWN, EBADFD, EINVAL};
    (void)state;
    for (uint32_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        apart(send_refused, &errors[i]);
}

// A batch for which io_uring fails stays, and leaves by write(2).
static void batch_refused(const void *context)
{
    attach_tap(TAP_UP);
    (void)context;
    if (!uring_is_open(&tap.io.ring))
        exit(SKIPPED);
    const struct refusal refusal = {SYS_io_uring_enter, ANY, 0, EPERM};
    refuse(&refusal);
    for (uint32_t i = 0; i < 3; i++)
        CHECK(ends_send(&ends.netif, i, 100) == WEIR_TX_DONE);
    ends.netif.driver->flush(&ends.netif);
    CHECK(!uring_is_open(&tap.io.ring));
    CHECK(tap.io.waiting == 3 && tap.io.blocked);
    ends.netif.driver->flush(&ends.netif);
    CHECK(tap.io.waiting == 0 && ends.netif.stats.tx_dropped == 0);
    tap_close(&tap);
    (void)ends_end(NULL);
}

static void a_batch_survives_io_uring(void **state)
{
    (void)state;
    apart(batch_refused, NULL);
}

static void packet_refused(const void *context)
{
    const int error = *(const int *)context;
    const bool later = error == EAGAIN || error == ENOBUFS, down = error == ENETDOWN || error == ENXIO;
    ends_open();
    if (open_packet() != WEIR_OK)
        exit(SKIPPED);
    af_packet_attach(&packet, &ends.netif, "eth0");
    ends_attach(&ends.netif);
    const struct refusal refusal = {SYS_writev, 0, (uint32_t)af_packet_fd(&packet), error};
    refuse(&refusal);
    CHECK(ends_send(&ends.netif, 1, 100) == (later ? WEIR_TX_FULL : WEIR_TX_DONE));
    CHECK(packet.counters.tx_full == later && packet.counters.tx_down == down);
    CHECK(packet.counters.tx_refused == (!later && !down));
    CHECK(ends.netif.stats.tx_dropped == !later);
    CHECK(af_packet_events(&packet) == (later ? POLLIN | POLLOUT : POLLIN));
    (void)ends.netif.driver->poll(&ends.netif, 4);
    CHECK(ends.ready_count == later);
    CHECK(af_packet_events(&packet) == POLLIN);
    (void)ends_end(NULL);
}

static void what_cannot_leave_a_packet_socket_is_kept_or_counted(void **state)
{
    static const int errors[] = {EAGAIN, ENOBUFS, ENETDOWN, ENXIO, EMSGSIZE};
    (void)state;
    for (uint32_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        apart(packet_refused, &errors[i]);
}

// --- receiving -------------------------------------------------------------------------------------------------------

// The interface is deleted: whoever sleeps on its descriptor sleeps on, and nothing is sent or read any more.
static void read_refused(const void *context)
{
    (void)context;
    attach_tap(TAP_UP);
    const struct refusal refusal = {SYS_read, 0, (uint32_t)tap_fd(&tap), EBADFD};
    refuse(&refusal);
    CHECK(ends.netif.driver->poll(&ends.netif, 4) == 0);
    CHECK(tap_events(&tap) == 0);
    struct pollfd wait = {.fd = tap_fd(&tap), .events = POLLIN};
    CHECK(poll(&wait, 1, 0) == 0);
    CHECK(ends_send(&ends.netif, 1, 100) == WEIR_TX_DONE);
    CHECK(tap.io.counters.tx_down == 1 && ends.netif.stats.tx_dropped == 1);
    CHECK(ends.netif.driver->poll(&ends.netif, 4) == 0);
    (void)ends_end(NULL);
}

static void a_tap_that_is_deleted_is_buried(void **state)
{
    (void)state;
    apart(read_refused, NULL);
}

int main(void)
{
    alone = unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tap_that_cannot_be_opened_says_why),
        cmocka_unit_test(a_packet_socket_that_cannot_be_opened_says_why),
        cmocka_unit_test(an_af_xdp_socket_that_cannot_be_opened_says_why),
        cmocka_unit_test(a_tap_does_without_io_uring),
        cmocka_unit_test(what_cannot_leave_a_tap_is_kept_or_counted),
        cmocka_unit_test(a_batch_survives_io_uring),
        cmocka_unit_test(what_cannot_leave_a_packet_socket_is_kept_or_counted),
        cmocka_unit_test(a_tap_that_is_deleted_is_buried),
    };
    return cmocka_run_group_tests_name("drivers/refusals", tests, NULL, ends_end);
}
