// SPDX-License-Identifier: BSD-2-Clause
// A connection and its two users, who write a pattern that depends on the position in the stream and compare every byte
// they read. They live from readiness (struct weir_watch) and from timers of their own.
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define PATTERN 65521u  // prime, so that no segment, chunk or window is a whole number of periods
#define PIECE 65536u    // written or read at once at most
#define TRIES 30        // to connect: a link may be down for a while
#define RETRY_NS SIM_MS(10)
#define NEVER_NS SIM_S(300)
#define AGAIN_NS SIM_S(1)  // after a failed connect
#define ADDRESS_NS SIM_MS(100)
#define CALLS 64  // of one user in one event; then the network gets its turn
#define FIRST_PORT 5000
#define FIRST_CLIENT 20000

struct side {
    struct weir_watch watch;  // first
    struct sim_flow *flow;
    struct sim_host *host;
    const struct sim_user *user;
    weir_socket socket;  // 0: none
    uint64_t total;      // that it will send
    uint64_t sent, received;
    uint32_t key_out, key_in;
    struct event wake;
    uint64_t write_from_ns, read_from_ns, closed_ns;
    bool server, watched, connected, write_ended, read_ended, closed, aborted;
};

struct sim_flow {
    struct sim_flow *next;
    struct sim *sim;
    struct sim_flow_options options;
    struct side client, server;
    struct weir_watch accepting;
    weir_socket listener;
    uint16_t port, client_port;
    struct sim_address from, to;  // of the newest attempt
    struct event start;
    struct sim_flow_stats stats;
};

static void pattern_make(struct sim *sim)
{
    uint64_t dice = 77;
    sim->pattern = malloc(PATTERN + PIECE);
    sim->scratch = malloc(PIECE);
    if (!sim->pattern || !sim->scratch)
        abort();
    for (uint32_t at = 0; at < PATTERN; at++)
        sim->pattern[at] = (uint8_t)(random_draw(&dice) >> 40);
    for (uint32_t at = 0; at < PIECE; at++)
        sim->pattern[PATTERN + at] = sim->pattern[at % PATTERN];
}

// PIECE bytes of a stream from `position` on.
static const uint8_t *pattern_at(const struct sim *sim, uint32_t key, uint64_t position)
{
    return sim->pattern + (position + key) % PATTERN;
}

static uint32_t least(uint64_t a, uint64_t b) { return (uint32_t)(a < b ? a : b); }
static uint32_t limited(uint32_t most, uint32_t bytes) { return most && most < bytes ? most : bytes; }
static struct weir *weir_of(const struct side *side) { return side->host->weir; }
static struct side *peer_of(const struct side *side)
{
    return side->server ? &side->flow->client : &side->flow->server;
}
static const char *name_of(const struct side *side) { return side->server ? "server" : "client"; }

static void wake_at(struct side *side, uint64_t at_ns)
{
    if (!event_is_set(&side->wake) || side->wake.at_ns > at_ns)
        event_set(&side->flow->sim->events, &side->wake, at_ns);
}

// --- ends ------------------------------------------------------------------------------------------------------------

static void listener_close(struct sim_flow *flow)
{
    if (flow->listener)
        (void)weir_socket_close(flow->server.host->weir, flow->listener);
    flow->listener = 0;
}

static void flow_finished(struct sim_flow *flow)
{
    struct sim_flow_stats *stats = &flow->stats;
    if (!flow->client.closed || stats->finished)
        return;
    // A server that was never accepted has nobody to close it; where the network is such that the handshake's end may
    // never have reached it, it is waited for only so long.
    const bool never =
        !flow->server.socket && flow->options.may_fail && flow->sim->now_ns > flow->client.closed_ns + NEVER_NS;
    if (flow->server.socket ? !flow->server.closed : !stats->failed && !flow->client.aborted && !never) {
        if (!flow->server.socket && flow->options.may_fail)
            event_set(&flow->sim->events, &flow->start, flow->sim->now_ns + NEVER_NS + 1);
        return;
    }
    stats->finished = true;
    stats->finished_ns = flow->sim->now_ns;
    listener_close(flow);
}

