// SPDX-License-Identifier: BSD-2-Clause
#include "sntp_servers.h"

// When a server says that it is, and by how much that may be wrong.
struct opinion {
    uint64_t unix_us, distance_us;
};

// false: it has none, or none that is worth anything.
static bool opinion_of(const struct sntp *server, uint64_t now_us, struct opinion *opinion)
{
    const uint64_t age_us = now_us - server->time.now_us;
    *opinion = (struct opinion){.unix_us = server->time.unix_us + age_us,
                                .distance_us = (uint64_t)server->time.distance_us + server->time.delay_us / 2 +
                                               SNTP_DISTANCE_MIN_US + age_us / (1000000u / SNTP_DRIFT_PPM)};
    return server->time.unix_us != 0 && opinion->distance_us <= SNTP_DISTANCE_MAX_US;
}

static bool allows(const struct opinion *opinion, uint64_t unix_us)
{
    return unix_us + opinion->distance_us >= opinion->unix_us && unix_us <= opinion->unix_us + opinion->distance_us;
}

// How many allow that it is `unix_us`, and the one of them that knows best.
static uint32_t supporters(const struct sntp_servers *servers, uint64_t unix_us, uint64_t now_us, struct opinion *best)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < servers->count; i++) {
        struct opinion opinion;
        if (!opinion_of(&servers->servers[i], now_us, &opinion) || !allows(&opinion, unix_us))
            continue;
        if (count == 0 || opinion.distance_us < best->distance_us)
            *best = opinion;
        count++;
    }
    return count;
}

// Where the most agree somebody's interval begins, so no other point has to be looked at (Marzullo).
static void vote(struct sntp_servers *servers, uint64_t now_us)
{
    struct opinion best = {0, 0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < servers->count; i++) {
        struct opinion opinion, theirs;
        if (!opinion_of(&servers->servers[i], now_us, &opinion))
            continue;
        const uint32_t count = supporters(servers, opinion.unix_us - opinion.distance_us, now_us, &theirs);
        if (count > most) {
            most = count;
            best = theirs;
        }
    }
    if (most <= servers->count / 2) {
        servers->times.undecided++;
        return;
    }
    servers->times.set++;
    unix_clock_set(&servers->clock, best.unix_us, now_us);
    if (servers->set != NULL)
        servers->set(servers, servers->context);
}

// Who does not answer has no opinion any more.
static void measured(struct sntp *server, int error, const struct sntp_time *time, void *context)
{
    struct sntp_servers *servers = context;
    (void)time;
    if (error == WEIR_OK)
        vote(servers, weir_now_us(servers->loop->weir));
    else
        server->time.unix_us = 0;
}

uint64_t sntp_servers_unix_us(const struct sntp_servers *servers)
{
    return unix_clock_read(&servers->clock, weir_now_us(servers->loop->weir));
}

int sntp_servers_start(struct sntp_servers *servers, struct loop *loop, struct sntp *structs,
                       const struct weir_addr *addresses, uint32_t count,
                       void (*set)(struct sntp_servers *servers, void *context), void *context)
{
    int error = count < 2 ? WEIR_INVALID : WEIR_OK;
    *servers = (struct sntp_servers){.loop = loop, .servers = structs, .set = set, .context = context};
    for (; error == WEIR_OK && servers->count < count; servers->count += error == WEIR_OK)
        error = sntp_start(&structs[servers->count], loop, addresses[servers->count], false, measured, servers);
    if (error != WEIR_OK)
        sntp_servers_stop(servers);
    return error;
}

void sntp_servers_stop(struct sntp_servers *servers)
{
    for (; servers->count > 0; servers->count--)
        sntp_stop(&servers->servers[servers->count - 1]);
}
