// SPDX-License-Identifier: BSD-2-Clause
// Applications with state and a peer that says anything, at any time, in any pieces: iperf3's server and client
// (control channel and streams), the HTTP server, SNTP, the DNS resolver, DHCP. Both are on one instance, over its
// loopback, in virtual time; DHCP's server is on the link. Answers over UDP repeat what was asked (identifier, nonce,
// question) where the script wants that, so that the rest is read.
//
// What is checked, besides the sanitizers: that the peer's connections come to an end when it goes, that a server then
// is as it was at first, and that all memory goes back.
#include "apps/bench.h"

#include "dhcp/client.h"
#include "dns/resolver.h"
#include "fuzz.h"
#include "status/server.h"
#include "iperf3/client.h"
#include "iperf3/server.h"
#include "sntp.h"
#include "wire/arp.h"
#include "wire/ip4.h"
#include "wire/udp.h"

#define OPERATIONS 200u
#define STREAMS 6u  // that the script has to do with one by one
#define CROWD 48u
#define ASKED_MAX 600u
#define TURNS 200u  // of the loop, in one step of time

enum { IPERF3_SERVES, IPERF3_ASKS, HTTP_SERVES, SNTP_ASKS, DNS_ASKS, DHCP_ASKS, APPLICATIONS };

static struct world {
    struct bench bench;
    struct bytes in;
    int application;
    weir_socket streams[STREAMS], crowd[CROWD], listener, datagrams;
    uint32_t come;               // of the crowd
    struct weir_endpoint asker;  // who asked over UDP
    uint8_t asked[ASKED_MAX];    // and what
    uint32_t asked_bytes;
} world;

static struct iperf3_server iperf3_server;
static struct iperf3_client iperf3_client;
static struct status_server http;
static struct sntp sntp;
static struct dns dns;
static struct dhcp dhcp;

// --- time ------------------------------------------------------------------------------------------------------------

// The application may be as busy as it likes: a turn takes some time in any case.
static void turn(struct world *w, uint64_t end_us, uint64_t least_us)
{
    struct fixture *f = &w->bench.f;
    const uint64_t due_us = loop_run(&w->bench.loop, f->now_us), next_us = f->now_us + least_us;
    f->now_us = due_us < next_us ? next_us : due_us < end_us ? due_us : end_us;
    weir_clock(f->weir, f->now_us);
}

static void hear_datagrams(struct world *w)
{
    struct weir *weir = w->bench.f.weir;
    struct weir_message message;
    struct weir_slice slice;
    while (w->datagrams > 0 && weir_socket_peek_message(weir, w->datagrams, &message, &slice) >= 0) {
        w->asker = message.peer;
        w->asked_bytes = slice.length < ASKED_MAX ? slice.length : ASKED_MAX;
        memcpy(w->asked, slice.data, w->asked_bytes);
        CHECK(weir_socket_discard(weir, w->datagrams) >= 0);
    }
}

static void hear_frames(struct world *w)
{
    struct fixture *f = &w->bench.f;
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        uint32_t length;
        struct ip4 ip;
        const uint8_t *frame = fixture_sent(f, i, &length);
        if (length <= 14 || get16(frame + 12) != 0x0800 || ip4_parse(frame + 14, length - 14, false, &ip) != IP4_OK)
            continue;
        const uint8_t *udp = frame + 14 + ip.header_length;
        if (ip.protocol != IP_UDP || get16(udp + 2) != 67)
            continue;
        w->asked_bytes = ip.total_length - ip.header_length - 8u;
        w->asked_bytes = w->asked_bytes < ASKED_MAX ? w->asked_bytes : ASKED_MAX;
        memcpy(w->asked, udp + 8, w->asked_bytes);
    }
    fixture_clear(f);
}

static void pass(struct world *w, uint64_t us, uint64_t least_us)
{
    const uint64_t end_us = w->bench.f.now_us + us;
    for (uint32_t n = 0; n < TURNS && (n == 0 || w->bench.f.now_us < end_us); n++) {
        turn(w, end_us, least_us);
        hear_datagrams(w);
    }
    hear_frames(w);
}