// Tells the observer, by `what`, of the end of this side.
static void tell(const struct side *side,
                 void (*what)(struct check *, struct sim_address, uint16_t, struct sim_address, uint16_t))
{
    const struct sim_flow *flow = side->flow;
    if (!flow->sim->check)
        return;
    if (side->server)
        what(flow->sim->check, flow->to, flow->port, flow->from, flow->client_port);
    else
        what(flow->sim->check, flow->from, flow->client_port, flow->to, flow->port);
}

static void forget(const struct side *side, int error)
{
    side->host->ends_told +=
        error == WEIR_TIMED_OUT || error == WEIR_HOST_UNREACHABLE || error == WEIR_NETWORK_UNREACHABLE;
    tell(side, check_forget);
}

static void side_closed(struct side *side)
{
    side->closed = true;
    side->closed_ns = side->flow->sim->now_ns;
    tell(side, check_left);
    event_cancel(&side->flow->sim->events, &side->wake);
    flow_finished(side->flow);
}

// The connection ended with an error. Memory comes back; the rest is expected only where the network or the other user
// was bad.
static void side_failed(struct side *side, int error)
{
    struct sim_flow *flow = side->flow;
    if (error == WEIR_NO_MEMORY) {
        wake_at(side, flow->sim->now_ns + RETRY_NS);
        return;
    }
    const struct side *peer = peer_of(side);
    const bool given_up = peer->closed && (flow->stats.failed || peer->host->ends_unseen);
    if (!flow->options.may_fail && !peer->aborted && !given_up)
        sim_fail(flow->sim, "%s of flow %s-%s:%u: %s after %llu bytes sent and %llu received", name_of(side),
                 flow->client.host->node.name, flow->server.host->node.name, flow->port, weir_error_name(error),
                 (unsigned long long)side->sent, (unsigned long long)side->received);
    flow->stats.failed = true;
    flow->stats.error = error;
    forget(side, error);
    (void)weir_socket_close(weir_of(side), side->socket);
    side_closed(side);
}

// --- writing ---------------------------------------------------------------------------------------------------------

static int put_in_place(struct side *side, uint32_t want)
{
    struct weir_span spans[8];
    const int lent = weir_socket_reserve(weir_of(side), side->socket, want, spans, 8);
    if (lent <= 0)
        return lent;
    for (int at = 0, index = 0; at < lent; at += (int)spans[index++].length)
        memcpy(spans[index].data, pattern_at(side->flow->sim, side->key_out, side->sent + (uint64_t)at),
               spans[index].length);
    return weir_socket_commit(weir_of(side), side->socket, (uint32_t)lent);
}

static void end_writing(struct side *side)
{
    side->write_ended = true;
    if (side->user->close_at_once) {
        (void)weir_socket_close(weir_of(side), side->socket);
        side_closed(side);
        return;
    }
    const int error = weir_socket_shutdown(weir_of(side), side->socket, WEIR_SHUT_WRITE);
    if (error != WEIR_OK && error != WEIR_NOT_CONNECTED)  // the latter: reset meanwhile; a read tells
        sim_fail(side->flow->sim, "shutdown: %s", weir_error_name(error));
}

// One write. Whether it got anywhere.
static bool side_write(struct side *side)
{
    struct sim *sim = side->flow->sim;
    const struct sim_user *user = side->user;
    if (side->write_ended || side->closed || sim->now_ns < side->write_from_ns)
        return false;
    const uint64_t stop = user->abort_after && user->abort_after < side->total ? user->abort_after : side->total;
    const uint64_t until = peer_of(side)->received < user->greeting ? least(stop, user->greeting) : stop;
    if (side->sent == until && until < stop)
        return false;  // greeting_read
    const uint32_t want = limited(user->write_most, least(until - side->sent, PIECE));
    int done = 0;
    if (want)
        done = user->in_place
                   ? put_in_place(side, want)
                   : weir_socket_write(weir_of(side), side->socket, pattern_at(sim, side->key_out, side->sent), want);
    if (done == WEIR_AGAIN)
        return false;
    if (done < 0) {
        side_failed(side, done);
        return false;
    }
    side->sent += (uint64_t)done;
    side->flow->stats.sent[side->server] = side->sent;
    if (user->abort_after && side->sent == user->abort_after) {
        side->aborted = true;
        forget(side, WEIR_OK);
        (void)weir_socket_abort(weir_of(side), side->socket);
        side_closed(side);
    } else if (side->sent == side->total) {
        end_writing(side);
    } else if (user->write_every_ns) {
        side->write_from_ns = sim->now_ns + user->write_every_ns;
    }
    return true;
}

