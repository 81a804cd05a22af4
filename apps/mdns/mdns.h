// SPDX-License-Identifier: BSD-2-Clause
// Multicast DNS (RFC 6762) and service discovery (RFC 6763) on one interface: a host name below .local and services are
// probed, announced, answered for and defended; names and services of others are asked for (mdns/query.h). Over IPv4
// and, where it is built, IPv6. Needs multicast (WEIR_CFG_IGMP).
//
//     static struct mdns mdns;
//     static struct mdns_service web = {.name = "Kitchen", .type = "_http._tcp", .port = 80};
//     mdns_start(&mdns, &loop, netif, &(struct mdns_config){.host = "kitchen"});     // kitchen.local
//     mdns_publish(&mdns, &web);
//
// All memory is the caller's, and stays until mdns_stop. Lock held throughout.
#ifndef APPS_MDNS_H
#define APPS_MDNS_H

#include "../loop.h"
#include "wire.h"
#include "weir/linkage/mdns.h"

WEIR_BEGIN_DECLS

#define MDNS_PORT 5353u
#ifndef MDNS_MESSAGE_MAX
#define MDNS_MESSAGE_MAX 1452u  // what we send: within 1,500 bytes over both families
#endif
#define MDNS_TTL_S 120u        // of what names a host: A, AAAA, SRV (RFC 6762 §10)
#define MDNS_TTL_LONG_S 4500u  // of everything else
#define MDNS_TTL_LEGACY_S 10u  // at most, to resolvers that know nothing of multicast (§6.7)
#define MDNS_ADDRESSES 8u      // of the interface, told of
#define MDNS_SUBTYPES 4u       // of a service
#define MDNS_ANNOUNCEMENTS 3u  // 1 and 2 seconds apart (§8.3)
#define MDNS_TXT_MAX 1300u     // bytes of a TXT record (RFC 6763 §6.2)
// So many conflicts without MDNS_CONFLICTS_US between two of them: then MDNS_CONFLICT_WAIT_US before each try (§8.1).
#define MDNS_CONFLICTS_MAX 15u
#define MDNS_CONFLICTS_US 10000000u
#define MDNS_CONFLICT_WAIT_US 5000000u

// Sets of records with one name and type: what is sent, suppressed and limited as a whole. The first three are a
// host's, the others a service's.
enum mdns_slot_kind {
    MDNS_HOST_A = 0,
    MDNS_HOST_AAAA = 1,
    MDNS_HOST_NSEC = 2,
    MDNS_SERVICE_PTR = 0,   // type → instance; shared with others
    MDNS_SERVICE_META = 1,  // _services._dns-sd._udp → type; shared
    MDNS_SERVICE_SRV = 2,
    MDNS_SERVICE_TXT = 3,
    MDNS_SERVICE_NSEC = 4,
    MDNS_SERVICE_SUB = 5,  // subtype → instance, MDNS_SUBTYPES of them; shared
    MDNS_SLOTS = MDNS_SERVICE_SUB + MDNS_SUBTYPES
};

struct mdns_slot {
    uint64_t sent_us;  // by multicast last; 0: never
    uint64_t due_us;   // to be sent by multicast then; WEIR_NEVER: not
    uint32_t asker;    // who asked, a hash; 0: several
};

enum mdns_state {
    MDNS_IDLE,        // waits for an address
    MDNS_PROBING,     // asks whether the name is another's
    MDNS_ANNOUNCING,  // it is ours
    MDNS_READY,
};

// A unique name and the records that hang on it: the host's, or a service's.
struct mdns_owner {
    struct mdns_owner *next;
    struct mdns_service *service;    // NULL: the host
    char label[MDNS_LABEL_MAX + 1];  // as it is now: with a number behind it after conflicts
    uint16_t number;                 // 1: the name as given
    uint16_t told;                   // the number that `named` was told last
    uint8_t state, sent;             // enum mdns_state; probes or announcements sent in it
    uint64_t due_us;                 // the next
    uint16_t asked, direct, added;   // masks of slots, within one call: by multicast, by unicast, as additional records
    uint8_t known[MDNS_SLOTS];       // masks of a slot's records that the asker has
    struct mdns_slot slots[MDNS_SLOTS];
};

struct mdns;
struct mdns_service {
    const char *name;             // "Kitchen": any UTF-8 of at most 63 octets
    const char *type;             // "_http._tcp"
    const char *const *subtypes;  // {"_printer", NULL}, at most MDNS_SUBTYPES; NULL: none
    const uint8_t *txt;           // strings, each behind its length's octet; NULL: none
    uint16_t txt_length;          // at most MDNS_TXT_MAX
    uint16_t port;
    struct mdns_owner owner;  // the rest is the library's
};

struct mdns_config {
    const char *host;  // one label of at most 63 octets: "kitchen" is kitchen.local; NULL: only asks
    // A name is ours, from now on as `label` says: of the host (`service` NULL) or of a service. Others may have had
    // what was asked for: keep the new one, and begin with it next time (RFC 6762 §9). May be NULL.
    void (*named)(struct mdns *mdns, struct mdns_service *service, const char *label, void *context);
    void *context;
    uint8_t *cache;  // what others said, for mdns/query.h: 2 to 64 KB are good; NULL: none
    uint32_t cache_bytes;
};

struct mdns_counts {
    uint32_t received, malformed, ignored;  // ignored: wrong port, code, or from another network
    uint32_t queries, answers, unicast, probes, announcements, conflicts, tie_lost, suppressed, limited;
    uint32_t cached, cache_full, asked, send_failed;
};

struct mdns_query;
struct mdns {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct weir_netif *netif;
    struct mdns_config config;
    weir_socket socket;
    uint64_t due_us;
    struct mdns_owner host, *owners;
    struct weir_addr addresses[MDNS_ADDRESSES];  // of the interface, as told of now
    uint8_t address_count;
    bool link;
    uint32_t conflicts;                   // without MDNS_CONFLICTS_US between two of them
    uint64_t conflicts_us;                // the last
    uint64_t direct_us;                   // answers by unicast are taken until then: to a question that allowed them
    struct mdns_query *queries, *cursor;  // cursor: the next to be told, while they are
    uint32_t cache_used;
    struct mdns_counts count;
    uint8_t out[MDNS_MESSAGE_MAX];
};

// WEIR_NOT_SUPPORTED: built without multicast; WEIR_INVALID: a name too long or empty; WEIR_IN_USE: another has the
// port and does not share it.
int mdns_start(struct mdns *mdns, struct loop *loop, struct weir_netif *netif, const struct mdns_config *config);
// Says goodbye (TTL 0) for all that is ours.
void mdns_stop(struct mdns *mdns);
// WEIR_INVALID: a name, type, port or TXT that cannot be told; also without a host name. A name has no control
// characters (RFC 6763 §4.1.1), a type is "_" with 1 to 15 letters, digits and hyphens, and "._tcp" or "._udp" (§7).
int mdns_publish(struct mdns *mdns, struct mdns_service *service);
void mdns_withdraw(struct mdns *mdns, struct mdns_service *service);  // goodbye
// Its TXT data or port are different now: announced anew (§8.4).
void mdns_update(struct mdns *mdns, struct mdns_service *service);

WEIR_END_DECLS

#endif
