// SPDX-License-Identifier: BSD-2-Clause
// DNS servers and search domains of router advertisements (RFC 8106), and the prefix of a NAT64 (RFC 8781). A list that
// is full gives up the entry that would end first, for one that lives longer (RFC 8106 §6.3): what strangers say
// displaces no more than that.
#include "ip/names.h"

#include "ip/ip6.h"

// A list: its entries begin with their life.
struct list {
    void *entries;
    uint32_t bytes, count;  // of an entry; entries
};

static struct names_life *life_at(const struct list *list, uint32_t at)
{
    return (struct names_life *)(void *)((uint8_t *)list->entries + at * list->bytes);
}

static bool lives(const struct weir *weir, const struct names_life *life)
{
    return life->netif && life->until_us > weir->now_us;
}

// Order is age, and entries that are in use stand in front: those behind the removed one move up.
static void list_remove(const struct list *list, uint32_t at)
{
    for (; at + 1 < list->count; at++)
        memcpy(life_at(list, at), life_at(list, at + 1), list->bytes);
    life_at(list, at)->netif = NULL;
}

static void list_clean(const struct weir *weir, const struct list *list)
{
    for (uint32_t at = list->count; at-- > 0;)
        if (life_at(list, at)->netif && !lives(weir, life_at(list, at)))
            list_remove(list, at);
}

// Where a new entry may be written that lives so long; NULL: nowhere.
static struct names_life *list_place(const struct weir *weir, const struct list *list, uint64_t until_us)
{
    uint32_t first = 0, at = 0;
    list_clean(weir, list);
    for (; at < list->count && life_at(list, at)->netif; at++)
        if (life_at(list, at)->until_us < life_at(list, first)->until_us)
            first = at;
    if (at == list->count) {
        if (life_at(list, first)->until_us >= until_us)
            return NULL;
        list_remove(list, first);
        at--;
    }
    return life_at(list, at);
}

// The entry of the interface that is `like` behind its life.
static struct names_life *list_find(const struct list *list, const struct weir_netif *netif, const void *like)
{
    for (uint32_t at = 0; at < list->count; at++)
        if (life_at(list, at)->netif == netif &&
            !memcmp(life_at(list, at) + 1, like, list->bytes - sizeof(struct names_life)))
            return life_at(list, at);
    return NULL;
}

// `entry`, of list->bytes, is heard of with a lifetime. RFC 8106 §5.1: 0 means that it is no longer to be used.
static void list_told(struct weir *weir, const struct list *list, const struct names_life *entry)
{
    struct names_life *place = list_find(list, entry->netif, entry + 1);
    if (!place && entry->until_us > weir->now_us)
        place = list_place(weir, list, entry->until_us);
    if (place)
        memcpy(place, entry, list->bytes);
    else if (entry->until_us > weir->now_us)
        count(weir, WEIR_COUNT_ND_LIMIT);
    list_clean(weir, list);
}

static struct list servers_of(struct weir *weir)
{
    struct names *const names = &weir->ip.names;
    return (struct list){names->servers, sizeof names->servers[0], NAMES_SERVERS};
}
static struct list domains_of(struct weir *weir)
{
    struct names *const names = &weir->ip.names;
    return (struct list){names->domains, sizeof names->domains[0], NAMES_DOMAINS};
}
static struct list prefixes_of(struct weir *weir)
{
    struct names *const names = &weir->ip.names;
    return (struct list){names->prefixes, sizeof names->prefixes[0], NAMES_PREFIXES};
}

static bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

// The text of a name whose labels are known to be sound. False: too long, or with characters that no host's name has,
// which might fool who shows it or writes it to a file.
static bool domain_text(const uint8_t *name, char out[WEIR_DOMAIN_BYTES])
{
    uint32_t length = 0;
    for (; *name; name += *name + 1) {
        if (length + *name + 2 > WEIR_DOMAIN_BYTES)
            return false;
        if (length)
            out[length++] = '.';
        for (uint32_t i = 1; i <= *name; i++) {
            if (!is_name_character((char)name[i]))
                return false;
            out[length++] = (char)name[i];
        }
    }
    return length > 0;
}

static void domains_advertised(struct weir *weir, struct names_life life, const struct nd_option *option)
{
    const struct list list = domains_of(weir);
    for (uint32_t at = 0, bytes; (bytes = nd_domain(option->data + at, option->bytes - at)) > 0; at += bytes) {
        struct names_domain entry;
        memset(&entry, 0, sizeof entry);
        entry.life = life;
        if (domain_text(option->data + at, entry.text))
            list_told(weir, &list, &entry.life);
    }
}

static void servers_advertised(struct weir *weir, struct names_life life, const struct nd_option *option)
{
    const struct list list = servers_of(weir);
    for (uint32_t at = 0; at < option->bytes; at += IP6_ADDRESS_BYTES) {
        struct names_server entry;
        memset(&entry, 0, sizeof entry);
        entry.life = life;
        entry.addr = weir_addr_with_zone(weir_addr_v6(option->data + at), life.netif->index);
        if (!weir_addr_is_any(entry.addr) && !weir_addr_is_multicast(entry.addr) && !weir_addr_is_loopback(entry.addr))
            list_told(weir, &list, &entry.life);
    }
}

void names_advertised(struct weir *weir, const struct weir_netif *netif, const struct nd_option *option)
{
    const struct names_life life = {netif, ip6_until_us(weir, option->lifetime_s)};
    const struct list prefixes = prefixes_of(weir);
    if (option->type == ND_DNS_SERVERS)
        servers_advertised(weir, life, option);
    else if (option->type == ND_DNS_DOMAINS)
        domains_advertised(weir, life, option);
    else {
        struct names_prefix entry;
        memset(&entry, 0, sizeof entry);
        entry.life = life;
        entry.prefix = weir_addr_v6(option->prefix);
        entry.bits = option->prefix_bits;
        list_told(weir, &prefixes, &entry.life);
    }
}

static void list_forget(const struct list list, const struct weir_netif *netif)
{
    for (uint32_t at = list.count; at-- > 0;)
        if (life_at(&list, at)->netif == netif)
            list_remove(&list, at);
}

void names_forget(struct weir *weir, const struct weir_netif *netif)
{
    list_forget(servers_of(weir), netif);
    list_forget(domains_of(weir), netif);
    list_forget(prefixes_of(weir), netif);
}

// --- asking ----------------------------------------------------------------------------------------------------------

uint32_t weir_router_dns_servers(const struct weir *weir, struct weir_addr *out, uint32_t most)
{
    uint32_t found = 0;
    for (uint32_t at = 0; at < NAMES_SERVERS && found < most; at++)
        if (lives(weir, &weir->ip.names.servers[at].life))
            out[found++] = weir->ip.names.servers[at].addr;
    return found;
}

bool weir_router_dns_domain(const struct weir *weir, uint32_t at, char out[WEIR_DOMAIN_BYTES])
{
    for (uint32_t i = 0; i < NAMES_DOMAINS; i++) {
        const struct names_domain *const domain = &weir->ip.names.domains[i];
        if (!lives(weir, &domain->life) || at-- > 0)
            continue;
        memcpy(out, domain->text, sizeof domain->text);
        return true;
    }
    return false;
}

bool weir_router_nat64(const struct weir *weir, struct weir_addr *prefix, uint8_t *bits)
{
    for (uint32_t i = 0; i < NAMES_PREFIXES; i++) {
        const struct names_prefix *const entry = &weir->ip.names.prefixes[i];
        if (!lives(weir, &entry->life))
            continue;
        *prefix = entry->prefix;
        *bits = entry->bits;
        return true;
    }
    return false;
}