// --- reading ---------------------------------------------------------------------------------------------------------

static void compare(struct side *side, const uint8_t *bytes, uint32_t length, uint64_t position)
{
    const uint8_t *expected = pattern_at(side->flow->sim, side->key_in, position);
    const unsigned long long end = position + length, sent = peer_of(side)->sent;
    if (end > sent)
        sim_fail(side->flow->sim, "the %s reads %llu bytes, only %llu were sent", name_of(side), end, sent);
    if (memcmp(bytes, expected, length) == 0)
        return;
    uint32_t at = 0;
    while (bytes[at] == expected[at])
        at++;
    const unsigned long long where = position + at;
    sim_fail(side->flow->sim, "the %s reads byte %llu as %02x, it is %02x", name_of(side), where, bytes[at],
             expected[at]);
}

static int take_in_place(struct side *side)
{
    struct weir_slice slices[8];
    const int lent = weir_socket_peek(weir_of(side), side->socket, 0, slices, 8);
    if (lent <= 0)
        return lent;
    const uint32_t taken = limited(side->user->read_most, least((uint32_t)lent, PIECE));
    uint32_t at = 0;
    for (int index = 0; at < taken; index++) {
        const uint32_t part = least(slices[index].length, taken - at);
        compare(side, slices[index].data, part, side->received + at);
        at += part;
    }
    return weir_socket_consume(weir_of(side), side->socket, taken);
}

static int take_copying(struct side *side)
{
    uint8_t *scratch = side->flow->sim->scratch;
    const int got = weir_socket_read(weir_of(side), side->socket, scratch, limited(side->user->read_most, PIECE));
    if (got > 0)
        compare(side, scratch, (uint32_t)got, side->received);
    return got;
}

// Of the peer; it goes on when the answer has had time to come.
static void greeting_read(struct side *peer)
{
    peer->write_from_ns = peer->flow->sim->now_ns + peer->user->answer_ns;
    wake_at(peer, peer->write_from_ns);
}

static void count_received(struct side *side, uint32_t bytes)
{
    struct sim_flow_stats *stats = &side->flow->stats;
    const uint32_t greeting = peer_of(side)->user->greeting;
    if (side->received < greeting && side->received + bytes >= greeting)
        greeting_read(peer_of(side));
    side->received += bytes;
    stats->received[!side->server] = side->received;
    if (side->server || !side->flow->client.total) {
        if (!stats->first_ns)
            stats->first_ns = side->flow->sim->now_ns;
        stats->last_ns = side->flow->sim->now_ns;
    }
}

static void end_of_stream(struct side *side)
{
    const struct side *peer = peer_of(side);
    side->read_ended = true;
    if (side->received != peer->sent || !peer->write_ended)
        sim_fail(side->flow->sim, "the %s's stream ends after %llu bytes of %llu", name_of(side),
                 (unsigned long long)side->received, (unsigned long long)peer->sent);
}

static bool side_read(struct side *side)
{
    struct sim *sim = side->flow->sim;
    const struct sim_user *user = side->user;
    if (side->read_ended || side->closed || sim->now_ns < side->read_from_ns)
        return false;
    const int done = user->in_place ? take_in_place(side) : take_copying(side);
    if (done == WEIR_AGAIN)
        return false;
    if (done < 0) {
        side_failed(side, done);
        return false;
    }
    if (done == 0)
        end_of_stream(side);
    else
        count_received(side, (uint32_t)done);
    if (user->read_every_ns)
        side->read_from_ns = sim->now_ns + user->read_every_ns;
    return true;
}

// --- a user's turn ---------------------------------------------------------------------------------------------------

