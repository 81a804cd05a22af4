// SPDX-License-Identifier: BSD-2-Clause
#include "talk.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/wrap/pcapng.h"
#include "tcp/isn.h"
#include "tcp/record.h"

#define PORT 7
#define FIRST_CLIENT_PORT 40000u
#define LIMIT_US (UINT64_C(7200) * 1000000)  // of virtual time: far more than the worst link needs
#define RETRY_US 10000u                      // after WEIR_NO_MEMORY
#define LOOK_US 1000000u                     // the test itself looks at least so often
#define OPEN_TRIES 4                         // a handshake that ends unluckily is begun anew

// --- what a seed stands for ------------------------------------------------------------------------------------------

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t bound) { return (uint32_t)((draw(state) >> 32) * bound >> 32); }
static bool one_in(uint64_t *state, uint32_t count) { return below(state, count) == 0; }
static uint32_t between(uint64_t *state, uint32_t low, uint32_t high) { return low + below(state, high - low + 1); }
// Small numbers often, large ones seldom: evenly over the logarithm.
static uint32_t spread(uint64_t *state, uint32_t low, uint32_t high)
{
    uint32_t bits = 0;
    while (high >> bits > low && bits < 31)
        bits++;
    const uint32_t top = high >> below(state, bits + 1);
    return top <= low ? low : between(state, low, top);
}

static void plan_link(struct talk_plan *plan, struct pair_link *link, uint64_t *random)
{
    static const uint32_t losses[] = {0, 0, 0, 10000, 50000, 100000, 200000};
    static const uint32_t delays_us[] = {0, 50, 1000, 10000, 50000};
    link->delay_us = delays_us[below(random, 5)];
    link->loss_ppm = losses[below(random, 7)];
    link->reorder_ppm = one_in(random, 3) ? between(random, 1000, 300000) : 0;
    link->reorder_us = between(random, 1, 20000);
    link->duplicate_ppm = one_in(random, 3) ? between(random, 1000, 200000) : 0;
    if (one_in(random, 3)) {
        link->rate = spread(random, 20000, 20000000);
        link->queue_frames = one_in(random, 2) ? between(random, 3, 60) : 0;
    }
    plan->corrupt_ppm = one_in(random, 4) ? between(random, 1000, 50000) : plan->corrupt_ppm;
}

static enum fixture_mode plan_mode(enum fixture_mode given, uint64_t *random)
{
    static const enum fixture_mode modes[] = {FIXTURE_PLAIN, FIXTURE_SCRIBBLE, FIXTURE_FULL_AT_RANDOM, FIXTURE_SLICED,
                                              FIXTURE_HOLD};
    const enum fixture_mode drawn = modes[below(random, 5)];
    return given == FIXTURE_FROM_ENVIRONMENT ? drawn : given;
}

static uint16_t plan_mtu(uint64_t *random)
{
    static const uint16_t mtus[] = {1500, 1500, 576, 296, 128, 9000};
    return mtus[below(random, 6)];
}

static void plan_user(struct talk_user *user, uint64_t *random, uint32_t most_bytes)
{
    user->send_bytes = one_in(random, 4)   ? 0
                       : one_in(random, 3) ? between(random, 1, most_bytes)
                                           : spread(random, 1, most_bytes);
    user->write_most = one_in(random, 2) ? 0 : spread(random, 1, 10000);
    user->read_most = one_in(random, 2) ? 0 : spread(random, 1, 10000);
    user->pause_us = one_in(random, 3) ? spread(random, 100, 3000000) : 0;
    user->pause_every = between(random, 5, 200);
    user->read_delay_us = one_in(random, 8) ? spread(random, 1000, 30000000) : 0;
    user->in_place = one_in(random, 2);
    user->edges = one_in(random, 2);
    user->no_delay = one_in(random, 3);
    user->quick_ack = one_in(random, 5);
    user->send_buffer = one_in(random, 3) ? spread(random, 1024, 100000) : 0;
    user->receive_buffer = one_in(random, 3) ? spread(random, 1024, 100000) : 0;
    user->abort_at = one_in(random, 12) ? below(random, user->send_bytes + 1) : UINT32_MAX;
    // A byte at a time is slow work for the test, too.
    const uint32_t grain = user->write_most ? user->write_most : 10000;
    if (user->send_bytes / grain > 5000)
        user->write_most = 0;
}

