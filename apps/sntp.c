// SPDX-License-Identifier: BSD-2-Clause
#include "sntp.h"

#include <string.h>

#include "bytes.h"
#include "service.h"

#define UNIX_EPOCH_S 2208988800u  // 1970 in seconds since 1900
#define SECOND_US 1000000u
#define DISTANCE_MAX (16u << 16)  // root delay and dispersion, 16.16 s: more is not a clock (RFC 5905 §A.5.5.1)
#define DELAY_MAX_US 10000000u    // a reply older than this says little

static uint64_t get64(const uint8_t *bytes) { return (uint64_t)get32(bytes) << 32 | get32(bytes + 4); }

// NTP's 32.32 format, of the era that begins in 1968 or 2036 by the top bit (RFC 4330 §3).
static uint64_t unix_us(uint64_t ntp)
{
    uint64_t seconds = ntp >> 32;
    if (!(seconds >> 31))
        seconds += 1ull << 32;
    return (seconds - UNIX_EPOCH_S) * SECOND_US + ((ntp & 0xffffffffu) * SECOND_US >> 32);
}

// NTP's 16.16 format, of less than DISTANCE_MAX.
static uint32_t short_us(uint32_t ntp) { return (uint32_t)((uint64_t)ntp * SECOND_US >> 16); }

void sntp_emit(uint8_t packet[SNTP_PACKET], uint64_t nonce)
{
    memset(packet, 0, SNTP_PACKET);
    packet[0] = 4 << 3 | 3;  // version 4, client
    for (int i = 0; i < 8; i++)
        packet[40 + i] = (uint8_t)(nonce >> (56 - 8 * i));
}

enum sntp_result sntp_parse(const uint8_t *packet, uint32_t length, uint64_t nonce, uint64_t sent_us, uint64_t now_us,
                            struct sntp_time *time)
{
    if (length < SNTP_PACKET || (packet[0] & 7) != 4 || get64(packet + 24) != nonce || nonce == 0 || now_us < sent_us)
        return SNTP_IGNORED;  // not a server's answer to this very request
    uint32_t version = packet[0] >> 3 & 7;
    if (version < 1 || version > 4)
        return SNTP_UNUSABLE;
    if (packet[1] == 0)
        return memcmp(packet + 12, "RATE", 4) == 0 ? SNTP_KISS_RATE : SNTP_KISS_STOP;
    uint64_t received = get64(packet + 32), transmitted = get64(packet + 40);
    if (packet[0] >> 6 == 3 || packet[1] > 15 || received == 0 || transmitted == 0)
        return SNTP_UNUSABLE;
    if (get32(packet + 4) >= DISTANCE_MAX || get32(packet + 8) >= DISTANCE_MAX)
        return SNTP_UNUSABLE;
    uint64_t received_us = unix_us(received), transmitted_us = unix_us(transmitted), round_us = now_us - sent_us;
    // The server cannot have kept the request longer than the round took.
    if (transmitted_us < received_us || transmitted_us - received_us > round_us || round_us > DELAY_MAX_US)
        return SNTP_UNUSABLE;
    uint64_t delay_us = round_us - (transmitted_us - received_us);
    *time = (struct sntp_time){.unix_us = transmitted_us + delay_us / 2,
                               .now_us = now_us,
                               .delay_us = (uint32_t)delay_us,
                               .distance_us = short_us(get32(packet + 4)) / 2 + short_us(get32(packet + 8)),
                               .stratum = packet[1],
                               .leap = (uint8_t)(packet[0] >> 6)};
    return SNTP_OK;
}

uint64_t sntp_unix_us(const struct sntp *sntp) { return unix_clock_read(&sntp->clock, weir_now_us(sntp->loop->weir)); }

// A step has to be measured twice in a row: one answer may have been late on its way, or wrong.
static void clock_take(struct sntp *sntp, const struct sntp_time *time)
{
    const bool step = unix_clock_error(&sntp->clock, time->unix_us, time->now_us) >= UNIX_CLOCK_STEP_US;
    const bool again =
        sntp->doubt.unix_us != 0 && unix_clock_error(&sntp->doubt, time->unix_us, time->now_us) < UNIX_CLOCK_STEP_US;
    if (step && !again) {
        sntp->doubt = (struct unix_clock){.unix_us = time->unix_us, .now_us = time->now_us};
        sntp->interval_s = sntp->interval_min_s;
        return;
    }
    sntp->doubt.unix_us = 0;
    unix_clock_set(&sntp->clock, time->unix_us, time->now_us);
}

// A measurement ended. The next is far off, but soon after the first that failed; the caller's function may stop us.
static void sntp_end(struct sntp *sntp, int error)
{
    service_close(sntp->loop, &sntp->socket);
    sntp->tries = 0;
    if (error != WEIR_OK && !sntp->failed)
        sntp->interval_s = sntp->interval_min_s;
    sntp->failed = error != WEIR_OK;
    sntp->due_us = weir_now_us(sntp->loop->weir) + (uint64_t)sntp->interval_s * SECOND_US;
    if (sntp->interval_s < SNTP_INTERVAL_MAX_S)
        sntp->interval_s *= 2;
    if (sntp->once)
        sntp_stop(sntp);
    sntp->done(sntp, error, error == WEIR_OK ? &sntp->time : NULL, sntp->context);
}