static void side_turn(struct side *side)
{
    for (uint32_t calls = 0; !side->closed && side->connected; calls++) {
        const bool wrote = side_write(side), read = side_read(side);
        if (!side->closed && side->write_ended && side->read_ended) {
            (void)weir_socket_close(weir_of(side), side->socket);
            side_closed(side);
        }
        if (!wrote && !read)
            break;
        if (calls == CALLS) {
            wake_at(side, side->flow->sim->now_ns);
            break;
        }
    }
    if (side->closed)
        return;
    if (!side->write_ended && side->write_from_ns > side->flow->sim->now_ns)
        wake_at(side, side->write_from_ns);
    if (!side->read_ended && side->read_from_ns > side->flow->sim->now_ns)
        wake_at(side, side->read_from_ns);
}

static void connect_again(struct side *client, int error);

static void side_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct side *side = (struct side *)watch;
    int32_t error = 0;
    if (side->closed || side->socket != socket)
        return;
    if (!side->connected && events & WEIR_ERROR) {
        (void)weir_socket_get(weir_of(side), socket, WEIR_OPTION_ERROR, &error);
        connect_again(side, error);
        return;
    }
    if (!side->connected && events & WEIR_WRITABLE) {
        side->connected = true;
        side->flow->stats.connected = true;
        side->flow->stats.connected_ns = side->flow->sim->now_ns;
        side->read_from_ns = side->flow->sim->now_ns + side->user->read_from_ns;
    }
    side_turn(side);
}

// Asks to be told of news; that takes memory, so it may have to be asked again.
static void watch_side(struct side *side)
{
    side->watched = weir_socket_set_user(weir_of(side), side->socket, &side->watch) == WEIR_OK;
    if (!side->watched)
        wake_at(side, side->flow->sim->now_ns + RETRY_NS);
}

static void side_wake(void *context)
{
    struct side *side = context;
    if (!side->socket || side->closed)
        return;
    host_clock(side->host);
    if (!side->watched) {
        watch_side(side);
        const int ready = weir_socket_ready(weir_of(side), side->socket);
        if (side->watched && !side->connected && ready > 0)
            side_event(&side->watch, side->socket, (uint32_t)ready);
    }
    side_turn(side);
    sim_host_kick(side->host);
}

// --- opening ---------------------------------------------------------------------------------------------------------

static void set(struct side *side, weir_socket socket, enum weir_option option, uint32_t value)
{
    const int error = value ? weir_socket_set(weir_of(side), socket, option, (int32_t)value) : WEIR_OK;
    if (error != WEIR_OK)
        sim_fail(side->flow->sim, "option %d: %s", option, weir_error_name(error));
}

// After longer than the observer lets anybody be silent who has something to send (check.c): else it would hide a timer
// that is missing.
static void keep_alive(struct side *side, weir_socket socket)
{
    set(side, socket, WEIR_OPTION_KEEPALIVE, 1);
    set(side, socket, WEIR_OPTION_KEEPALIVE_IDLE_S, 600);
}

static void set_options(struct side *side, weir_socket socket)
{
    const struct sim_user *user = side->user;
    const char *cc = side->flow->options.congestion_control;
    set(side, socket, WEIR_OPTION_NO_DELAY, user->no_delay);
    set(side, socket, WEIR_OPTION_QUICK_ACK, user->quick_ack);
    set(side, socket, WEIR_OPTION_SEND_BUFFER, user->send_buffer);
    set(side, socket, WEIR_OPTION_RECEIVE_BUFFER, user->receive_buffer);
    // Who waits for a peer whose reset was lost finds out.
    const struct sim_flow_options *options = &side->flow->options;
    if (options->may_fail || options->client.abort_after || options->server.abort_after)
        keep_alive(side, socket);
    if (cc && weir_socket_set_congestion(weir_of(side), socket, cc) != WEIR_OK)
        sim_fail(side->flow->sim, "there is no congestion control %s", cc);
}

// The stack chose our address, if the host has several; before that the first is as good as any.
static void learn_address(struct sim_flow *flow)
{
    struct weir_endpoint local;
    const struct side *client = &flow->client;
    if (weir_socket_local(weir_of(client), client->socket, &local) == WEIR_OK && !weir_addr_is_any(local.addr))
        flow->from = sim_address_of(local.addr);
}

