// SPDX-License-Identifier: BSD-2-Clause
// Asking by multicast (RFC 6762 §5): a question that stands until it is stopped, and tells what appears and goes. Over
// it: who offers a type of service (mdns_browse_start), where an instance is (mdns_resolve_start), what addresses a
// host has (mdns_lookup_start). What is known is kept in the cache of struct mdns_config, which stays bounded: only
// records that a question is about, or that belong to such a one, get in, and new ones are refused while it is full.
#ifndef APPS_MDNS_QUERY_H
#define APPS_MDNS_QUERY_H

#include "mdns.h"
#include "weir/linkage/mdns.h"

WEIR_BEGIN_DECLS

struct mdns_answer {
    const struct mdns_name *name;
    uint16_t type;
    const uint8_t *data;  // valid within the call alone; names in it are whole
    uint32_t data_length;
};

struct mdns_query {
    struct mdns_query *next;  // the library's, like all but `answer` and `context`
    struct mdns *mdns;
    struct mdns_name name;
    uint16_t type;
    bool fresh, asked;
    uint64_t due_us;
    uint32_t interval_s;
    // A record appeared (`added`), or is gone. May start and stop questions, this one, too.
    void (*answer)(struct mdns_query *query, const struct mdns_answer *answer, bool added);
    void *context;
};

// Asks within 20 to 120 ms, then after 1, 2, 4 … seconds, at last every hour, and before what is known expires.
void mdns_query_start(struct mdns *mdns, struct mdns_query *query, const struct mdns_name *name, uint16_t type,
                      void (*answer)(struct mdns_query *, const struct mdns_answer *, bool added), void *context);
void mdns_query_stop(struct mdns_query *query);

// --- who offers "_http._tcp" ("_printer._sub._http._tcp": of a subtype; "_services._dns-sd._udp": which types are
// there)
struct mdns_browse {
    struct mdns_query query;
    // `instance` is the whole name, for mdns_resolve_start; mdns_name_split gives its first label, for people.
    void (*found)(struct mdns_browse *browse, const struct mdns_name *instance, bool added, void *context);
    void *context;
};
// WEIR_INVALID: not the name of a type.
int mdns_browse_start(struct mdns *mdns, struct mdns_browse *browse, const char *type,
                      void (*found)(struct mdns_browse *, const struct mdns_name *instance, bool added, void *),
                      void *context);
void mdns_browse_stop(struct mdns_browse *browse);

// --- which addresses a host has
#define MDNS_LOOKUP_ADDRESSES 4u
struct mdns_lookup {
    struct mdns_query a, aaaa;
    struct weir_addr addresses[MDNS_LOOKUP_ADDRESSES];  // those that are known now
    uint8_t count;
    void (*changed)(struct mdns_lookup *lookup, void *context);  // `addresses` are others than before
    void *context;
};
void mdns_lookup_start(struct mdns *mdns, struct mdns_lookup *lookup, const struct mdns_name *host,
                       void (*changed)(struct mdns_lookup *, void *), void *context);
void mdns_lookup_stop(struct mdns_lookup *lookup);

// --- where an instance is
#ifndef MDNS_TXT_KEPT
#define MDNS_TXT_KEPT 400u  // bytes of TXT data; longer ones are cut between strings
#endif
struct mdns_resolve {
    struct mdns_query srv, txt;
    struct mdns_lookup lookup;  // `lookup.addresses`
    struct mdns_name host;
    uint16_t port;  // 0: not known
    uint8_t text[MDNS_TXT_KEPT];
    uint16_t text_length;
    void (*changed)(struct mdns_resolve *resolve, void *context);  // anything of it
    void *context;
};
void mdns_resolve_start(struct mdns *mdns, struct mdns_resolve *resolve, const struct mdns_name *instance,
                        void (*changed)(struct mdns_resolve *, void *), void *context);
void mdns_resolve_stop(struct mdns_resolve *resolve);
// The value of a key in TXT data (RFC 6763 §6.4; letters in either case are the same): its bytes, which need no NUL,
// and *length. NULL: not there; a key without "=" has a value of 0 bytes.
const uint8_t *mdns_txt_value(const uint8_t *text, uint32_t text_length, const char *key, uint32_t *length);

WEIR_END_DECLS

#endif
