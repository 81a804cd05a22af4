// SPDX-License-Identifier: BSD-2-Clause
// not on mips: Mbed TLS is built for this machine
// TLS by socket options: programs over BSD sockets that know nothing of it but one line. Two hosts on a cable, in real
// time, with threads.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/tls/weir_tls_sockets.h"
#include "tls/certificates.h"
#include "world.h"

#define PORT 443
#define BULK 300000u
enum { SERVER_TAG = 7, CLIENT_TAG = 9, OTHER_TAG = 11 };

static int64_t year_2027(void *context) { return (void)context, 1800000000; }
static const struct weir_tls_system clocked = {.unix_time = year_2027};

struct place {
    struct world a, b;
    struct weir_tls *tls;
    struct weir_tls_credentials *own, *trusted, *strange;
    int listener;
};

static void tls_on(int *option, struct weir_bsd *bsd, int fd, int tag)
{
    *option = tag;
    assert_int_equal(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_SEC_TAG_LIST, option, sizeof *option), 0);
}

static void place_open(struct place *p)
{
    int error = 0, option;
    worlds_open(&p->a, &p->b, true);
    p->tls = weir_tls_create(&weir_tls_mbedtls, &p->a.host.port, &clocked, &error);
    assert_non_null(p->tls);
    p->own = weir_tls_credentials_create(p->tls, &error);
    assert_int_equal(
        weir_tls_credentials_own(p->own, server_certificate, sizeof server_certificate, server_key, sizeof server_key),
        0);
    p->trusted = weir_tls_credentials_create(p->tls, &error);
    assert_int_equal(weir_tls_credentials_trust(p->trusted, ca_certificate, sizeof ca_certificate), 0);
    p->strange = weir_tls_credentials_create(p->tls, &error);
    assert_int_equal(weir_tls_credentials_trust(p->strange, other_ca_certificate, sizeof other_ca_certificate), 0);
    assert_int_equal(weir_tls_sockets_enable(p->a.bsd, p->tls), WEIR_OK);
    assert_int_equal(weir_tls_sockets_enable(p->b.bsd, p->tls), WEIR_OK);
    assert_int_equal(weir_tls_sockets_enable(p->b.bsd, p->tls), WEIR_IN_USE);
    assert_int_equal(weir_tls_sockets_tag(p->b.bsd, SERVER_TAG, p->own), WEIR_OK);
    assert_int_equal(weir_tls_sockets_tag(p->a.bsd, CLIENT_TAG, p->trusted), WEIR_OK);
    assert_int_equal(weir_tls_sockets_tag(p->a.bsd, OTHER_TAG, p->strange), WEIR_OK);
    p->listener = world_listener(&p->b, PORT);
    tls_on(&option, p->b.bsd, p->listener, SERVER_TAG);
}

static void place_close(struct place *p)
{
    assert_int_equal(bsd_close(p->b.bsd, p->listener), 0);
    weir_tls_sockets_disable(p->a.bsd);
    weir_tls_sockets_disable(p->b.bsd);
    weir_tls_credentials_release(p->own);
    weir_tls_credentials_release(p->trusted);
    weir_tls_credentials_release(p->strange);
    assert_int_equal(weir_tls_sessions(p->tls), 0);
    weir_tls_destroy(p->tls);
    assert_int_equal(weir_tls_memory(NULL), 0);
    worlds_close(&p->a, &p->b);
}

// A program that echoes one connection and knows nothing of TLS.
static void *echo(void *context)
{
    struct place *const p = context;
    const int fd = bsd_accept(p->b.bsd, p->listener, NULL, NULL);
    char data[3000];
    weir_ssize got;
    while ((got = bsd_recv(p->b.bsd, fd, data, sizeof data, 0)) > 0)
        if (bsd_send(p->b.bsd, fd, data, (size_t)got, 0) != got)
            break;
    return bsd_close(p->b.bsd, fd) == 0 && got == 0 ? p : NULL;
}