// Who writes much reads as much elsewhere: a reader of single bytes gets fewer of them.
static void plan_balance(struct talk_user *reader, struct talk_user *writer, uint64_t *random)
{
    if (reader->read_most && writer->send_bytes / reader->read_most > 5000)
        reader->read_most = 0;
    if (reader->receive_buffer && reader->receive_buffer < 4096 && writer->send_bytes > 20000)
        writer->send_bytes = between(random, 1, 20000);
    reader->close_at_once = !writer->send_bytes && one_in(random, 3);
}

static void plan_trouble(struct talk_plan *plan, uint64_t *random)
{
    if (!one_in(random, 4))
        return;
    plan->trouble = (enum talk_trouble)between(random, TALK_FAIL_ONCE, TALK_BUDGET);
    plan->fail_at = spread(random, 1, 200);
    plan->budget_bytes = plan->trouble == TALK_BUDGET ? between(random, WEIR_CFG_IP6 ? 190000 : 150000, 400000) : 0;
}

void talk_plan_make(struct talk_plan *plan, uint64_t seed, enum fixture_mode mode)
{
    uint64_t random = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    memset(plan, 0, sizeof *plan);
    plan->seed = seed;
    plan_link(plan, &plan->link, &random);
    plan->back = plan->link;
    if (one_in(&random, 3))
        plan_link(plan, &plan->back, &random);
    plan->raw_ip = one_in(&random, 3);
    plan->mtu_a = plan_mtu(&random);
    plan->mtu_b = one_in(&random, 4) ? plan_mtu(&random) : plan->mtu_a;
    plan->mode_a = plan_mode(mode, &random);
    plan->mode_b = plan_mode(mode, &random);
    plan->congestion = one_in(&random, 3) ? "reno" : "cubic";
    plan->ecn_a = (uint8_t)(WEIR_ECN_OFF + seed / 3 % 4);
    plan->ecn_b = (uint8_t)(WEIR_ECN_OFF + seed / 12 % 4);
    plan->link.mark_ppm = seed % 3 ? 30000 : 0;
    plan->back.mark_ppm = seed % 3 == 1 ? 30000 : 0;
    plan->wrap_side = one_in(&random, 3) ? between(&random, 1, 2) : 0;
    plan->flows = one_in(&random, 3) ? between(&random, 2, TALK_FLOWS) : 1;
    const uint16_t mtu = plan->mtu_a < plan->mtu_b ? plan->mtu_a : plan->mtu_b;
    const uint32_t most = (mtu < 500                                                                   ? 40000u
                           : one_in(&random, 10) && plan->link.loss_ppm + plan->back.loss_ppm <= 20000 ? 3000000u
                                                                                                       : 200000u) /
                          plan->flows;
    plan->wrap_before = between(&random, 1, most);
    for (uint32_t i = 0; i < plan->flows; i++) {
        plan_user(&plan->client[i], &random, most);
        plan_user(&plan->server[i], &random, most);
        plan_balance(&plan->client[i], &plan->server[i], &random);
        plan_balance(&plan->server[i], &plan->client[i], &random);
    }
    plan_trouble(plan, &random);
    plan->leave_early = one_in(&random, 20);
}

static void describe_link(FILE *out, const char *name, const struct pair_link *link)
{
    fprintf(out, "  %s: delay %u us, rate %u B/s, queue %u, loss %u, reorder %u by %u us, duplicate %u ppm\n", name,
            link->delay_us, link->rate, link->queue_frames, link->loss_ppm, link->reorder_ppm, link->reorder_us,
            link->duplicate_ppm);
}

static void describe_user(FILE *out, const char *name, const struct talk_user *u)
{
    fprintf(out,
            "  %s: sends %u by %u, reads by %u from %u us on, pauses %u us every %u,%s%s%s%s buffers %u %u, aborts at "
            "%d%s\n",
            name, u->send_bytes, u->write_most, u->read_most, u->read_delay_us, u->pause_us, u->pause_every,
            u->in_place ? " in place" : "", u->edges ? " edges" : "", u->no_delay ? " nodelay" : "",
            u->quick_ack ? " quickack" : "", u->send_buffer, u->receive_buffer, (int)u->abort_at,
            u->close_at_once ? ", closes at once" : "");
}

void talk_describe(FILE *out, const struct talk_plan *plan)
{
    static const char *const modes[] = {"environment", "plain", "scribble", "full", "sliced", "hold"};
    fprintf(out,
            "seed %llu: %s, MTU %u and %u, drivers %s and %s, %s, corrupt %u ppm, wrap %u %u bytes on, trouble %u at "
            "%u budget %llu%s\n",
            (unsigned long long)plan->seed, plan->raw_ip ? "raw IP" : "Ethernet", plan->mtu_a, plan->mtu_b,
            modes[plan->mode_a], modes[plan->mode_b], plan->congestion, plan->corrupt_ppm, plan->wrap_side,
            plan->wrap_before, plan->trouble, plan->fail_at, (unsigned long long)plan->budget_bytes,
            plan->leave_early ? ", left early" : "");
    describe_link(out, "there", &plan->link);
    describe_link(out, "back", &plan->back);
    for (uint32_t i = 0; i < plan->flows; i++) {
        describe_user(out, "client", &plan->client[i]);
        describe_user(out, "server", &plan->server[i]);
    }
}