// --- the applications ------------------------------------------------------------------------------------------------

static void print(void *context, const char *text) { CHECK(context == NULL && strlen(text) < 1000000); }
static void iperf3_done(void *context, const char *error) { CHECK(context == NULL && (!error || *error)); }
static void iperf3_log(void *context, const char *line) { CHECK(context == NULL && strlen(line) < 200); }
static void sntp_done(struct sntp *of, int error, const struct sntp_time *time, void *context)
{
    (void)of, (void)context;
    CHECK(error <= 0 && (error || time->stratum <= 15));
}
static void dns_resolved(void *context, int result, const struct dns_answer *answer)
{
    (void)context;
    CHECK(result != DNS_FOUND || (answer->count && answer->count <= DNS_ADDRESSES));
}

static void resolve(void)
{
    static const char *const names[4] = {"example.org", "a.b", "www.example.org", "example.org."};
    struct dns_answer answer = {0};
    const int result = dns_resolve(&dns, names[take8(&world.in) & 3], &answer, dns_resolved, NULL);
    CHECK(result != DNS_FOUND || answer.count);
}

static void listen_as_peer(struct world *w, uint16_t port)
{
    struct weir *weir = w->bench.f.weir;
    const struct weir_endpoint local = {weir_addr_any(), port};
    w->listener = weir_socket_open(weir, WEIR_STREAM, 0);
    w->datagrams = weir_socket_open(weir, WEIR_DATAGRAM, 0);
    CHECK(weir_socket_bind(weir, w->listener, &local) == WEIR_OK &&
          weir_socket_listen(weir, w->listener, 4) == WEIR_OK);
    CHECK(weir_socket_bind(weir, w->datagrams, &local) == WEIR_OK);
}

static void start_iperf3_client(struct world *w, uint8_t how)
{
    memset(&iperf3_client, 0, sizeof iperf3_client);
    iperf3_client.print = print;
    iperf3_client.done = iperf3_done;
    iperf3_client.json = how & 0x10;
    iperf3_client.test.parameters = (struct iperf3_parameters){.udp = how & 0x20,
                                                               .reverse = how & 0x40,
                                                               .bidirectional = (how & 0xc0) == 0x80,
                                                               .rate = 100000,
                                                               .block = 1000,
                                                               .time_s = 2,
                                                               .parallel = how & 0x80 ? 2 : 1};
    CHECK(iperf3_client_start(&iperf3_client, &w->bench.loop, bench_here(IPERF3_PORT)) == WEIR_OK);
}

static void start(struct world *w)
{
    static struct weir_netif *netifs[1];
    const struct weir_addr here = weir_ip4(127, 0, 0, 1);
    const uint8_t how = take8(&w->in);
    struct loop *loop = &w->bench.loop;
    w->application = (how & 15) % APPLICATIONS;
    netifs[0] = &w->bench.f.netif;
    switch (w->application) {
    case IPERF3_SERVES:
        CHECK(iperf3_server_start(&iperf3_server, loop, IPERF3_PORT, iperf3_log, NULL) == WEIR_OK);
        w->datagrams = weir_socket_open(w->bench.f.weir, WEIR_DATAGRAM, 0);
        break;
    case IPERF3_ASKS:
        listen_as_peer(w, IPERF3_PORT);
        start_iperf3_client(w, how);
        break;
    case HTTP_SERVES: CHECK(status_server_start(&http, loop, 80, netifs, 1) == WEIR_OK); break;
    case SNTP_ASKS:
        listen_as_peer(w, SNTP_PORT);
        CHECK(sntp_start(&sntp, loop, here, how & 0x10, sntp_done, NULL) == WEIR_OK);
        break;
    case DNS_ASKS:
        listen_as_peer(w, DNS_PORT);
        dns_start(&dns, loop);
        dns_servers(&dns, &here, 1);
        resolve();
        break;
    default: CHECK(dhcp_start(&dhcp, loop, &w->bench.f.netif, "fuzz", NULL, NULL) == WEIR_OK); break;
    }
}