static void client_tag(struct place *p, int fd, int tag, const char *name)
{
    int option;
    tls_on(&option, p->a.bsd, fd, tag);
    if (name)
        assert_int_equal(
            bsd_setsockopt(p->a.bsd, fd, WEIR_SOL_TLS, WEIR_TLS_HOSTNAME, name, (weir_socklen)strlen(name)), 0);
}

// A client's descriptor, before connect.
static int client_make(struct place *p, int tag, const char *name)
{
    const int fd = bsd_socket(p->a.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_true(fd >= 0);
    client_tag(p, fd, tag, name);
    return fd;
}

static int client_connect(struct place *p, int fd)
{
    const struct weir_sockaddr_in address = world_address(WORLD_B, PORT);
    return bsd_connect(p->a.bsd, fd, ADDRESS(address));
}

static void *sender(void *context)
{
    struct {
        struct place *p;
        int fd;
    } *const s = context;
    uint8_t data[5000];
    for (uint32_t sent = 0; sent < BULK; sent += sizeof data) {
        for (uint32_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)((sent + i) % 251);
        if (bsd_send(s->p->a.bsd, s->fd, data, sizeof data, 0) != sizeof data)
            return NULL;
    }
    return bsd_shutdown(s->p->a.bsd, s->fd, WEIR_SHUT_WR) == 0 ? s : NULL;
}

static void plain_programs_speak_tls(void **state)
{
    struct place p;
    pthread_t server, writer;
    uint8_t data[4000];
    uint32_t got = 0;
    weir_ssize part;
    void *result;
    (void)state;
    place_open(&p);
    assert_int_equal(pthread_create(&server, NULL, echo, &p), 0);
    const int fd = client_make(&p, CLIENT_TAG, "weir.example");
    assert_int_equal(client_connect(&p, fd), 0);
    int no_delay = 0;
    weir_socklen length = sizeof no_delay;
    assert_int_equal(bsd_getsockopt(p.a.bsd, fd, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &no_delay, &length), 0);
    assert_int_equal(no_delay, 1);  // a record waits for no acknowledgement
    struct {
        struct place *p;
        int fd;
    } context = {&p, fd};
    assert_int_equal(pthread_create(&writer, NULL, sender, &context), 0);
    while ((part = bsd_recv(p.a.bsd, fd, data, sizeof data, 0)) > 0) {
        for (weir_ssize i = 0; i < part; i++)
            assert_int_equal(data[i], (got + (uint32_t)i) % 251);
        got += (uint32_t)part;
    }
    assert_int_equal(part, 0);  // an end, and no cut
    assert_int_equal(got, BULK);
    pthread_join(writer, &result);
    assert_non_null(result);
    pthread_join(server, &result);
    assert_non_null(result);
    assert_int_equal(bsd_close(p.a.bsd, fd), 0);
    place_close(&p);
}

static int tls_error(struct place *p, int fd)
{
    int error = 0;
    weir_socklen length = sizeof error;
    assert_int_equal(bsd_getsockopt(p->a.bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ERROR, &error, &length), 0);
    return error;
}

// connect fails where the server is not whom one wants.
static void connect_makes_the_handshake(void **state)
{
    struct place p;
    pthread_t server;
    (void)state;
    place_open(&p);
    for (int wrong = 0; wrong < 2; wrong++) {
        assert_int_equal(pthread_create(&server, NULL, echo, &p), 0);
        const int fd =
            wrong ? client_make(&p, OTHER_TAG, "weir.example") : client_make(&p, CLIENT_TAG, "somebody.example");
        assert_errno(client_connect(&p, fd), ECONNABORTED);
        assert_int_equal(tls_error(&p, fd), WEIR_TLS_CERTIFICATE);
        assert_errno(bsd_send(p.a.bsd, fd, "x", 1, 0), ECONNABORTED);
        assert_int_equal(bsd_close(p.a.bsd, fd), 0);
        pthread_join(server, NULL);
    }
    const int nameless = client_make(&p, CLIENT_TAG, NULL);
    assert_errno(client_connect(&p, nameless), EINVAL);
    assert_int_equal(bsd_close(p.a.bsd, nameless), 0);
    place_close(&p);
}

// A record lies inside: poll says so though the socket has nothing more.
static void poll_sees_what_is_inside(void **state)
{
    struct place p;
    pthread_t server;
    char data[8];
    (void)state;
    place_open(&p);
    assert_int_equal(pthread_create(&server, NULL, echo, &p), 0);
    const int fd = client_make(&p, CLIENT_TAG, "weir.example");
    assert_int_equal(client_connect(&p, fd), 0);
    assert_int_equal(bsd_send(p.a.bsd, fd, "abcdef", 6, 0), 6);
    assert_int_equal(bsd_recv(p.a.bsd, fd, data, 2, 0), 2);
    struct weir_pollfd wait = {fd, WEIR_POLLIN, 0};
    assert_int_equal(bsd_poll(p.a.bsd, &wait, 1, 0), 1);
    assert_int_equal(bsd_recv(p.a.bsd, fd, data, sizeof data, WEIR_MSG_DONTWAIT), 4);
    assert_errno(bsd_recv(p.a.bsd, fd, data, sizeof data, WEIR_MSG_DONTWAIT), EAGAIN);
    assert_int_equal(bsd_poll(p.a.bsd, &wait, 1, 0), 0);
    assert_errno(bsd_recv(p.a.bsd, fd, data, sizeof data, WEIR_MSG_PEEK), EOPNOTSUPP);
    assert_int_equal(bsd_close(p.a.bsd, fd), 0);
    pthread_join(server, NULL);
    place_close(&p);
}

static int readable_bytes(struct weir_bsd *bsd, int fd)
{
    int bytes = -1;
    assert_int_equal(bsd_ioctl(bsd, fd, WEIR_FIONREAD, &bytes), 0);
    return bytes;
}

// What FIONREAD tells is what recv gives: no byte of a record's own, and none of the handshake.
static void readable_bytes_are_plaintext(void **state)
{
    struct place p;
    char data[8];
    (void)state;
    place_open(&p);
    const int fd = client_make(&p, CLIENT_TAG, "weir.example");
    assert_int_equal(bsd_fcntl(p.a.bsd, fd, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    assert_errno(client_connect(&p, fd), EINPROGRESS);
    const int peer = bsd_accept(p.b.bsd, p.listener, NULL, NULL);
    struct weir_pollfd hello = {peer, WEIR_POLLIN, 0}, wait = {fd, WEIR_POLLOUT, 0};
    assert_int_equal(bsd_poll(p.a.bsd, &wait, 1, -1), 1);
    assert_errno(bsd_recv(p.a.bsd, fd, data, 1, 0), EAGAIN);  // sends its ClientHello
    assert_int_equal(bsd_poll(p.b.bsd, &hello, 1, -1), 1);
    assert_int_equal(readable_bytes(p.b.bsd, peer), 0);
    assert_int_equal(bsd_fcntl(p.b.bsd, peer, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    wait.events = WEIR_POLLIN;
    weir_ssize sent = -1;
    while (sent < 0) {  // by turns, until both have ended the handshake
        assert_errno(bsd_recv(p.a.bsd, fd, data, 1, 0), EAGAIN);
        sent = bsd_send(p.b.bsd, peer, "abcdef", 6, 0);
        assert_true(sent == 6 || errno == EAGAIN);
        (void)bsd_poll(p.a.bsd, &wait, 1, 1);
    }
    while (readable_bytes(p.a.bsd, fd) == 0)  // tickets come first
        (void)bsd_poll(p.a.bsd, &wait, 1, -1);
    assert_int_equal(readable_bytes(p.a.bsd, fd), 6);
    assert_int_equal(bsd_poll(p.a.bsd, &wait, 1, 0), 1);
    assert_int_equal(bsd_recv(p.a.bsd, fd, data, 2, 0), 2);
    assert_int_equal(readable_bytes(p.a.bsd, fd), 4);
    assert_int_equal(bsd_recv(p.a.bsd, fd, data, sizeof data, 0), 4);
    assert_int_equal(readable_bytes(p.a.bsd, fd), 0);
    assert_int_equal(bsd_close(p.a.bsd, fd), 0);
    assert_int_equal(bsd_close(p.b.bsd, peer), 0);
    place_close(&p);
}

static void low_water(struct place *p, int fd, int bytes)
{
    int got = 0;
    weir_socklen length = sizeof got;
    assert_int_equal(bsd_setsockopt(p->a.bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &bytes, sizeof bytes), 0);
    assert_int_equal(bsd_getsockopt(p->a.bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &got, &length), 0);
    assert_int_equal(got, bytes);
}

// recv waits for so many bytes of plaintext. The handshake, whose messages are shorter, and a record that is, wait for
// nothing: whether the mark was set before it was a descriptor of TLS, or after the handshake.
static void the_low_water_mark_is_of_plaintext(void **state)
{
    struct place p;
    pthread_t server;
    static char data[4000];
    (void)state;
    place_open(&p);
    for (int before = 0; before < 2; before++) {
        assert_int_equal(pthread_create(&server, NULL, echo, &p), 0);
        const int fd = bsd_socket(p.a.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
        const struct weir_timeval patience = {20, 0};
        assert_int_equal(bsd_setsockopt(p.a.bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &patience, sizeof patience), 0);
        if (before)
            low_water(&p, fd, 3000);
        client_tag(&p, fd, CLIENT_TAG, "weir.example");
        assert_int_equal(client_connect(&p, fd), 0);
        if (!before)
            low_water(&p, fd, 3000);
        for (int i = 0; i < 3; i++)
            assert_int_equal(bsd_send(p.a.bsd, fd, data, 1000, 0), 1000);
        assert_int_equal(bsd_recv(p.a.bsd, fd, data, sizeof data, 0), 3000);
        assert_int_equal(bsd_send(p.a.bsd, fd, data, 10, 0), 10);
        assert_int_equal(bsd_recv(p.a.bsd, fd, data, 10, 0), 10);  // as many as there is room for
        assert_int_equal(bsd_close(p.a.bsd, fd), 0);
        pthread_join(server, NULL);
    }
    place_close(&p);
}

// The peer's stream ends without close_notify.
static void a_cut_is_a_reset(void **state)
{
    struct place p;
    char data[8];
    (void)state;
    place_open(&p);
    const int fd = bsd_socket(p.a.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);  // speaks no TLS
    assert_int_equal(client_connect(&p, fd), 0);
    const int peer = bsd_accept(p.b.bsd, p.listener, NULL, NULL);
    assert_true(peer >= 0);
    assert_int_equal(bsd_shutdown(p.a.bsd, fd, WEIR_SHUT_WR), 0);
    assert_errno(bsd_recv(p.b.bsd, peer, data, sizeof data, 0), ECONNRESET);
    assert_int_equal(bsd_close(p.b.bsd, peer), 0);
    assert_int_equal(bsd_close(p.a.bsd, fd), 0);
    place_close(&p);
}

static void options_are_looked_at(void **state)
{
    struct place p;
    const char *const protocols[] = {"http/1.1", "h2"};
    const int verify = 2, many = 99, three = 3;
    (void)state;
    place_open(&p);
    const int fd = client_make(&p, CLIENT_TAG, "weir.example"),
              plain = bsd_socket(p.a.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    const int datagrams = bsd_socket(p.a.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_int_equal(bsd_setsockopt(p.a.bsd, fd, WEIR_SOL_TLS, WEIR_TLS_PEER_VERIFY, &verify, sizeof verify), 0);
    assert_errno(bsd_setsockopt(p.a.bsd, fd, WEIR_SOL_TLS, WEIR_TLS_PEER_VERIFY, &three, sizeof three), EINVAL);
    assert_int_equal(bsd_setsockopt(p.a.bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ALPN_LIST, protocols, sizeof protocols), 0);
    assert_errno(bsd_setsockopt(p.a.bsd, fd, WEIR_SOL_TLS, WEIR_TLS_SEC_TAG_LIST, &many, sizeof many), ENOENT);
    assert_errno(bsd_setsockopt(p.a.bsd, fd, WEIR_SOL_TLS, 33, &many, sizeof many), ENOPROTOOPT);
    assert_errno(bsd_setsockopt(p.a.bsd, plain, WEIR_SOL_TLS, WEIR_TLS_HOSTNAME, "a", 1), EINVAL);
    assert_errno(bsd_setsockopt(p.a.bsd, datagrams, WEIR_SOL_TLS, WEIR_TLS_SEC_TAG_LIST, &verify, sizeof verify),
                 ENOPROTOOPT);
    assert_errno(bsd_setsockopt(p.a.bsd, 4711, WEIR_SOL_TLS, WEIR_TLS_SEC_TAG_LIST, &verify, sizeof verify), EBADF);
    assert_int_equal(bsd_close(p.a.bsd, fd), 0);
    assert_int_equal(bsd_close(p.a.bsd, plain), 0);
    assert_int_equal(bsd_close(p.a.bsd, datagrams), 0);
    place_close(&p);
}

// What is refused leaves what was said before as it is, and what has begun is not changed any more.
static void options_that_cannot_be_change_nothing(void **state)
{
    static char long_name[300];
    const char *const good[] = {"first"}, *const long_list[] = {"second", long_name}, *many[20];
    const int verify = 2;
    int error = -1;
    struct place p;
    (void)state;
    memset(long_name, 'a', sizeof long_name - 1);
    for (uint32_t i = 0; i < 20; i++)
        many[i] = "x";
    place_open(&p);
    struct weir_bsd *const bsd = p.a.bsd;
    const int fd = client_make(&p, CLIENT_TAG, "weir.example");
    assert_int_equal(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ALPN_LIST, good, sizeof good), 0);
    assert_errno(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ALPN_LIST, long_list, sizeof long_list), EINVAL);
    assert_errno(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ALPN_LIST, many, sizeof many), EINVAL);
    assert_errno(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_HOSTNAME, long_name, 256), EINVAL);
    assert_errno(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_HOSTNAME, long_name, 100000), EINVAL);
    assert_errno(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_PEER_VERIFY, &verify, 3), EINVAL);
    assert_errno(bsd_setsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_SEC_TAG_LIST, &verify, 3), EINVAL);
    // WEIR_TLS_ERROR alone can be asked for.
    weir_socklen length = sizeof error;
    assert_int_equal(bsd_getsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ERROR, &error, &length), 0);
    assert_true(error == 0 && length == sizeof error);
    length = 3;
    assert_errno(bsd_getsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ERROR, &error, &length), EINVAL);
    assert_errno(bsd_getsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_ERROR, &error, NULL), EFAULT);
    assert_errno(bsd_getsockopt(bsd, fd, WEIR_SOL_TLS, WEIR_TLS_HOSTNAME, &error, &length), ENOPROTOOPT);
    // Tags are named anew and taken away; there is room for so many.
    int taken = 0;
    while (taken < 100 && weir_tls_sockets_tag(bsd, 1000 + taken, p.trusted) == WEIR_OK)
        taken++;
    assert_in_range(taken, 1, 99);
    assert_int_equal(weir_tls_sockets_tag(bsd, 2000, p.trusted), WEIR_NO_MEMORY);
    assert_int_equal(weir_tls_sockets_tag(bsd, 1000, NULL), WEIR_OK);
    assert_int_equal(weir_tls_sockets_tag(bsd, 2000, p.strange), WEIR_OK);
    assert_int_equal(weir_tls_sockets_tag(bsd, 2000, p.trusted), WEIR_OK);
    assert_int_equal(bsd_close(bsd, fd), 0);
    place_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_programs_speak_tls),
        cmocka_unit_test(connect_makes_the_handshake),
        cmocka_unit_test(poll_sees_what_is_inside),
        cmocka_unit_test(readable_bytes_are_plaintext),
        cmocka_unit_test(the_low_water_mark_is_of_plaintext),
        cmocka_unit_test(a_cut_is_a_reset),
        cmocka_unit_test(options_are_looked_at),
        cmocka_unit_test(options_that_cannot_be_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