// --- one user of a stream --------------------------------------------------------------------------------------------

struct side {
    const struct talk_user *user;
    struct fixture *f;
    struct side *peer;
    weir_socket socket;        // 0: none yet
    uint32_t key_out, key_in;  // of the byte pattern
    uint32_t sent, received;
    uint64_t wake_us;  // sleeps until then
    uint64_t read_from_us;
    uint32_t calls;
    uint32_t events;  // with edges: what it was told and has not used up
    bool connected, write_ended, read_ended, closed, aborted, reset;
};

struct run {
    const struct talk_plan *plan;
    struct pair pair;
    weir_socket listener;
    struct side client[TALK_FLOWS], server[TALK_FLOWS];
    uint32_t opened[TALK_FLOWS];  // tries
    uint64_t random;
    uint64_t corrupt_random;
    uint64_t trouble_until_us;
    bool quiet;             // the link is perfect from now on
    struct pcapng capture;  // WEIR_PCAP=FILE: every frame as it was sent, lost ones too
};

static uint8_t pattern(uint32_t key, uint32_t offset)
{
    return (uint8_t)((offset * UINT32_C(0x9e3779b1) ^ key) >> 11 ^ offset >> 8);
}

static void sleep_side(struct run *run, struct side *side, uint32_t us)
{
    side->wake_us = pair_now_us(&run->pair) + us;
}

// The connection ended with an error: only where something that the plan holds can have ended it.
static void side_failed(struct run *run, struct side *side, int error)
{
    if (error == WEIR_NO_MEMORY) {
        sleep_side(run, side, RETRY_US);
        side->events |= WEIR_READABLE | WEIR_WRITABLE;
        return;
    }
    if (!side->peer->aborted && !(side->peer->closed && side->peer->user->abort_at != UINT32_MAX))
        fail_msg("%s: %s after %u bytes sent and %u received", side->f == &run->pair.a ? "client" : "server",
                 weir_error_name(error), side->sent, side->received);
    assert_true(error == WEIR_RESET || error == WEIR_SHUT_DOWN || error == WEIR_TIMED_OUT || error == WEIR_REFUSED);
    side->reset = true;
    assert_int_equal(weir_socket_close(side->f->weir, side->socket), WEIR_OK);
    side->closed = true;
}

static uint32_t limited(uint32_t bytes, uint32_t most) { return most && most < bytes ? most : bytes; }

// One write. Returns whether it got anywhere.
static bool side_write(struct run *run, struct side *side)
{
    struct weir *weir = side->f->weir;
    const struct talk_user *user = side->user;
    if (side->write_ended || (user->edges && !(side->events & WEIR_WRITABLE)))
        return false;
    const uint32_t stop = user->abort_at < user->send_bytes ? user->abort_at : user->send_bytes;
    const uint32_t want = limited(limited(stop - side->sent, user->write_most), 65536);
    int done = 0;
    if (want && user->in_place) {
        struct weir_span spans[4];
        done = weir_socket_reserve(weir, side->socket, want, spans, 4);
        uint32_t filled = 0;
        for (int i = 0; (int)filled < done; i++)
            for (uint32_t at = 0; at < spans[i].length; at++)
                spans[i].data[at] = pattern(side->key_out, side->sent + filled++);
        if (done > 1 && one_in(&run->random, 8))
            done--;  // a commit of less than was lent
        if (done > 0) {
            const int committed = weir_socket_commit(weir, side->socket, (uint32_t)done);
            assert_int_equal(committed, done);
        }
    } else if (want) {
        static uint8_t bytes[65536];
        for (uint32_t at = 0; at < want; at++)
            bytes[at] = pattern(side->key_out, side->sent + at);
        done = weir_socket_write(weir, side->socket, bytes, want);
    }
    if (done == WEIR_AGAIN) {
        side->events &= ~(uint32_t)WEIR_WRITABLE;
        return false;
    }
    if (done < 0) {
        side_failed(run, side, done);
        return side->closed;
    }
    side->sent += (uint32_t)done;
    if (side->sent == user->abort_at) {
        assert_int_equal(weir_socket_abort(weir, side->socket), WEIR_OK);
        side->aborted = side->closed = true;
        return true;
    }
    if (side->sent < user->send_bytes)
        return true;
    side->write_ended = true;
    if (user->close_at_once) {
        assert_int_equal(weir_socket_close(weir, side->socket), WEIR_OK);
        side->closed = true;
    } else {
        const int error = weir_socket_shutdown(weir, side->socket, WEIR_SHUT_WRITE);
        if (error && error != WEIR_NOT_CONNECTED)
            fail_msg("shutdown: %s", weir_error_name(error));
        if (error)
            side->write_ended = false;  // reset meanwhile: a read tells
        if (error && !side->read_ended)
            side->events |= WEIR_READABLE;
        return !error;
    }
    return true;
}