static void stop(struct world *w)
{
    switch (w->application) {
    case IPERF3_SERVES: iperf3_server_stop(&iperf3_server); break;
    case IPERF3_ASKS: iperf3_client_stop(&iperf3_client); break;
    case HTTP_SERVES: status_server_stop(&http); break;
    case SNTP_ASKS: sntp_stop(&sntp); break;
    case DNS_ASKS: dns_stop(&dns); break;
    default: dhcp_stop(&dhcp); break;
    }
}

// The peer has gone: so have its connections.
static void check_idle(const struct world *w)
{
    uint32_t guests = 0, connections = 0;
    for (uint32_t i = 0; w->application == IPERF3_SERVES && i < IPERF3_GUESTS; i++)
        guests += iperf3_server.guests[i].socket != 0;
    for (uint32_t i = 0; w->application == HTTP_SERVES && i < STATUS_CONNECTIONS; i++)
        connections += http.connections[i].state != HTTP_FREE;
    CHECK(!guests && !connections);
    CHECK(w->application != IPERF3_SERVES || iperf3_server.phase == IPERF3_IDLE);
}

// --- the peer --------------------------------------------------------------------------------------------------------

static uint16_t server_port(const struct world *w) { return w->application == HTTP_SERVES ? 80 : IPERF3_PORT; }

static void connect_stream(struct world *w, weir_socket *at)
{
    struct weir *weir = w->bench.f.weir;
    const struct weir_endpoint server = bench_here(server_port(w));
    if (*at > 0)
        (void)weir_socket_close(weir, *at);
    *at = w->listener > 0 ? weir_socket_accept(weir, w->listener) : weir_socket_open(weir, WEIR_STREAM, 0);
    if (*at > 0 && w->listener <= 0)
        (void)weir_socket_connect(weir, *at, &server);
}

// Some more, that say nothing, or the same.
static void crowd_comes(struct world *w, uint8_t how)
{
    for (uint32_t n = 0; n < 8; n++) {
        weir_socket *at = &w->crowd[w->come++ % CROWD];
        connect_stream(w, at);
        pass(w, 1000, 100);
        if (how & 8)
            (void)weir_socket_write(w->bench.f.weir, *at, "GET /bytes/99999 HTTP/1.1\r\nHost: a\r\n\r\n", 1 + how * 2u);
    }
}

static void write_input(struct world *w, weir_socket at)
{
    uint32_t length = take8(&w->in);
    const uint8_t *bytes = take(&w->in, &length);
    if (length)
        (void)weir_socket_write(w->bench.f.weir, at, bytes, length);
}

static void write_text(struct world *w, weir_socket at, const char *text, uint32_t length)
{
    (void)weir_socket_write(w->bench.f.weir, at, text, length);
}

// What the protocols are made of, so that mutations need not find it.
static void write_words(struct world *w, weir_socket at, uint8_t which)
{
    static const char *const texts[] = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                                        "GET /status.json HTTP/1.1\r\nHost: a\r\n\r\n",
                                        "GET /bytes/300000 HTTP/1.1\r\nHost: a\r\n\r\n",
                                        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 70000\r\n\r\n",
                                        "HEAD /bytes/9 HTTP/1.1\r\nHost: a\r\nRange: bytes=2-5\r\n\r\n",
                                        "GET / HTTP/1.0\r\n\r\n",
                                        "\r\n\r\n",
                                        "GET /"};
    static const char *const json[] = {
        "{\"tcp\":true,\"time\":1,\"parallel\":1,\"len\":1000,\"bandwidth\":1000000}",
        "{\"udp\":true,\"time\":1,\"parallel\":2,\"len\":100,\"bandwidth\":1000000}",
        "{\"tcp\":true,\"reverse\":true,\"num\":5000,\"parallel\":1}",
        "{\"tcp\":true,\"bidirectional\":true,\"time\":1,\"parallel\":2,\"bandwidth\":100000}",
        "{\"cpu_util_total\":1.5,\"streams\":[{\"id\":1,\"bytes\":1,\"retransmits\":2,\"packets\":5}]}"};
    static const char cookie[IPERF3_COOKIE] = "abcdefghijklmnopqrstuvwxyz234567abcd";
    const char state = (char)(which >> 3);
    if (w->application == HTTP_SERVES) {
        const char *text = texts[which & 7];
        write_text(w, at, text, (uint32_t)strlen(text));
    } else if ((which & 7) < 5) {
        const char *text = json[which & 7];
        const uint32_t length = (uint32_t)strlen(text);
        const uint8_t head[4] = {0, 0, (uint8_t)(length >> 8), (uint8_t)length};
        write_text(w, at, (const char *)head, 4);
        write_text(w, at, text, length);
    } else if ((which & 7) == 5) {
        write_text(w, at, cookie, sizeof cookie);
    } else {
        write_text(w, at, &state, 1);
    }
}