static void sntp_take(struct sntp *sntp, const uint8_t *packet, uint32_t length)
{
    struct weir *weir = sntp->loop->weir;
    struct sntp_time time;
    uint64_t bits = get64(packet + (length >= SNTP_PACKET ? 40 : 0)) ^ weir_now_us(weir);
    switch (sntp_parse(packet, length, sntp->nonce, sntp->sent_us, weir_now_us(weir), &time)) {
    case SNTP_OK:
        sntp->time = time;
        clock_take(sntp, &time);
        // Arrival and fractions are hard to guess exactly; mixed in beside the port's entropy, never instead of it.
        weir_random_stir(weir, &bits, sizeof bits);
        sntp_end(sntp, WEIR_OK);
        break;
    case SNTP_IGNORED: sntp->count.ignored++; break;
    case SNTP_UNUSABLE: sntp->count.unusable++; break;  // the timer asks again
    case SNTP_KISS_RATE:
        sntp->count.kisses++;
        // At least twice as far apart, for good (RFC 5905 §7.4).
        sntp->interval_min_s =
            sntp->interval_s < SNTP_INTERVAL_RATE_S / 2 ? 2 * sntp->interval_s : SNTP_INTERVAL_RATE_S;
        sntp->interval_s = sntp->interval_min_s;
        sntp_end(sntp, WEIR_REFUSED);
        break;
    case SNTP_KISS_STOP:
        sntp->count.kisses++;
        sntp->once = true;  // for good
        sntp_end(sntp, WEIR_REFUSED);
        break;
    }
}

static void sntp_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct sntp *sntp = (struct sntp *)(void *)((char *)watch - offsetof(struct sntp, watch));
    struct weir_message message;
    struct weir_slice slice;
    int error = WEIR_OK;
    (void)events;
    while (sntp->socket == socket && service_peek(sntp->loop, socket, &message, &slice, &error)) {
        if (slice.length >= 8 && weir_addr_equal(message.peer.addr, sntp->server) && message.peer.port == SNTP_PORT)
            sntp_take(sntp, slice.data, slice.length);
        else
            sntp->count.ignored++;
        (void)weir_socket_discard(sntp->loop->weir, socket);  // WEIR_BAD_SOCKET when the measurement is over
    }
    if (sntp->socket == socket && error == WEIR_REFUSED)
        sntp_end(sntp, WEIR_REFUSED);
}

// Asks on a new socket: a new random port each time.
static void sntp_ask(struct sntp *sntp, uint64_t now_us)
{
    struct weir *weir = sntp->loop->weir;
    const struct weir_endpoint server = {sntp->server, SNTP_PORT};
    const struct weir_message message = {.peer.port = 0};
    uint8_t packet[SNTP_PACKET];
    const struct weir_slice slice = {packet, SNTP_PACKET};
    service_close(sntp->loop, &sntp->socket);
    sntp->due_us = now_us + ((uint64_t)SNTP_TIMEOUT_US << sntp->tries++);
    sntp->sent_us = now_us;
    weir_random_bytes(weir, &sntp->nonce, sizeof sntp->nonce);
    sntp_emit(packet, sntp->nonce);
    sntp->socket = weir_socket_open(weir, WEIR_DATAGRAM, 0);
    if (sntp->socket < 0) {
        sntp->socket = 0;  // the timer tries again
        return;
    }
    (void)loop_watch(sntp->loop, sntp->socket, &sntp->watch);
    if (weir_socket_connect(weir, sntp->socket, &server) == WEIR_OK)
        (void)weir_socket_send_message(weir, sntp->socket, &message, &slice, 1);
}

static uint64_t sntp_poll(struct app *app, uint64_t now_us)
{
    struct sntp *sntp = (struct sntp *)app;
    if (now_us >= sntp->due_us) {
        if (sntp->tries < SNTP_TRIES)
            sntp_ask(sntp, now_us);
        else
            sntp_end(sntp, WEIR_TIMED_OUT);
    }
    return sntp->stopped ? WEIR_NEVER : sntp->due_us;
}

static bool is_host(struct weir_addr server)
{
    return !weir_addr_is_any(server) && !weir_addr_is_multicast(server) && !weir_addr_is_broadcast(server);
}

int sntp_move(struct sntp *sntp, struct weir_addr server)
{
    if (!is_host(server))
        return WEIR_INVALID;
    if (weir_addr_equal(server, sntp->server))
        return WEIR_OK;  // no sooner: its name may be resolved after every failure
    const uint64_t now_us = weir_now_us(sntp->loop->weir);
    const uint64_t soon_us = now_us + (sntp->tries > 0 ? 0 : (uint64_t)sntp->interval_min_s * SECOND_US);
    service_close(sntp->loop, &sntp->socket);
    sntp->server = server;
    sntp->tries = 0;
    sntp->interval_s = sntp->interval_min_s;
    sntp->due_us = soon_us < sntp->due_us ? soon_us : sntp->due_us;
    return WEIR_OK;
}

int sntp_start(struct sntp *sntp, struct loop *loop, struct weir_addr server, bool once,
               void (*done)(struct sntp *, int error, const struct sntp_time *, void *), void *context)
{
    if (!is_host(server))
        return WEIR_INVALID;
    *sntp = (struct sntp){.app = {.poll = sntp_poll},
                          .watch = {sntp_event},
                          .loop = loop,
                          .server = server,
                          .done = done,
                          .context = context,
                          .once = once,
                          .interval_s = SNTP_INTERVAL_MIN_S,
                          .interval_min_s = SNTP_INTERVAL_MIN_S,
                          .due_us = weir_now_us(loop->weir)};
    uint32_t wait_us;
    weir_random_bytes(loop->weir, &wait_us, sizeof wait_us);
    sntp->due_us += once ? 0 : wait_us % SNTP_START_US;
    loop_add(loop, &sntp->app);
    return WEIR_OK;
}

void sntp_stop(struct sntp *sntp)
{
    if (sntp->stopped)
        return;
    sntp->stopped = true;
    loop_remove(sntp->loop, &sntp->app);
    service_close(sntp->loop, &sntp->socket);
}
