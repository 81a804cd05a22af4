// SPDX-License-Identifier: BSD-2-Clause
// not on mips: qemu-mips has no sealed memory
// The microkernel's port to processes of a POSIX host: the server in a child process, clients and a driver in others,
// peers that break the rules. Linux as the other host, and processes that are killed: tests/interop/test_micro.py.
#define _GNU_SOURCE
#include "ports/micro/host.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ports/micro/client.h"
#include "weir/error.h"

#define HANG_SECONDS 60u

static struct micro_host_server server;
static char path[64];
static pid_t child;
static volatile sig_atomic_t stopped;

static void stop(int signal_number) { stopped = signal_number; }

static int start_server(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/weir-micro-host-%d", (int)getpid());
    if (micro_host_server_open(&server, path, weir_ip4(10, 0, 0, 1), 24) != WEIR_OK)
        return -1;
    alarm(HANG_SECONDS);
    stopped = 0;
    const struct sigaction action = {.sa_handler = stop};  // before there is a child that could be told
    struct sigaction before;
    sigaction(SIGTERM, &action, &before);
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        while (!stopped)
            micro_host_server_turn(&server);
        micro_host_server_close(&server);
        exit(0);
    }
    sigaction(SIGTERM, &before, NULL);
    // This process's copy; the instance in it is not used.
    close(server.listener);
    weir_destroy(server.weir);
    return child > 0 ? 0 : -1;
}