static void compare(const struct side *side, const uint8_t *bytes, uint32_t length)
{
    assert_in_range(side->received + length, 0, side->peer->sent);
    for (uint32_t at = 0; at < length; at++)
        if (bytes[at] != pattern(side->key_in, side->received + at))
            fail_msg("byte %u is %02x, not %02x", side->received + at, bytes[at],
                     pattern(side->key_in, side->received + at));
}

static bool side_read(struct run *run, struct side *side)
{
    struct weir *weir = side->f->weir;
    const struct talk_user *user = side->user;
    if (side->closed || side->read_ended || pair_now_us(&run->pair) < side->read_from_us ||
        (user->edges && !(side->events & WEIR_READABLE)))
        return false;
    int done;
    if (user->in_place) {
        struct weir_slice slices[4];
        done = weir_socket_peek(weir, side->socket, 0, slices, 4);
        if (done > 0)
            done = (int)limited((uint32_t)done, user->read_most);
        uint32_t left = done > 0 ? (uint32_t)done : 0, at = 0;
        for (int i = 0; left; i++) {
            const uint32_t part = slices[i].length < left ? slices[i].length : left;
            side->received += at;
            compare(side, slices[i].data, part);
            side->received -= at;
            at += part;
            left -= part;
        }
        if (done > 0)
            assert_int_equal(weir_socket_consume(weir, side->socket, (uint32_t)done), done);
    } else {
        static uint8_t bytes[65536];
        done = weir_socket_read(weir, side->socket, bytes, limited(sizeof bytes, user->read_most));
        if (done > 0)
            compare(side, bytes, (uint32_t)done);
    }
    if (done == WEIR_AGAIN) {
        side->events &= ~(uint32_t)WEIR_READABLE;
        return false;
    }
    if (done < 0) {
        side_failed(run, side, done);
        return side->closed;
    }
    side->received += (uint32_t)done;
    if (done == 0) {
        side->read_ended = true;
        assert_int_equal(side->received, side->peer->user->send_bytes);
    }
    return true;
}

static bool side_step(struct run *run, struct side *side)
{
    bool progress = false;
    if (!side->socket || side->closed || !side->connected || pair_now_us(&run->pair) < side->wake_us)
        return false;
    for (uint32_t calls = 0; calls < 64 && !side->closed; calls++) {
        if (side->user->pause_us && ++side->calls % side->user->pause_every == 0) {
            sleep_side(run, side, 1 + below(&run->random, side->user->pause_us));
            return true;
        }
        bool moved = side_write(run, side);
        if (!side->closed && pair_now_us(&run->pair) >= side->wake_us)
            moved |= side_read(run, side);
        if (!moved)
            break;
        progress = true;
    }
    if (!side->closed && side->read_ended && side->write_ended) {
        assert_int_equal(weir_socket_close(side->f->weir, side->socket), WEIR_OK);
        side->closed = true;
        progress = true;
    }
    return progress;
}

// --- opening ---------------------------------------------------------------------------------------------------------

static void set_options(struct weir *weir, weir_socket socket, const struct talk_user *user)
{
    if (user->no_delay)
        assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    if (user->quick_ack)
        assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_QUICK_ACK, 1), WEIR_OK);
    if (user->send_buffer)
        assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_SEND_BUFFER, (int32_t)user->send_buffer), WEIR_OK);
    if (user->receive_buffer)
        assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_RECEIVE_BUFFER, (int32_t)user->receive_buffer),
                         WEIR_OK);
    // A reset that is lost must not leave its peer waiting for ever.
    assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_KEEPALIVE, 1), WEIR_OK);
    assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_KEEPALIVE_IDLE_S, 60), WEIR_OK);
}

