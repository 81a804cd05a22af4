// SPDX-License-Identifier: BSD-2-Clause
// DNS stub resolver: IPv4 addresses of names, asked of one or two servers, kept while they may be. Against forgery (RFC
// 5452): every try is a new socket (so a new random port), a new random id and a new random case of the name's letters;
// only the server's address may answer, the question must come back as sent, and a name is asked once at a time. After
// DNS_FORGED_MAX wrong answers, a truncated one, or one in another case it asks over TCP. Answers may have 1232 bytes
// (EDNS, RFC 6891); a server that refuses such a question is asked without, and so is every server that did not answer
// the first time: something on the way may drop what it does not know.
#ifndef APPS_DNS_RESOLVER_H
#define APPS_DNS_RESOLVER_H

#include "dns/message.h"
#include "loop.h"

#ifndef DNS_QUERIES
#define DNS_QUERIES 8u  // at once
#endif
#ifndef DNS_CACHE_ENTRIES
#define DNS_CACHE_ENTRIES 32u
#endif
#define DNS_CACHE_NAME 96u  // longer names are not kept
#define DNS_SERVERS 2u
#define DNS_TRIES 4u                 // the servers in turn
#define DNS_TIMEOUT_US 2000000u      // of the first round of servers; doubled for the second
#define DNS_TCP_TIMEOUT_US 5000000u  // from connect to the whole answer
#define DNS_TCP_MAX 4096u            // bytes of an answer over TCP; longer ones are refused
#define DNS_FORGED_MAX 16u
#define DNS_PORT 53u

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
    uint64_t expires_us;
    int result;
    struct dns_answer answer;
};

struct dns {
    struct app app;
    struct loop *loop;
    struct weir_addr servers[DNS_SERVERS];
    uint8_t server_count;
    struct dns_query queries[DNS_QUERIES];
    struct dns_entry cache[DNS_CACHE_ENTRIES];
    uint8_t scratch[DNS_TCP_MAX];
    struct {
        uint32_t asked, cached, malformed, forged, tcp, timed_out, not_extended;
    } count;
};

void dns_start(struct dns *dns, struct loop *loop);
void dns_stop(struct dns *dns);  // questions under way end with WEIR_ABORTED
// Replaces the servers (at most DNS_SERVERS are kept) and forgets what the old ones said.
void dns_servers(struct dns *dns, const struct weir_addr *servers, uint32_t count);
// Known already (cache, a dotted quad, localhost): returns enum dns_result and fills *answer; `done` is not called.
// WEIR_IN_PROGRESS: `done` will be called. WEIR_INVALID: no such name can be; WEIR_NO_ROUTE: no server is set;
// WEIR_NO_MEMORY: DNS_QUERIES are under way.
int dns_resolve(struct dns *dns, const char *name, struct dns_answer *answer, dns_done *done, void *context);

#endif