static void read_some(struct world *w, weir_socket at, uint32_t bytes)
{
    static uint8_t buffer[65536];
    const int got = weir_socket_read(w->bench.f.weir, at, buffer, bytes);
    CHECK(got <= (int)bytes);
}

static void end_stream(struct world *w, weir_socket *at, uint8_t how)
{
    struct weir *weir = w->bench.f.weir;
    if ((how & 3) == 0) {
        (void)weir_socket_shutdown(weir, *at, WEIR_SHUT_WRITE);
        return;
    }
    (void)((how & 3) == 1 ? weir_socket_abort(weir, *at) : weir_socket_close(weir, *at));
    *at = 0;
}

// A frame of the DHCP server on the link: to everybody, since nobody has an address yet.
static void send_dhcp(struct world *w, const uint8_t *message, uint32_t length)
{
    uint8_t frame[14 + IP4_BYTES + UDP_BYTES + ASKED_MAX + 256];
    memset(frame, 0xff, 6);
    memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
    put16(frame + 12, 0x0800);
    ip4_emit(frame + 14, &(struct ip4){.source = 0x0a000009,
                                       .destination = 0xffffffff,
                                       .total_length = (uint16_t)(IP4_BYTES + UDP_BYTES + length),
                                       .ttl = 64,
                                       .protocol = IP_UDP});
    udp_emit(frame + 14 + IP4_BYTES,
             &(struct udp_header){.source = 67, .destination = 68, .length = (uint16_t)(UDP_BYTES + length)});
    memcpy(frame + 14 + IP4_BYTES + UDP_BYTES, message, length);
    fixture_input(&w->bench.f, frame, 14 + IP4_BYTES + UDP_BYTES + length);
}

// Where the question ends that was asked, which is ours, and so well formed. Behind it may be the record of EDNS.
static uint32_t question_end(const struct world *w)
{
    uint32_t at = 12;
    while (at < w->asked_bytes && w->asked[at])
        at += w->asked[at] + 1u;
    CHECK(at + 5 <= w->asked_bytes);
    return at + 5;
}

// Another host has the address that was offered.
static void claim_address(struct world *w)
{
    uint8_t frame[14 + ARP_BYTES];
    struct arp_packet arp = {.operation = ARP_REPLY, .sender = 0x0a000032, .target = 0x0a000032};
    memcpy(arp.sender_mac, FIXTURE_PEER_MAC, 6);
    memset(frame, 0xff, 6);
    memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
    put16(frame + 12, 0x0806);
    arp_emit(frame + 14, &arp);
    fixture_input(&w->bench.f, frame, sizeof frame);
}

