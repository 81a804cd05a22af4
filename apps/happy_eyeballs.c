// SPDX-License-Identifier: BSD-2-Clause
#include "happy_eyeballs.h"

#include "dns/family.h"

static struct weir *weir_of(const struct happy_eyeballs *self) { return self->pair.dns->loop->weir; }

// --- addresses -------------------------------------------------------------------------------------------------------

// RFC 8305 §4: the order of RFC 6724, and in it the families take turns.
static void interlace(struct weir_addr *addrs, uint32_t count)
{
    for (uint32_t at = 1; at < count; at++) {
        uint32_t other = at;
        while (other < count && weir_addr_is_v4(addrs[other]) == weir_addr_is_v4(addrs[at - 1]))
            other++;
        if (other == count)
            return;  // the rest is of one family
        const struct weir_addr moved = addrs[other];
        memmove(addrs + at + 1, addrs + at, (other - at) * sizeof *addrs);
        addrs[at] = moved;
    }
}

static void addresses_take(struct happy_eyeballs *self, const struct dns_answer *answer)
{
    for (uint32_t i = 0; i < answer->count && self->count < HAPPY_EYEBALLS_ADDRESSES; i++)
        self->addresses[self->count++] = answer->addresses[i];
    weir_destinations_sort(weir_of(self), self->addresses + self->tried, self->count - self->tried);
    interlace(self->addresses + self->tried, self->count - self->tried);
}

// --- the end ---------------------------------------------------------------------------------------------------------

static void attempt_close(struct happy_eyeballs_attempt *attempt)
{
    if (attempt->socket > 0)
        (void)weir_socket_close(weir_of(attempt->self), attempt->socket);
    attempt->socket = 0;
}

void happy_eyeballs_stop(struct happy_eyeballs *self)
{
    if (!self->running)
        return;
    self->running = false;
    loop_remove(self->pair.dns->loop, &self->app);
    dns_pair_cancel(&self->pair);
    for (uint32_t i = 0; i < HAPPY_EYEBALLS_ATTEMPTS; i++)
        attempt_close(&self->attempts[i]);
}

static void finish(struct happy_eyeballs *self, weir_socket socket, int result)
{
    happy_eyeballs_stop(self);
    self->socket = socket;
    self->result = result;
    self->done(self->context, self);
}

// --- attempts --------------------------------------------------------------------------------------------------------

static void attempt_failed(struct happy_eyeballs *self, struct happy_eyeballs_attempt *attempt, int error)
{
    attempt_close(attempt);
    self->result = error;
    self->next_us = weir_now_us(weir_of(self));  // §5: the next need not wait for its time
}

static void attempt_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct happy_eyeballs_attempt *const attempt = (struct happy_eyeballs_attempt *)(void *)watch;
    struct happy_eyeballs *const self = attempt->self;
    int32_t error = 0;
    if (socket != attempt->socket)
        return;
    (void)weir_socket_get(weir_of(self), socket, WEIR_OPTION_ERROR, &error);
    if (error != 0 || (events & WEIR_ERROR)) {
        attempt_failed(self, attempt, error != 0 ? error : WEIR_REFUSED);
    } else if (events & WEIR_WRITABLE) {
        (void)loop_watch(self->pair.dns->loop, socket, NULL);
        attempt->socket = 0;
        finish(self, socket, WEIR_OK);
    }
}

static struct happy_eyeballs_attempt *attempt_free(struct happy_eyeballs *self)
{
    for (uint32_t i = 0; i < HAPPY_EYEBALLS_ATTEMPTS; i++)
        if (self->attempts[i].socket == 0)
            return &self->attempts[i];
    return NULL;
}

static bool attempts_under_way(const struct happy_eyeballs *self)
{
    for (uint32_t i = 0; i < HAPPY_EYEBALLS_ATTEMPTS; i++)
        if (self->attempts[i].socket > 0)
            return true;
    return false;
}