static void connect_client(struct sim_flow *flow)
{
    struct side *client = &flow->client;
    struct weir *weir = weir_of(client);
    const struct weir_endpoint peer = {sim_host_address(flow->server.host), flow->port};
    const struct weir_addr own = sim_host_address(client->host);
    host_clock(client->host);
    if (weir_addr_is_any(peer.addr) || weir_addr_is_any(own)) {  // one of them has no address yet
        event_set(&flow->sim->events, &flow->start, flow->sim->now_ns + ADDRESS_NS);
        return;
    }
    flow->from = sim_address_of(own);
    flow->to = sim_address_of(peer.addr);
    const weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    if (socket < 0) {
        event_set(&flow->sim->events, &flow->start, flow->sim->now_ns + RETRY_NS);
        return;
    }
    flow->client_port = client->host->next_client++;
    if (!client->host->next_client)
        client->host->next_client = FIRST_CLIENT;
    const bool free_choice = client->host->options.autoconfigured;
    const struct weir_endpoint local = {free_choice ? weir_addr_any() : own, flow->client_port};
    client->socket = socket;
    flow->stats.tries++;
    set_options(client, socket);
    watch_side(client);
    int error = weir_socket_bind(weir, socket, &local);
    if (error == WEIR_OK)
        error = weir_socket_connect(weir, socket, &peer);
    learn_address(flow);
    if (error != WEIR_OK && error != WEIR_IN_PROGRESS)
        connect_again(client, error);
    sim_host_kick(client->host);
}

// Of IPv6: where routers come and go, and while an address is probed once more, since the link was down.
static bool no_way(int error)
{
    return error == WEIR_NO_ROUTE || error == WEIR_NETWORK_UNREACHABLE || error == WEIR_NO_ADDRESS;
}

static void connect_again(struct side *client, int error)
{
    struct sim_flow *flow = client->flow;
    const bool unreachable = error == WEIR_HOST_UNREACHABLE || (flow->sim->options.family == 6 && no_way(error));
    if (flow->stats.tries >= TRIES || (error != WEIR_TIMED_OUT && !unreachable && error != WEIR_NO_MEMORY)) {
        side_failed(client, error);
        return;
    }
    forget(client, error);
    (void)weir_socket_close(weir_of(client), client->socket);
    client->socket = 0;
    event_set(&flow->sim->events, &flow->start, flow->sim->now_ns + AGAIN_NS);
}

static void accept_event(struct weir_watch *watch, weir_socket listener, uint32_t events)
{
    struct sim_flow *flow = (struct sim_flow *)((char *)watch - offsetof(struct sim_flow, accepting));
    struct side *server = &flow->server;
    struct weir *weir = weir_of(server);
    struct weir_endpoint peer = {weir_addr_any(), 0};
    weir_socket socket;
    (void)events;
    while ((socket = weir_socket_accept(weir, listener)) > 0) {
        // Of an attempt that the client has given up, or made once more by an old acknowledgement and a SYN cookie.
        if (weir_socket_peer(weir, socket, &peer) != WEIR_OK || peer.port != flow->client_port || server->socket) {
            (void)weir_socket_abort(weir, socket);
            continue;
        }
        set_options(server, socket);
        server->socket = socket;
        watch_side(server);
        server->connected = true;
        server->read_from_ns = flow->sim->now_ns + server->user->read_from_ns;
        wake_at(server, flow->sim->now_ns);
    }
}

static bool listen_server(struct sim_flow *flow)
{
    struct side *server = &flow->server;
    struct weir *weir = weir_of(server);
    const struct weir_endpoint local = {weir_addr_any(), flow->port};
    host_clock(server->host);
    flow->listener = weir_socket_open(weir, WEIR_STREAM, 0);
    if (flow->listener < 0) {
        flow->listener = 0;
        return false;
    }
    // its scale is told in the SYN-ACK
    set(server, flow->listener, WEIR_OPTION_RECEIVE_BUFFER, server->user->receive_buffer);
    int error = weir_socket_set_user(weir, flow->listener, &flow->accepting);
    if (error == WEIR_OK)
        error = weir_socket_bind(weir, flow->listener, &local);
    if (error == WEIR_OK)
        error = weir_socket_listen(weir, flow->listener, 4);
    if (error == WEIR_OK)
        return true;
    listener_close(flow);
    if (error != WEIR_NO_MEMORY)
        sim_fail(flow->sim, "listening at %u: %s", flow->port, weir_error_name(error));
    return false;
}

