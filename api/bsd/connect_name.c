// SPDX-License-Identifier: BSD-2-Clause
// Connecting by name: attempts that overtake each other (RFC 8305 §5). The name's own part, with its delays, is the
// resolver's (apps/dns/both.h).
#include "internal.h"

#define ATTEMPT_MS 250
#define TIMEOUT_MS 60000
#define ATTEMPTS 4
#define ADDRESSES 16

struct race {
    struct weir_bsd *bsd;
    const struct weir_addrinfo *addresses[ADDRESSES];
    struct weir_pollfd attempts[ATTEMPTS];
    const struct weir_addrinfo *peers[ATTEMPTS];
    int count, tried, running;
    int error;  // of the last attempt that failed
};

// RFC 8305 §4: in their order, but the families take turns.
static void take_addresses(struct race *race, const struct weir_addrinfo *list)
{
    for (; list && race->count < ADDRESSES; list = list->ai_next)
        race->addresses[race->count++] = list;
    for (int at = 1; at < race->count; at++) {
        int other = at;
        while (other < race->count && race->addresses[other]->ai_family == race->addresses[at - 1]->ai_family)
            other++;
        if (other == race->count)
            return;
        const struct weir_addrinfo *const moved = race->addresses[other];
        for (; other > at; other--)
            race->addresses[other] = race->addresses[other - 1];
        race->addresses[at] = moved;
    }
}

// The attempt's descriptor when it is connected; −1: it is under way, or has failed and is gone.
static int settle(struct race *race, int at)
{
    const int fd = race->attempts[at].fd;
    const struct weir_addrinfo *const peer = race->peers[at];
    const int error = bsd_connect_error(race->bsd, fd, peer->ai_addr, peer->ai_addrlen);
    if (error == WEIR_IN_PROGRESS || error == BSD_ALREADY)
        return -1;
    race->running--;
    race->attempts[at] = race->attempts[race->running];
    race->peers[at] = race->peers[race->running];
    if (!error)
        return fd;
    race->error = error;
    (void)bsd_close(race->bsd, fd);
    return -1;
}

static int begin(struct race *race)
{
    const struct weir_addrinfo *const peer = race->addresses[race->tried++];
    const int fd = bsd_socket(race->bsd, peer->ai_family, WEIR_SOCK_STREAM | WEIR_SOCK_NONBLOCK, 0);
    if (fd < 0) {
        race->error = WEIR_NO_MEMORY;
        return -1;
    }
    race->attempts[race->running] = (struct weir_pollfd){.fd = fd, .events = WEIR_POLLOUT};
    race->peers[race->running++] = peer;
    return settle(race, race->running - 1);
}

// Waits for news of the attempts, until the next address is due. The connected one, or −1.
static int await(struct race *race)
{
    const bool more = race->tried < race->count && race->running < ATTEMPTS;
    const int ready = bsd_poll(race->bsd, race->attempts, (size_t)race->running, more ? ATTEMPT_MS : TIMEOUT_MS);
    if (ready < 0 || (ready == 0 && !more)) {
        race->error = ready < 0 ? WEIR_INTERRUPTED : WEIR_TIMED_OUT;
        race->tried = race->count;
        while (race->running > 0)
            (void)bsd_close(race->bsd, race->attempts[--race->running].fd);
    }
    for (int at = race->running - 1; at >= 0; at--) {
        const int fd = race->attempts[at].revents ? settle(race, at) : -1;
        if (fd >= 0)
            return fd;
    }
    return -1;
}

static int run(struct race *race)
{
    int fd = -1;
    while (fd < 0 && (race->tried < race->count || race->running > 0)) {
        if (race->tried < race->count && race->running < ATTEMPTS)
            fd = begin(race);
        if (fd < 0 && race->running > 0)
            fd = await(race);
    }
    while (race->running > 0)
        (void)bsd_close(race->bsd, race->attempts[--race->running].fd);
    if (fd >= 0)
        (void)bsd_fcntl(race->bsd, fd, WEIR_F_SETFL, 0);
    return fd;
}

int bsd_connect_name(struct weir_bsd *bsd, const char *node, const char *service, int *name_error)
{
    const struct weir_addrinfo hints = {.ai_socktype = WEIR_SOCK_STREAM, .ai_flags = WEIR_AI_ADDRCONFIG};
    struct weir_addrinfo *list = NULL;
    struct race race = {.bsd = bsd, .error = WEIR_AGAIN};
    const int wrong = bsd->port->wait ? bsd_getaddrinfo(bsd, node, service, &hints, &list) : 0;
    if (name_error)
        *name_error = wrong;
    if (wrong)
        return bsd_fail(bsd, WEIR_HOST_UNREACHABLE);
    take_addresses(&race, list);
    const int fd = run(&race);
    bsd_freeaddrinfo(bsd, list);
    return fd >= 0 ? fd : bsd_fail(bsd, race.error);
}