static uint16_t client_port(const struct run *run, uint32_t flow)
{
    return (uint16_t)(FIRST_CLIENT_PORT + flow * OPEN_TRIES + run->opened[flow]);
}

// Begins the connection of a flow; later again when there is no memory.
static bool open_client(struct run *run, uint32_t flow)
{
    struct side *side = &run->client[flow];
    struct weir *weir = side->f->weir;
    const struct weir_endpoint local = {PAIR_A, client_port(run, flow)}, peer = {PAIR_B, PORT};
    if (side->socket || pair_now_us(&run->pair) < side->wake_us)
        return false;
    const weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    if (socket < 0) {
        side_failed(run, side, socket);
        return false;
    }
    set_options(weir, socket, side->user);
    assert_int_equal(weir_socket_bind(weir, socket, &local), WEIR_OK);
    assert_int_equal(weir_socket_connect(weir, socket, &peer), WEIR_IN_PROGRESS);
    side->socket = socket;
    side->read_from_us = pair_now_us(&run->pair) + side->user->read_delay_us;
    return true;
}

// SYN-SENT ends; by bad luck on a bad link also badly, and then the user tries again.
static bool await_connect(struct run *run, uint32_t flow)
{
    struct side *side = &run->client[flow];
    int32_t error = 0;
    if (!side->socket || side->connected)
        return false;
    const int ready = weir_socket_ready(side->f->weir, side->socket);
    if (ready & WEIR_ERROR) {
        assert_int_equal(weir_socket_get(side->f->weir, side->socket, WEIR_OPTION_ERROR, &error), WEIR_OK);
        // ARP gives up after three tries.
        if ((error != WEIR_TIMED_OUT && error != WEIR_HOST_UNREACHABLE) || run->opened[flow] + 1 == OPEN_TRIES)
            fail_msg("connect: %s", weir_error_name(error));
        assert_int_equal(weir_socket_close(side->f->weir, side->socket), WEIR_OK);
        side->socket = 0;
        run->opened[flow]++;
        return true;
    }
    side->connected = (ready & WEIR_WRITABLE) != 0;
    side->events = WEIR_READABLE | WEIR_WRITABLE;
    return side->connected;
}

static bool accept_all(struct run *run)
{
    struct weir *weir = run->pair.b.weir;
    weir_socket socket;
    bool any = false;
    while ((socket = weir_socket_accept(weir, run->listener)) > 0) {
        struct weir_endpoint peer, local;
        const int error = weir_socket_peer(weir, socket, &peer);
        assert_true(error == WEIR_OK || error == WEIR_NOT_CONNECTED);  // the latter: reset already
        assert_int_equal(weir_socket_local(weir, socket, &local), WEIR_OK);
        assert_int_equal(local.port, PORT);
        const uint32_t flow = (peer.port - FIRST_CLIENT_PORT) / OPEN_TRIES;
        assert_in_range(flow, 0, run->plan->flows - 1);
        struct side *side = &run->server[flow];
        if (side->closed) {  // made once more by an old ACK with a SYN cookie
            assert_int_equal(weir_socket_abort(weir, socket), WEIR_OK);
            continue;
        }
        assert_int_equal(side->socket, 0);
        set_options(weir, socket, side->user);
        side->socket = socket;
        side->connected = true;
        side->events = WEIR_READABLE | WEIR_WRITABLE;
        side->read_from_us = pair_now_us(&run->pair) + side->user->read_delay_us;
        any = true;
    }
    if (socket != WEIR_AGAIN && socket != WEIR_NO_MEMORY)
        fail_msg("accept: %s", weir_error_name(socket));
    return any;
}

// --- the conversation ------------------------------------------------------------------------------------------------

static void hand_out_events(struct run *run, struct fixture *f, struct side *sides)
{
    uint32_t events;
    weir_socket socket;
    while ((socket = weir_ready_next(f->weir, &events)) != 0)
        for (uint32_t flow = 0; flow < run->plan->flows; flow++)
            if (sides[flow].socket == socket)
                sides[flow].events |=
                    events & (WEIR_ERROR | WEIR_HANGUP) ? events | WEIR_READABLE | WEIR_WRITABLE : events;
}

static void trouble_ends(struct run *run)
{
    if (run->plan->trouble != TALK_FAIL_A_WHILE)
        return;
    struct fixture *f = run->plan->seed % 2 ? &run->pair.b : &run->pair.a;
    if (!f->fail_at || !f->fail_onwards)
        return;
    if (f->fail_at == 1 && !run->trouble_until_us)
        run->trouble_until_us = pair_now_us(&run->pair) + 2000000;
    if (run->trouble_until_us && pair_now_us(&run->pair) >= run->trouble_until_us)
        f->fail_at = f->fail_onwards = 0;
}