// Between two looks at the flag the signal could be missed: again until the child is gone.
static void end_server(void)
{
    int status = 0;
    while (child > 0 && waitpid(child, &status, WNOHANG) == 0) {
        kill(child, SIGTERM);
        usleep(1000);
    }
    if (child > 0) {
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    child = 0;
}
static int teardown(void **state)
{
    (void)state;
    end_server();
    unlink(path);
    return 0;
}

// --- clients ---------------------------------------------------------------------------------------------------------

static void two_clients_talk_by_way_of_the_server(void **state)
{
    static uint8_t sent[100000], got[100000];
    struct micro_host one_host, other_host;
    struct client one, other;
    const struct weir_endpoint local = {weir_ip4(127, 0, 0, 1), 7};
    (void)state;
    assert_int_equal(micro_host_client(&one_host, &one, path), WEIR_OK);
    assert_int_equal(micro_host_client(&other_host, &other, path), WEIR_OK);
    one.timeout_us = other.timeout_us = WEIR_NEVER;
    const int listener = client_socket(&one, WEIR_STREAM), socket = client_socket(&other, WEIR_STREAM);
    assert_int_equal(client_bind(&one, listener, &local), WEIR_OK);
    assert_int_equal(client_listen(&one, listener, 4), WEIR_OK);
    assert_int_equal(client_connect(&other, socket, &local), WEIR_OK);
    const int accepted = client_accept(&one, listener, NULL);
    assert_true(accepted >= 0);
    for (uint32_t i = 0; i < sizeof sent; i++)
        sent[i] = (uint8_t)(i * 31 + (i >> 8));
    for (uint32_t at = 0, taken = 0; taken < sizeof sent;) {
        if (at < sizeof sent) {
            const int count = client_send(&other, socket, sent + at, (uint32_t)sizeof sent - at);
            assert_true(count > 0);
            at += (uint32_t)count;
        }
        const int count = client_recv(&one, accepted, got + taken, (uint32_t)sizeof got - taken);
        assert_true(count > 0);
        taken += (uint32_t)count;
    }
    assert_memory_equal(got, sent, sizeof sent);
    one.timeout_us = 20000;
    assert_int_equal(client_recv(&one, accepted, got, 1), WEIR_AGAIN);  // and the deadline is kept
    assert_int_equal(client_close(&other, socket), WEIR_OK);
    one.timeout_us = WEIR_NEVER;
    assert_int_equal(client_recv(&one, accepted, got, 1), 0);
    micro_host_close(&other_host);
    end_server();
    assert_int_equal(client_recv(&one, listener, got, 1) < 0, true);
    assert_int_equal(client_socket(&one, WEIR_STREAM), WEIR_CLOSED);
    one.timeout_us = WEIR_NEVER;
    assert_true(client_accept(&one, listener, NULL) < 0);  // it does not wait for ever for who is gone
    micro_host_close(&one_host);
}

static void a_place_is_free_again_when_its_client_has_gone(void **state)
{
    struct micro_host hosts[MICRO_SESSIONS], late;
    struct client clients[MICRO_SESSIONS], late_client;
    (void)state;
    for (uint32_t i = 0; i < MICRO_SESSIONS; i++)
        assert_int_equal(micro_host_client(&hosts[i], &clients[i], path), WEIR_OK);
    assert_int_equal(micro_host_client(&late, &late_client, path), WEIR_REFUSED);
    micro_host_close(&hosts[3]);
    while (micro_host_client(&late, &late_client, path) != WEIR_OK)
        usleep(1000);  // until the server has seen it
    assert_true(client_socket(&late_client, WEIR_STREAM) >= 0);
    micro_host_close(&late);
    for (uint32_t i = 0; i < MICRO_SESSIONS; i++)
        if (i != 3)
            micro_host_close(&hosts[i]);
}

static void nobody_listens_there(void **state)
{
    char long_path[200];
    struct micro_host host;
    struct client client;
    static struct micro_host_server second;
    (void)state;
    memset(long_path, 'x', sizeof long_path);
    long_path[sizeof long_path - 1] = 0;
    assert_int_equal(micro_host_client(&host, &client, "/nowhere/socket"), WEIR_REFUSED);
    assert_int_equal(micro_host_client(&host, &client, long_path), WEIR_REFUSED);
    assert_int_equal(micro_host_server_open(&second, long_path, weir_ip4(10, 0, 0, 1), 24), WEIR_INVALID);
    assert_int_equal(micro_host_server_open(&second, "/nowhere/socket", weir_ip4(10, 0, 0, 1), 24), WEIR_NO_MEMORY);
    assert_null(second.weir);
    assert_int_equal(second.listener, -1);
}

// --- bad faith -------------------------------------------------------------------------------------------------------

static int stranger(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    strcpy(to.sun_path, path);
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

// The server lets go of it, and serves the next one.
static void assert_let_go(int fd)
{
    uint8_t data[64];
    ssize_t got;
    while ((got = recv(fd, data, sizeof data, 0)) > 0 || (got < 0 && errno == EINTR))
        ;
    assert_true(got == 0 || errno == ECONNRESET);
    close(fd);
    struct micro_host host;
    struct client client;
    assert_int_equal(micro_host_client(&host, &client, path), WEIR_OK);
    assert_true(client_socket(&client, WEIR_DATAGRAM) >= 0);
    micro_host_close(&host);
}

static void say(int fd, const void *data, size_t bytes)
{
    assert_int_equal(send(fd, data, bytes, MSG_NOSIGNAL), bytes);
}

static void who_breaks_the_rules_is_let_go(void **state)
{
    static const uint8_t zeros[sizeof(struct micro_message) + 1];
    const uint8_t roles[] = {HOST_CLIENT, HOST_DRIVER, 0, 3, 255};
    (void)state;
    for (uint32_t i = 2; i < 5; i++) {  // no such role
        const int fd = stranger();
        say(fd, &roles[i], 1);
        assert_let_go(fd);
    }
    int fd = stranger();  // no role, but a message
    say(fd, zeros, sizeof(struct micro_message));
    assert_let_go(fd);
    static const size_t lengths[] = {2, sizeof(struct micro_message) - 1, sizeof(struct micro_message) + 1};
    for (uint32_t i = 0; i < 3; i++) {  // a client's message of another length
        fd = stranger();
        say(fd, &roles[0], 1);
        say(fd, zeros, lengths[i]);
        assert_let_go(fd);
    }
    fd = stranger();  // a driver has no messages
    say(fd, &roles[1], 1);
    say(fd, zeros, sizeof(struct micro_message));
    assert_let_go(fd);
}

// Who calls faster than it may is answered when its turn comes, and who goes meanwhile is let go of.
static void a_client_without_patience_is_held(void **state)
{
    enum { CALLS = MICRO_CALLS_AT_ONCE + 400 };
    struct micro_host host;
    struct client client;
    (void)state;
    assert_int_equal(micro_host_client(&host, &client, path), WEIR_OK);
    const int socket = client_socket(&client, WEIR_STREAM);
    const uint64_t before = micro_host_now_us();
    for (uint32_t i = 0; i < CALLS; i++)
        assert_int_equal(client_setsockopt(&client, socket, WEIR_OPTION_NO_DELAY, i & 1), WEIR_OK);
    assert_true(micro_host_now_us() - before >= 300 * 1000000ull / WEIR_CFG_MICRO_CALLS);
    micro_host_close(&host);
    const uint8_t role = HOST_CLIENT;
    const struct micro_message message = {.operation = MICRO_OPEN, .argument = {WEIR_STREAM}};
    const int fd = stranger();
    say(fd, &role, 1);
    for (uint32_t i = 0; i < MICRO_CALLS_AT_ONCE + 100; i++)
        if (send(fd, &message, sizeof message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
            break;  // it is held, and not heard
    close(fd);
    assert_int_equal(micro_host_client(&host, &client, path), WEIR_OK);
    assert_true(client_socket(&client, WEIR_STREAM) >= 0);
    micro_host_close(&host);
}

// A second driver would have the first one's frames.
static void there_is_one_driver(void **state)
{
    const uint8_t role = HOST_DRIVER, notice = '!';
    (void)state;
    const int first = stranger();
    say(first, &role, 1);
    say(first, &notice, 1);
    uint64_t bytes = 0;
    while (recv(first, &bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        ;
    assert_int_equal(bytes, sizeof(struct frames));
    int second;
    uint8_t answer;
    for (ssize_t got = 8; got > 0; close(second)) {  // until the first one's notice was heard
        second = stranger();
        say(second, &role, 1);
        got = recv(second, &answer, 1, 0);
        usleep(1000);
    }
    assert_int_equal(shutdown(first, SHUT_WR), 0);
    assert_let_go(first);
}

// --- a driver --------------------------------------------------------------------------------------------------------

static int line[2];  // what the driver's device is: the other end is the test's

static enum weir_tx_verdict line_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    uint8_t frame[2000];
    uint32_t length = 0;
    (void)netif;
    for (uint32_t i = 0; i < tx->count; length += tx->slices[i++].length)
        memcpy(frame + length, tx->slices[i].data, tx->slices[i].length);
    return send(line[1], frame, length, MSG_DONTWAIT) == (ssize_t)length ? WEIR_TX_DONE : WEIR_TX_FULL;
}
static int line_poll(struct weir_netif *netif, int budget)
{
    uint8_t data[2000];
    int frames = 0;
    for (ssize_t got; frames < budget && (got = recv(line[1], data, sizeof data, MSG_DONTWAIT)) > 0; frames++) {
        const struct weir_slice slice = {data, (uint32_t)got};
        const struct weir_frame frame = {.slices = &slice, .length = (uint32_t)got, .count = 1};
        weir_netif_deliver(netif, &frame);
    }
    return frames;
}
static const struct weir_driver line_driver = {.name = "line", .tx = line_tx, .poll = line_poll};

static void drive(void)
{
    static struct weir_netif netif;
    struct micro_host host;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(line[0]);
    weir_netif_init(&netif, "eth0", &line_driver, &weir_link_ethernet);
    memcpy(netif.mac, (const uint8_t[6]){2, 0, 0, 0, 0, 9}, 6);
    exit(micro_host_drive(&host, path, &netif, line[1]) == WEIR_CLOSED ? 0 : 1);
}

static void frames_go_by_way_of_the_drivers_process(void **state)
{
    // Who has 10.0.0.1, says 10.0.0.2.
    static const uint8_t question[42] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  5, 8, 6,
                                         0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0, 5,
                                         10,   0,    0,    2,    0,    0,    0, 0, 0, 0, 10, 0, 0, 1};
    static const uint8_t answer[] = {0, 2, 2, 0, 0, 0, 0, 9, 10, 0, 0, 1, 2, 0, 0, 0, 0, 5, 10, 0, 0, 2};
    uint8_t frame[2000];
    int status;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line), 0);
    fflush(NULL);
    const pid_t driver = fork();
    assert_true(driver >= 0);
    if (driver == 0)
        drive();
    close(line[1]);
    for (;;) {  // asked again until the interface is there
        assert_int_equal(send(line[0], question, sizeof question, MSG_NOSIGNAL), sizeof question);
        usleep(2000);
        const ssize_t got = recv(line[0], frame, sizeof frame, MSG_DONTWAIT);
        if (got >= 42 && memcmp(frame + 20, answer, sizeof answer) == 0)
            break;
    }
    assert_memory_equal(frame, question + 6, 6);
    const int second = stranger();  // beside a driver that works there is no other
    const uint8_t role = HOST_DRIVER;
    say(second, &role, 1);
    assert_let_go(second);
    end_server();
    assert_int_equal(waitpid(driver, &status, 0), driver);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(line[0]);
    assert_int_equal(micro_host_drive(&(struct micro_host){0}, path, NULL, -1), WEIR_REFUSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(two_clients_talk_by_way_of_the_server, start_server, teardown),
        cmocka_unit_test_setup_teardown(a_place_is_free_again_when_its_client_has_gone, start_server, teardown),
        cmocka_unit_test_setup_teardown(nobody_listens_there, start_server, teardown),
        cmocka_unit_test_setup_teardown(who_breaks_the_rules_is_let_go, start_server, teardown),
        cmocka_unit_test_setup_teardown(a_client_without_patience_is_held, start_server, teardown),
        cmocka_unit_test_setup_teardown(there_is_one_driver, start_server, teardown),
        cmocka_unit_test_setup_teardown(frames_go_by_way_of_the_drivers_process, start_server, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
