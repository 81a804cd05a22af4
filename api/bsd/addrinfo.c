// SPDX-License-Identifier: BSD-2-Clause
// getaddrinfo (POSIX, RFC 3493 §6.1): numeric addresses and services, a table of services, and the registered resolver
// for names.
#include "internal.h"
#include "weir/names.h"

struct service {
    const char *name;
    uint16_t port;
    uint8_t kinds;  // 1 stream, 2 datagram
};

// IANA's assignments, the ones that embedded systems use.
static const struct service services[] = {
    {"echo", 7, 3},    {"discard", 9, 3}, {"daytime", 13, 3}, {"chargen", 19, 3}, {"ftp-data", 20, 1},
    {"ftp", 21, 1},    {"ssh", 22, 1},    {"telnet", 23, 1},  {"smtp", 25, 1},    {"time", 37, 3},
    {"domain", 53, 3}, {"tftp", 69, 2},   {"http", 80, 1},    {"www", 80, 1},     {"pop3", 110, 1},
    {"ntp", 123, 2},   {"imap", 143, 1},  {"snmp", 161, 2},   {"https", 443, 1},  {"syslog", 514, 2},
    {"mqtt", 1883, 1}, {"coap", 5683, 2},
};

static const struct kind {
    int type, protocol;
} kinds[] = {
    // in the order of service.kinds' bits
    {WEIR_SOCK_STREAM, WEIR_IPPROTO_TCP},
    {WEIR_SOCK_DGRAM, WEIR_IPPROTO_UDP},
    {WEIR_SOCK_RAW, 0}};

#define ADDRESSES 16
#define NAME_MAX_BYTES 256  // a canonical name with its end

// One answer: everything it points at lies in it.
struct answer {
    struct weir_addrinfo info;
    union bsd_sockaddr address;
    char name[];
};