static void flow_start(void *context)
{
    struct sim_flow *flow = context;
    if (flow->client.closed) {
        flow_finished(flow);
        return;
    }
    if (!flow->listener && !listen_server(flow)) {
        event_set(&flow->sim->events, &flow->start, flow->sim->now_ns + RETRY_NS);
        return;
    }
    connect_client(flow);
}

static void side_init(struct side *side, struct sim_flow *flow, struct sim_host *host, bool server)
{
    side->watch.event = side_event;
    side->flow = flow;
    side->host = host;
    side->server = server;
    side->user = server ? &flow->options.server : &flow->options.client;
    side->total = side->user->bytes;
    side->wake = (struct event){.happen = side_wake, .context = side};
}

struct sim_flow *sim_flow_add(struct sim *sim, struct sim_host *client, struct sim_host *server,
                              const struct sim_flow_options *options)
{
    struct sim_flow *flow = calloc(1, sizeof *flow);
    uint64_t dice = random_state(sim->options.seed, 2 + sim->flow_count++ * UINT64_C(4));
    if (!flow)
        abort();
    if (!sim->pattern)
        pattern_make(sim);
    flow->sim = sim;
    if (options)
        flow->options = *options;
    flow->port = server->next_port++;
    if (!server->next_port)
        server->next_port = FIRST_PORT;
    side_init(&flow->client, flow, client, false);
    side_init(&flow->server, flow, server, true);
    if (!flow->client.total && !flow->server.total)
        flow->client.total = UINT64_MAX;
    flow->client.key_out = flow->server.key_in = random_below(&dice, PATTERN);
    flow->server.key_out = flow->client.key_in = random_below(&dice, PATTERN);
    flow->accepting.event = accept_event;
    flow->start = (struct event){.happen = flow_start, .context = flow};
    event_set(&sim->events, &flow->start, flow->options.start_ns > sim->now_ns ? flow->options.start_ns : sim->now_ns);
    *sim->last_flow = flow;
    sim->last_flow = &flow->next;
    return flow;
}

void sim_flow_stop(struct sim_flow *flow)
{
    struct side *client = &flow->client;
    client->total = client->sent;
    if (client->connected && !client->closed && !client->write_ended) {
        host_clock(client->host);
        end_writing(client);
        sim_host_kick(client->host);
    }
}

struct sim *sim_of_flow(const struct sim_flow *flow) { return flow->sim; }
const struct sim_flow_stats *sim_flow_stats(const struct sim_flow *flow) { return &flow->stats; }
struct sim_flow *sim_flow_next(struct sim *sim, const struct sim_flow *after)
{
    return after ? after->next : sim->flows;
}

bool sim_flow_info(const struct sim_flow *flow, bool server, struct weir_tcp_info *info)
{
    const struct side *side = server ? &flow->server : &flow->client;
    return side->connected && !side->closed && weir_socket_tcp_info(weir_of(side), side->socket, info) == WEIR_OK;
}

void flows_left_alone(struct sim *sim, const struct sim_host *host)
{
    for (struct sim_flow *flow = sim->flows; flow; flow = flow->next) {
        struct side *const sides[] = {&flow->client, &flow->server};
        for (uint32_t end = 0; end < 2; end++)
            if (sides[end]->host == host && sides[end]->closed && sides[!end]->socket && !sides[!end]->closed) {
                host_clock(sides[!end]->host);
                keep_alive(sides[!end], sides[!end]->socket);
                sim_host_kick(sides[!end]->host);
            }
    }
}

void flows_close(struct sim *sim)
{
    while (sim->flows) {
        struct sim_flow *flow = sim->flows;
        sim->flows = flow->next;
        event_cancel(&sim->events, &flow->start);
        event_cancel(&sim->events, &flow->client.wake);
        event_cancel(&sim->events, &flow->server.wake);
        if (flow->client.socket && !flow->client.closed)
            (void)weir_socket_set_user(weir_of(&flow->client), flow->client.socket, NULL);
        if (flow->server.socket && !flow->server.closed)
            (void)weir_socket_set_user(weir_of(&flow->server), flow->server.socket, NULL);
        if (flow->listener)
            (void)weir_socket_set_user(weir_of(&flow->server), flow->listener, NULL);
        free(flow);
    }
    free(sim->pattern);
    free(sim->scratch);
}