static bool step(void *context)
{
    struct run *run = context;
    bool progress = accept_all(run);
    trouble_ends(run);
    hand_out_events(run, &run->pair.a, run->client);
    hand_out_events(run, &run->pair.b, run->server);
    for (uint32_t flow = 0; flow < run->plan->flows; flow++) {
        progress |= open_client(run, flow);
        progress |= await_connect(run, flow);
        progress |= side_step(run, &run->client[flow]);
        progress |= side_step(run, &run->server[flow]);
    }
    return progress;
}

static bool all_closed(const struct run *run)
{
    for (uint32_t flow = 0; flow < run->plan->flows; flow++) {
        // A client that was reset, or reset the other, before accept saw it leaves a server that never was.
        const bool server_closed = run->server[flow].closed ||
                                   (!run->server[flow].socket && run->client[flow].closed && run->client[flow].aborted);
        if (!run->client[flow].closed || !server_closed)
            return false;
    }
    return true;
}

static void sooner(const struct run *run, const struct side *side, uint64_t *at_us)
{
    const uint64_t now_us = pair_now_us(&run->pair);
    if (!side->closed && side->wake_us > now_us && side->wake_us < *at_us)
        *at_us = side->wake_us;
    if (!side->closed && side->read_from_us > now_us && side->read_from_us < *at_us)
        *at_us = side->read_from_us;
}

static uint64_t next_wake(const struct run *run, uint64_t limit_us)
{
    uint64_t at_us = pair_now_us(&run->pair) + LOOK_US < limit_us ? pair_now_us(&run->pair) + LOOK_US : limit_us;
    for (uint32_t flow = 0; flow < run->plan->flows; flow++) {
        sooner(run, &run->client[flow], &at_us);
        sooner(run, &run->server[flow], &at_us);
    }
    return at_us;
}

static void show_side(const char *name, const struct side *side)
{
    struct weir_tcp_info info = {0};
    if (side->socket && !side->closed)
        (void)weir_socket_tcp_info(side->f->weir, side->socket, &info);
    fprintf(stderr,
            "%s: sent %u, received %u%s%s%s, %s, cwnd %u, inflight %u, lost %u, snd_wnd %u, rcv_wnd %u, send queue %u, "
            "receive queue %u, "
            "unsent %u, backoff %u, events %x\n",
            name, side->sent, side->received, side->write_ended ? ", write ended" : "",
            side->read_ended ? ", read ended" : "", side->closed ? ", closed" : "",
            weir_tcp_state_name((enum weir_tcp_state)info.state), info.cwnd, info.inflight, info.lost, info.snd_wnd,
            info.rcv_wnd, info.send_queue, info.receive_queue, info.unsent, info.backoff, side->events);
}

static void stalled(const struct run *run)
{
    for (uint32_t flow = 0; flow < run->plan->flows; flow++) {
        show_side("client", &run->client[flow]);
        show_side("server", &run->server[flow]);
    }
    fail_msg("stalled for good");
}

static void converse(struct run *run)
{
    const uint64_t limit_us = pair_now_us(&run->pair) + LIMIT_US;
    const uint32_t early = 20 + below(&run->random, 200);
    for (uint32_t turns = 0; !all_closed(run); turns++) {
        if (run->plan->leave_early && turns == early)
            return;
        const uint64_t now_us = pair_now_us(&run->pair);
        if (now_us >= limit_us)
            stalled(run);
        if (!pair_run_until(&run->pair, step, run, next_wake(run, limit_us) - now_us))
            (void)step(run);
    }
}

// --- before and after ------------------------------------------------------------------------------------------------

// Flips one bit of an IP packet (of an Ethernet frame: not of its header, so that it still arrives).
static bool corrupt(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct run *run = context;
    if (run->capture.file)
        pcapng_packet(&run->capture, 0, from_b ? PCAPNG_OUT : PCAPNG_IN, &(struct weir_slice){frame, length}, 1,
                      pair_now_us(&run->pair) * 1000);
    if (run->quiet || below(&run->corrupt_random, 1000000) >= run->plan->corrupt_ppm)
        return true;
    const uint32_t head = run->plan->raw_ip ? 0 : 14;
    if (head && (length <= head || frame[12] != 0x08 || frame[13] != 0x00))
        return true;
    frame[head + below(&run->corrupt_random, length - head)] ^= (uint8_t)(1u << below(&run->corrupt_random, 8));
    return true;
}