static size_t length_of(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

static bool same(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

// A decimal port; −1: not a number, or too large.
static int32_t port_number(const char *text)
{
    int32_t port = 0;
    if (!*text)
        return -1;
    for (; *text; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        port = port * 10 + (*text - '0');
        if (port > 65535)
            return -1;
    }
    return port;
}

// The port of a service for the kinds asked for (bit mask, narrowed to those that have it).
static int service_port(const char *service, int flags, uint8_t *wanted, uint16_t *port)
{
    *port = 0;
    if (!service)
        return 0;
    const int32_t number = port_number(service);
    if (number >= 0) {
        *port = (uint16_t)number;
        return 0;
    }
    if (flags & WEIR_AI_NUMERICSERV)
        return WEIR_EAI_NONAME;
    for (size_t index = 0; index < sizeof services / sizeof *services; index++) {
        if (same(services[index].name, service) && services[index].kinds & *wanted) {
            *wanted &= services[index].kinds;
            *port = services[index].port;
            return 0;
        }
    }
    return WEIR_EAI_SERVICE;
}

static int kinds_wanted(const struct weir_addrinfo *hints, uint8_t *wanted)
{
    *wanted = 0;
    for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
        const bool type = hints->ai_socktype == 0 || hints->ai_socktype == kinds[index].type;
        const bool protocol =
            hints->ai_protocol == 0 || kinds[index].protocol == 0 || hints->ai_protocol == kinds[index].protocol;
        if (type && protocol)
            *wanted |= (uint8_t)(1u << index);
    }
    return *wanted ? 0 : WEIR_EAI_SOCKTYPE;
}

#if WEIR_CFG_IP6
static const uint8_t loopback6[16] = {[15] = 1};

static bool family_known(int family)
{
    return family == WEIR_AF_UNSPEC || (WEIR_CFG_IP4 && family == WEIR_AF_INET) || family == WEIR_AF_INET6;
}

// A zone is an interface's name or its number (RFC 4007 §11.2).
static int numeric6(struct weir_bsd *bsd, const char *node, struct weir_addr *out)
{
    uint32_t end = 0;
    while (node[end] && node[end] != '%')
        end++;
    if (weir_addr_read(node, (uint32_t)length_of(node), out))
        return !weir_addr_is_mapped(*out);
    if (!node[end] || !weir_addr_read(node, end, out) || !weir_addr_is_link_local6(*out))
        return 0;
    *out = weir_addr_with_zone(*out, (uint8_t)bsd_if_nametoindex(bsd, node + end + 1));
    return weir_addr_zone(*out) != 0;
}

static int own_addresses(bool passive, struct weir_addr *out)
{
    out[0] = passive ? weir_addr_any() : weir_addr_v6(loopback6);
    out[1] = weir_addr_v4(passive ? WEIR_INADDR_ANY : WEIR_INADDR_LOOPBACK);
    return WEIR_CFG_IP4 ? 2 : 1;
}

// Of a name's addresses (not of one that was given as text) those of families that this host has, best first. RFC 3493
// §6.1: without an address of its own that goes beyond the link, a family is of no use.
static int usable(struct weir_bsd *bsd, const struct weir_addrinfo *hints, struct weir_addr *addrs, int count)
{
    const bool all = !(hints->ai_flags & WEIR_AI_ADDRCONFIG);
    int kept = 0;
    bsd_enter(bsd);
    const bool v4 = all || weir_family_configured(bsd->weir, false);
    const bool v6 = all || weir_family_configured(bsd->weir, true);
    for (int at = 0; at < count; at++)
        if (weir_addr_is_mapped(addrs[at]) ? WEIR_CFG_IP4 && v4 : v6)
            addrs[kept++] = addrs[at];
    weir_destinations_sort(bsd->weir, addrs, (uint32_t)kept);
    bsd_leave(bsd);
    return kept;
}

// Those of the family asked for stay; without one of AF_INET6, or with WEIR_AI_ALL, those of IPv4 stay as mapped ones.
static int of_family(const struct weir_addrinfo *hints, struct weir_addr *addrs, int count)
{
    bool v6 = false;
    int kept = 0;
    if (hints->ai_family == WEIR_AF_UNSPEC || count < 0)
        return count;
    for (int at = 0; at < count; at++)
        v6 |= !weir_addr_is_v4(addrs[at]);
    const bool mapped = hints->ai_flags & WEIR_AI_V4MAPPED && (!v6 || hints->ai_flags & WEIR_AI_ALL);
    for (int at = 0; at < count; at++)
        if (hints->ai_family == WEIR_AF_INET ? weir_addr_is_v4(addrs[at]) : mapped || !weir_addr_is_v4(addrs[at]))
            addrs[kept++] = addrs[at];
    return kept ? kept : WEIR_EAI_NONAME;
}

static uint8_t family_of(const struct weir_addrinfo *hints, struct weir_addr addr)
{
    return hints->ai_family == WEIR_AF_INET6 || !weir_addr_is_v4(addr) ? WEIR_AF_INET6 : WEIR_AF_INET;
}
#else
static bool family_known(int family) { return family == WEIR_AF_UNSPEC || family == WEIR_AF_INET; }
static int numeric6(struct weir_bsd *bsd, const char *node, struct weir_addr *out)
{
    return (void)bsd, (void)node, (void)out, 0;
}
static int usable(struct weir_bsd *bsd, const struct weir_addrinfo *hints, const struct weir_addr *addrs, int count)
{
    return (void)bsd, (void)hints, (void)addrs, count;
}
static int own_addresses(bool passive, struct weir_addr *out)
{
    out[0] = weir_addr_v4(passive ? WEIR_INADDR_ANY : WEIR_INADDR_LOOPBACK);
    return 1;
}
static int of_family(const struct weir_addrinfo *hints, struct weir_addr *addrs, int count)
{
    return (void)hints, (void)addrs, count;
}
static uint8_t family_of(const struct weir_addrinfo *hints, struct weir_addr addr)
{
    return (void)hints, (void)addr, WEIR_AF_INET;
}
#endif

static int resolve_name(struct weir_bsd *bsd, const char *node, const struct weir_addrinfo *hints,
                        struct weir_addr *out)
{
    struct weir_in_addr numeric;
    if (weir_inet_pton(WEIR_AF_INET, node, &numeric) == 1) {
        if (!WEIR_CFG_IP4)
            return WEIR_EAI_NONAME;
        out[0] = weir_addr_v4(weir_ntohl(numeric.s_addr));
        return 1;
    }
    if (numeric6(bsd, node, out))
        return 1;
    if (hints->ai_flags & WEIR_AI_NUMERICHOST)
        return WEIR_EAI_NONAME;
    if (same(node, "localhost"))  // RFC 6761 §6.3: never asked for on the wire
        return own_addresses(false, out);
    bsd_enter(bsd);
    weir_bsd_resolve *resolve = bsd->resolve;
    void *context = bsd->resolve_context;
    bsd_leave(bsd);
    int count = resolve ? resolve(context, bsd, node, out, ADDRESSES) : WEIR_EAI_NONAME;
    count = count > 0 ? usable(bsd, hints, out, count > ADDRESSES ? ADDRESSES : count) : count;
    return count == 0 ? WEIR_EAI_NONAME : count;
}

static int addresses(struct weir_bsd *bsd, const char *node, const struct weir_addrinfo *hints, struct weir_addr *out)
{
    if (node)
        return resolve_name(bsd, node, hints, out);
    return own_addresses(hints->ai_flags & WEIR_AI_PASSIVE, out);
}

static size_t answer_bytes(const struct weir_addrinfo *info)
{
    return sizeof(struct answer) + (info->ai_canonname ? length_of(info->ai_canonname) + 1 : 0);
}

static struct answer *answer_make(struct weir_bsd *bsd, const struct weir_endpoint *endpoint, const struct kind *kind,
                                  const struct weir_addrinfo *hints, const char *canonical)
{
    const size_t name_bytes = canonical ? length_of(canonical) + 1 : 0;
    bsd_enter(bsd);
    struct answer *answer = bsd_alloc(bsd, sizeof *answer + name_bytes);
    bsd_leave(bsd);
    if (!answer)
        return NULL;
    memset(answer, 0, sizeof *answer);
    const uint8_t family = family_of(hints, endpoint->addr);
    const weir_socklen length = bsd_sockaddr_make(family, endpoint, &answer->address);
    answer->info = (struct weir_addrinfo){.ai_family = family,
                                          .ai_socktype = kind->type,
                                          .ai_protocol = kind->protocol ? kind->protocol : hints->ai_protocol,
                                          .ai_addrlen = length,
                                          .ai_addr = (struct weir_sockaddr *)(void *)&answer->address};
    if (name_bytes) {
        memcpy(answer->name, canonical, name_bytes);
        answer->info.ai_canonname = answer->name;
    }
    return answer;
}

#define FLAGS_KNOWN \
    (WEIR_AI_PASSIVE | WEIR_AI_CANONNAME | WEIR_AI_NUMERICHOST | WEIR_AI_ADDRCONFIG | WEIR_AI_NUMERICSERV | \
     WEIR_AI_V4MAPPED | WEIR_AI_ALL)

static int check(const char *node, const char *service, const struct weir_addrinfo *hints)
{
    if (!node && !service)
        return WEIR_EAI_NONAME;
    if (hints->ai_flags & ~FLAGS_KNOWN || (hints->ai_flags & WEIR_AI_CANONNAME && !node))
        return WEIR_EAI_BADFLAGS;
    if (!family_known(hints->ai_family))
        return WEIR_EAI_FAMILY;
    if (node && length_of(node) >= NAME_MAX_BYTES)
        return WEIR_EAI_OVERFLOW;
    return 0;
}

// One answer for each address and kind, in this order.
static int answers(struct weir_bsd *bsd, const struct weir_addr *addrs, int count, uint16_t port, uint8_t wanted,
                   const struct weir_addrinfo *hints, const char *canonical, struct weir_addrinfo **out)
{
    struct weir_addrinfo *list = NULL, **last = &list;
    for (int at = 0; at < count; at++) {
        for (size_t index = 0; index < sizeof kinds / sizeof *kinds; index++) {
            if (!(wanted >> index & 1))
                continue;
            const struct weir_endpoint endpoint = {addrs[at], port};
            struct answer *answer = answer_make(bsd, &endpoint, &kinds[index], hints, list ? NULL : canonical);
            if (!answer) {
                bsd_freeaddrinfo(bsd, list);
                return WEIR_EAI_MEMORY;
            }
            *last = &answer->info;
            last = &answer->info.ai_next;
        }
    }
    *out = list;
    return 0;
}

int bsd_getaddrinfo(struct weir_bsd *bsd, const char *node, const char *service, const struct weir_addrinfo *hints,
                    struct weir_addrinfo **out)
{
    static const struct weir_addrinfo none = {0};
    struct weir_addr addrs[ADDRESSES];
    uint8_t wanted;
    uint16_t port;
    if (!hints)
        hints = &none;
    int error = check(node, service, hints);
    if (!error)
        error = kinds_wanted(hints, &wanted);
    if (!error)
        error = service_port(service, hints->ai_flags, &wanted, &port);
    if (error)
        return error;
    const int count = of_family(hints, addrs, addresses(bsd, node, hints, addrs));
    if (count < 0)
        return count;
    return answers(bsd, addrs, count, port, wanted, hints, hints->ai_flags & WEIR_AI_CANONNAME ? node : NULL, out);
}

void bsd_freeaddrinfo(struct weir_bsd *bsd, struct weir_addrinfo *list)
{
    bsd_enter(bsd);
    while (list) {
        struct weir_addrinfo *next = list->ai_next;
        bsd_free(bsd, list, answer_bytes(list));  // the info stands first in its answer
        list = next;
    }
    bsd_leave(bsd);
}

const char *bsd_gai_strerror(int error)
{
    switch (error) {
    case 0: return "success";
    case WEIR_EAI_BADFLAGS: return "bad flags";
    case WEIR_EAI_NONAME: return "name or service not known";
    case WEIR_EAI_AGAIN: return "temporary failure in name resolution";
    case WEIR_EAI_FAIL: return "name resolution failed";
    case WEIR_EAI_FAMILY: return "address family not supported";
    case WEIR_EAI_SOCKTYPE: return "socket type not supported";
    case WEIR_EAI_SERVICE: return "service not available for the socket type";
    case WEIR_EAI_MEMORY: return "out of memory";
    case WEIR_EAI_SYSTEM: return "system error";
    case WEIR_EAI_OVERFLOW: return "name too long";
    default: return "unknown error";
    }
}
