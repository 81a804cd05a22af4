// SPDX-License-Identifier: BSD-2-Clause
// DNS stub resolver: addresses of names, of both families, asked of a few servers over either, kept while they may be.
// Against forgery (RFC 5452): every try is a new socket (so a new random port), a new random id and a new random case
// of the name's letters; only the server's address may answer, the question must come back as sent, and a name is asked
// once at a time. After DNS_FORGED_MAX wrong answers, a truncated one, or one in another case it asks over TCP. Answers
// may have 1232 bytes (EDNS, RFC 6891); a server that refuses such a question is asked without, and so is every server
// that did not answer the first time: something on the way may drop what it does not know.
#ifndef APPS_DNS_RESOLVER_H
#define APPS_DNS_RESOLVER_H

#include "message.h"
#include "../loop.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#ifndef DNS_QUERIES
#define DNS_QUERIES 8u  // at once
#endif
#ifndef DNS_CACHE_ENTRIES
#define DNS_CACHE_ENTRIES 32u
#endif
#define DNS_CACHE_NAME 96u  // longer names are not kept
#define DNS_SERVERS 3u
#define DNS_TRIES 4u                 // the servers in turn, each of them twice at least
#define DNS_TIMEOUT_US 2000000u      // of the first round of servers; doubled for the second
#define DNS_TCP_TIMEOUT_US 5000000u  // from connect to the whole answer
#define DNS_TCP_MAX 4096u            // bytes of an answer over TCP; longer ones are refused
#define DNS_FORGED_MAX 16u
#define DNS_PORT 53u

// Who said which servers there are. Given ones are used alone; of the others DHCP's come first (RFC 8106 §5.3.1), and
// behind all what routers advertise, which the resolver asks the stack for by itself (weir/names.h).
enum dns_source { DNS_GIVEN, DNS_DHCP, DNS_DHCP6, DNS_SOURCES };

// `result`: enum dns_result FOUND, NO_NAME, NO_DATA, or a negative enum weir_error: TIMED_OUT, REFUSED (the servers
// said they cannot). May ask again at once.
typedef void dns_done(void *context, int result, const struct dns_answer *answer);

enum dns_transport { DNS_FREE, DNS_UDP, DNS_TCP, DNS_FOLLOWS };

struct dns_query {
    struct weir_watch watch;
    struct dns *dns;
    enum dns_transport transport;  // FOLLOWS: another query asks for the same name
    struct dns_query *leader;
    struct dns_question question;
    struct weir_endpoint server;  // of the present try
    weir_socket socket;           // 0: none
    uint8_t tries, wrong;
    int failure;  // what to say when the tries are used up
    bool sent;    // TCP: the question is on its way
    bool plain;   // EDNS was refused
    uint64_t due_us;
    dns_done *done;
    void *context;
};

struct dns_entry {
    char name[DNS_CACHE_NAME];  // empty: free
    uint16_t type;
    uint64_t expires_us;
    int result;
    struct dns_answer answer;
};

struct dns {
    struct app app;
    struct loop *loop;
    struct weir_addr servers[DNS_SERVERS];  // in force when one was asked last
    uint8_t server_count;
    struct weir_addr told[DNS_SOURCES][DNS_SERVERS];  // any: none
    struct dns_query queries[DNS_QUERIES];
    struct dns_entry cache[DNS_CACHE_ENTRIES];
    uint8_t scratch[DNS_TCP_MAX];
    struct {
        uint32_t asked, cached, malformed, forged, tcp, timed_out, not_extended;
    } count;
};

void dns_start(struct dns *dns, struct loop *loop);
void dns_stop(struct dns *dns);  // questions under way end with WEIR_ABORTED
// Replaces the servers that a source told of (at most DNS_SERVERS are kept). When those in force change, what the old
// ones said is forgotten.
void dns_servers_from(struct dns *dns, enum dns_source source, const struct weir_addr *servers, uint32_t count);
static inline void dns_servers(struct dns *dns, const struct weir_addr *servers, uint32_t count)
{
    dns_servers_from(dns, DNS_GIVEN, servers, count);
}
// The servers in force, whoever told of them, in the order in which they are asked. Returns how many.
uint32_t dns_servers_in_force(struct dns *dns, struct weir_addr out[DNS_SERVERS]);
// `type`: DNS_A, or DNS_AAAA in builds with IPv6.
// Known already (cache, an address as text, localhost): returns enum dns_result and fills *answer; `done` is not
// called. WEIR_IN_PROGRESS: `done` will be called. WEIR_INVALID: no such name can be; WEIR_NO_ROUTE: no server is set;
// WEIR_NO_MEMORY: DNS_QUERIES are under way.
int dns_resolve_type(struct dns *dns, const char *name, uint16_t type, struct dns_answer *answer, dns_done *done,
                     void *context);
// IPv4 addresses; in builds of IPv6 alone IPv6's.
static inline int dns_resolve(struct dns *dns, const char *name, struct dns_answer *answer, dns_done *done,
                              void *context)
{
    return dns_resolve_type(dns, name, WEIR_CFG_IP4 ? DNS_A : DNS_AAAA, answer, done, context);
}
// Whoever asked with this context does not want to hear of it any more.
void dns_cancel(struct dns *dns, const void *context);

WEIR_END_DECLS

#endif