static void capture_open(struct run *run)
{
    const char *path = getenv("WEIR_PCAP");
    if (!path)
        return;
    assert_int_equal(pcapng_open(&run->capture, path, 0), 0);
    pcapng_interface(&run->capture, "pair", run->plan->raw_ip ? PCAPNG_RAW_IP : PCAPNG_ETHERNET, NULL);
    setvbuf(run->capture.file, NULL, _IONBF, 0);  // whole also when the test ends badly
}

static void side_init(struct side *side, const struct talk_user *user, struct fixture *f, struct side *peer,
                      uint32_t key_out, uint32_t key_in)
{
    memset(side, 0, sizeof *side);
    *side = (struct side){.user = user, .f = f, .peer = peer, .key_out = key_out, .key_in = key_in};
}

// Lets so much time pass that the wanted side's initial sequence number lies shortly before 2^32: it counts up with the
// clock.
static void wrap_soon(struct run *run)
{
    const struct talk_plan *plan = run->plan;
    const struct weir_endpoint client = {PAIR_A, client_port(run, 0)}, server = {PAIR_B, PORT};
    if (!plan->wrap_side)
        return;
    const uint32_t isn = plan->wrap_side == 1 ? tcp_isn(run->pair.a.weir, &client, &server)
                                              : tcp_isn(run->pair.b.weir, &server, &client);
    pair_run(&run->pair, (uint64_t)(uint32_t)(0u - plan->wrap_before - isn) * 4);
}

static void open_run(struct run *run, const struct talk_plan *plan)
{
    struct weir_config config = {
        .congestion_control = plan->congestion, .memory_budget_bytes = plan->budget_bytes, .tcp_ecn = plan->ecn_a};
    struct weir_config config_b = config;
    config_b.tcp_ecn = plan->ecn_b;
    const struct weir_link *link = plan->raw_ip ? &weir_link_rawip : &weir_link_ethernet;
    const struct pair_options options = {
        .link = plan->link,
        .back = &plan->back,
        .seed = plan->seed,
        .a = {.link = link, .mtu = plan->mtu_a, .mode = plan->mode_a, .config = &config},
        .b = {.link = link, .mtu = plan->mtu_b, .mode = plan->mode_b, .config = &config_b}};
    memset(run, 0, sizeof *run);
    run->plan = plan;
    run->random = plan->seed + 77;
    run->corrupt_random = plan->seed + 99;
    pair_open(&run->pair, &options);
    run->pair.a.entropy ^= draw(&run->random);
    run->pair.a.random ^= draw(&run->random);
    run->pair.b.random ^= draw(&run->random);
    run->pair.filter = corrupt;
    run->pair.filter_context = run;
    capture_open(run);
    for (uint32_t flow = 0; flow < plan->flows; flow++) {
        const uint32_t there = (uint32_t)draw(&run->random), back = (uint32_t)draw(&run->random);
        side_init(&run->client[flow], &plan->client[flow], &run->pair.a, &run->server[flow], there, back);
        side_init(&run->server[flow], &plan->server[flow], &run->pair.b, &run->client[flow], back, there);
    }
}

static void listen_b(struct run *run)
{
    struct weir *weir = run->pair.b.weir;
    const struct weir_endpoint local = {weir_addr_any(), PORT};
    run->listener = weir_socket_open(weir, WEIR_STREAM, 0);
    assert_true(run->listener > 0);
    // Buffer limits must be known before the SYN: the listener's are the first server's.
    if (run->plan->server[0].receive_buffer)
        assert_int_equal(weir_socket_set(weir, run->listener, WEIR_OPTION_RECEIVE_BUFFER,
                                         (int32_t)run->plan->server[0].receive_buffer),
                         WEIR_OK);
    assert_int_equal(weir_socket_bind(weir, run->listener, &local), WEIR_OK);
    run->listener = (assert_int_equal(weir_socket_listen(weir, run->listener, TALK_FLOWS), WEIR_OK), run->listener);
}

// Everything is over: nothing is left but what an instance that rests has.
static void check_rest(struct run *run, struct fixture *f)
{
    struct weir_socket_info info;
    uint64_t cursor = 0;
    while ((cursor = weir_socket_next(f->weir, cursor, &info)) != 0)
        if (info.tcp_state != WEIR_TCP_LISTEN)
            fail_msg("a connection is left in %s", weir_tcp_state_name((enum weir_tcp_state)info.tcp_state));
    assert_int_equal(f->weir->wheel.count, 0);
    assert_false(f->weir->socks.output.head || f->weir->socks.blocked.head);
    assert_null(f->held);
    (void)run;
}