static void attempt_begin(struct happy_eyeballs *self, struct happy_eyeballs_attempt *attempt)
{
    const struct weir_endpoint peer = {self->addresses[self->tried++], self->port};
    const weir_socket socket = weir_socket_open(weir_of(self), WEIR_STREAM, 0);
    self->next_us = weir_now_us(weir_of(self)) + HAPPY_EYEBALLS_ATTEMPT_US;
    if (socket < 0) {
        attempt_failed(self, attempt, socket);
        return;
    }
    attempt->socket = socket;
    (void)loop_watch(self->pair.dns->loop, socket, &attempt->watch);
    const int error = weir_socket_connect(weir_of(self), socket, &peer);
    if (error != WEIR_OK && error != WEIR_IN_PROGRESS)
        attempt_failed(self, attempt, error);
}

static bool may_begin(const struct happy_eyeballs *self, uint64_t now_us)
{
    return self->tried < self->count && now_us >= self->begin_us && now_us >= self->next_us;
}

static uint64_t happy_poll(struct app *app, uint64_t now_us)
{
    struct happy_eyeballs *const self = (struct happy_eyeballs *)app;
    struct happy_eyeballs_attempt *attempt;
    if (now_us >= self->end_us) {
        finish(self, 0, WEIR_TIMED_OUT);
        return now_us;  // who was told may have begun something
    }
    while (may_begin(self, now_us) && (attempt = attempt_free(self)) != NULL)  // each is tried once: bounded
        attempt_begin(self, attempt);
    if (self->tried < self->count) {
        const uint64_t due_us = self->next_us > self->begin_us ? self->next_us : self->begin_us;
        return attempt_free(self) != NULL && due_us < self->end_us ? due_us : self->end_us;
    }
    if (attempts_under_way(self) || dns_pair_pending(&self->pair))
        return self->end_us;
    finish(self, 0, self->count > 0 ? self->result : dns_pair_failure(&self->pair));
    return now_us;
}

// --- names -----------------------------------------------------------------------------------------------------------

// §3: with addresses of IPv6, or when no more of them can come, it begins at once; otherwise a little later.
static void told(struct dns_pair *pair, enum dns_side side, const struct dns_answer *answer)
{
    struct happy_eyeballs *const self =
        (struct happy_eyeballs *)(void *)((char *)pair - offsetof(struct happy_eyeballs, pair));
    struct dns_answer made;
    const uint64_t now_us = weir_now_us(weir_of(self));
    const bool found = pair->sides[side].result == DNS_FOUND;
    const bool synthesised = found && side == DNS_SIDE_A && dns_synthesise(weir_of(self), answer, &made);
    if (synthesised)
        answer = &made;
    if (found && (WEIR_CFG_IP4 || side == DNS_SIDE_AAAA || synthesised))
        addresses_take(self, answer);
    if (self->begin_us <= now_us)
        return;
    if (pair->sides[DNS_SIDE_AAAA].result != WEIR_IN_PROGRESS)
        self->begin_us = self->count > 0 ? now_us : self->begin_us;
    else if (found)
        self->begin_us = now_us + HAPPY_EYEBALLS_RESOLUTION_US;
}

void happy_eyeballs_start(struct happy_eyeballs *self, struct dns *dns, const char *name, uint16_t port,
                          void (*done)(void *context, struct happy_eyeballs *self), void *context)
{
    const uint64_t now_us = weir_now_us(dns->loop->weir);
    *self = (struct happy_eyeballs){.app = {.poll = happy_poll},
                                    .port = port,
                                    .done = done,
                                    .context = context,
                                    .begin_us = WEIR_NEVER,
                                    .end_us = now_us + HAPPY_EYEBALLS_TIMEOUT_US,
                                    .running = true};
    for (uint32_t i = 0; i < HAPPY_EYEBALLS_ATTEMPTS; i++)
        self->attempts[i] = (struct happy_eyeballs_attempt){.watch = {attempt_event}, .self = self};
    loop_add(dns->loop, &self->app);
    dns_pair_ask(&self->pair, dns, name, told);
}