// What belongs to the question is put in its place; `message` holds what the input says.
static uint32_t fit_answer(const struct world *w, uint8_t *message, uint32_t length)
{
    if (w->application == SNTP_ASKS && w->asked_bytes >= 48 && length >= 32) {
        memcpy(message + 24, w->asked + 40, 8);
    } else if (w->application == DHCP_ASKS && w->asked_bytes >= 240) {
        memmove(message + 240, message, length);
        memcpy(message, w->asked, 240);
        message[0] = 2;
        memcpy(message + 16, (const uint8_t[]){10, 0, 0, 50, 10, 0, 0, 9}, 8);
        return length + 240;
    } else if (w->application == DNS_ASKS && length >= 8) {
        const uint32_t question = question_end(w);
        uint8_t head[8];
        memcpy(head, message, 8);
        memmove(message + question, message + 8, length - 8);
        memcpy(message, w->asked, question);
        memcpy(message + 2, head, 2);
        memcpy(message + 6, head + 2, 6);
        return length - 8 + question;
    }
    return length;
}

static void answer(struct world *w, bool fitting)
{
    uint8_t message[ASKED_MAX + 300];
    uint32_t length = take8(&w->in);
    const uint8_t *bytes = take(&w->in, &length);
    memcpy(message, bytes, length);
    if (fitting && w->application == DNS_ASKS && !w->asked_bytes)
        return;
    if (fitting)
        length = fit_answer(w, message, length);
    if (w->application == DHCP_ASKS) {
        send_dhcp(w, message, length);
        return;
    }
    const struct weir_endpoint server = bench_here(server_port(w));
    const struct weir_message to = {.peer = w->application == IPERF3_SERVES ? server : w->asker};
    const struct weir_slice slice = {message, length};
    if (w->datagrams > 0 && to.peer.port)
        (void)weir_socket_send_message(w->bench.f.weir, w->datagrams, &to, &slice, 1);
}

static void operate(struct world *w)
{
    static const uint32_t steps_us[8] = {100, 1000, 20000, 200000, 1000000, 5000000, 11000000, 100000000};
    static const uint8_t hello[2][4] = {{0x39, 0x38, 0x37, 0x36}, {0x36, 0x37, 0x38, 0x39}};
    const uint8_t operation = take8(&w->in), arg = operation >> 4;
    weir_socket *at = &w->streams[arg % STREAMS];
    switch (operation & 15) {
    case 0:
    case 1: connect_stream(w, at); break;
    case 2: write_input(w, *at); break;
    case 3:
    case 4: write_words(w, *at, take8(&w->in)); break;
    case 5: read_some(w, *at, 16); break;
    case 6: read_some(w, *at, 65536); break;
    case 7: end_stream(w, at, take8(&w->in)); break;
    case 8: answer(w, false); break;
    case 9:
    case 10: answer(w, true); break;
    case 11: {
        if (w->application == DHCP_ASKS)
            claim_address(w);
        const struct weir_message to = {.peer = w->asker.port ? w->asker : bench_here(IPERF3_PORT)};
        const struct weir_slice slice = {hello[arg & 1], 4};
        if (w->datagrams > 0)
            (void)weir_socket_send_message(w->bench.f.weir, w->datagrams, &to, &slice, 1);
        break;
    }
    case 12:
        if (w->application == DNS_ASKS)
            resolve();
        else if (w->application == HTTP_SERVES || w->application == IPERF3_SERVES)
            crowd_comes(w, arg);
        break;
    default: pass(w, steps_us[arg & 7], 100); break;
    }
    if (!(arg & 8))
        pass(w, 1000, 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world *w = &world;
    memset(w, 0, sizeof *w);
    w->in = (struct bytes){data, (uint32_t)size};
    bench_open(&w->bench);
    start(w);
    for (uint32_t n = 0; n < OPERATIONS && w->in.left; n++)
        operate(w);
    for (uint32_t i = 0; i < STREAMS; i++)
        if (w->streams[i] > 0)
            (void)weir_socket_close(w->bench.f.weir, w->streams[i]);
    for (uint32_t i = 0; i < CROWD; i++)
        if (w->crowd[i] > 0)
            (void)weir_socket_close(w->bench.f.weir, w->crowd[i]);
    pass(w, 200000000, 1000000);
    check_idle(w);
    stop(w);
    fixture_close(&w->bench.f);
    return 0;
}