// Bytes in use that no connection explains: pools keep a few freed blocks, records their last slab (src/tcp/record.c).
#define SLAB_RECORDS 32u
static uint64_t in_use(const struct fixture *f)
{
    const struct tcp *tcp = &f->weir->tcp;
    const struct pool *const pools[] = {&tcp->conns, &tcp->flows, &tcp->extras, &tcp->listener_pool};
    // the first member of either
    const struct tcp_records *const records[] = {(const void *)tcp->half_opens, (const void *)tcp->time_waits};
    uint64_t kept = 0;
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        kept += (uint64_t)pools[i]->free_count * pools[i]->object_bytes;
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        kept += records[i]->open && !records[i]->table.count ? SLAB_RECORDS * records[i]->record_bytes : 0;
    return f->allocated_bytes - kept;
}

static void end_run(struct run *run, const uint64_t before[2])
{
    memset(run->pair.link, 0, sizeof run->pair.link);
    run->quiet = true;
    run->pair.a.fail_at = run->pair.b.fail_at = 0;
    pair_run(&run->pair, UINT64_C(400) * 1000000);  // last retransmissions, then FIN-WAIT-2 and TIME-WAIT, are over
    check_rest(run, &run->pair.a);
    check_rest(run, &run->pair.b);
    struct fixture *const both[2] = {&run->pair.a, &run->pair.b};
    for (int i = 0; i < 2; i++)
        if (in_use(both[i]) > before[i] + 8192)
            fail_msg("%lld bytes more in use than before", (long long)(in_use(both[i]) - before[i]));
}

static void take_stats(struct run *run, struct talk_stats *stats, uint64_t began_us)
{
    const struct fixture *const both[2] = {&run->pair.a, &run->pair.b};
    memset(stats, 0, sizeof *stats);
    stats->virtual_us = pair_now_us(&run->pair) - began_us;
    for (int i = 0; i < 2; i++) {
        stats->retransmitted += fixture_count(both[i], WEIR_COUNT_TCP_RETRANSMITTED);
        stats->timeouts += fixture_count(both[i], WEIR_COUNT_TCP_RTO);
        stats->frames += run->pair.stats[i].sent;
    }
    for (uint32_t flow = 0; flow < run->plan->flows; flow++)
        stats->bytes += run->client[flow].received + run->server[flow].received;
}

static bool link_is_clean(const struct pair_link *link)
{
    // a queue may outgrow the timeout
    return !link->loss_ppm && !link->reorder_ppm && !link->duplicate_ppm && !link->rate;
}

// A link that loses and delays nothing gives no reason to send anything twice.
static void check_no_waste(const struct run *run, const struct talk_stats *stats)
{
    const struct talk_plan *plan = run->plan;
    if (!link_is_clean(&plan->link) || !link_is_clean(&plan->back) || plan->corrupt_ppm || plan->trouble)
        return;
    for (uint32_t flow = 0; flow < plan->flows; flow++)
        if (run->client[flow].aborted || run->server[flow].aborted)
            return;
    // The byte of a zero-window probe goes again with the probe, and when the window opens.
    const uint32_t probes =
        fixture_count(&run->pair.a, WEIR_COUNT_TCP_PROBE) + fixture_count(&run->pair.b, WEIR_COUNT_TCP_PROBE);
    if (stats->timeouts || stats->retransmitted > 2 * probes)
        fail_msg("%u timeouts and %u retransmissions on a perfect link", stats->timeouts, stats->retransmitted);
}

void talk_run(const struct talk_plan *plan, struct talk_stats *stats)
{
    static struct run run;
    open_run(&run, plan);
    listen_b(&run);
    wrap_soon(&run);
    const uint64_t began_us = pair_now_us(&run.pair), before[2] = {in_use(&run.pair.a), in_use(&run.pair.b)};
    struct fixture *victim = plan->seed % 2 ? &run.pair.b : &run.pair.a;
    if (plan->trouble == TALK_FAIL_ONCE || plan->trouble == TALK_FAIL_A_WHILE) {
        victim->fail_at = plan->fail_at;
        victim->fail_onwards = plan->trouble == TALK_FAIL_A_WHILE;
    }
    converse(&run);
    take_stats(&run, stats, began_us);
    check_no_waste(&run, stats);
    victim->fail_at = victim->fail_onwards = 0;
    if (!plan->leave_early) {
        assert_int_equal(weir_socket_close(run.pair.b.weir, run.listener), WEIR_OK);
        end_run(&run, before);
    }
    pair_close(&run.pair);
    if (run.capture.file)
        pcapng_close(&run.capture);
}
