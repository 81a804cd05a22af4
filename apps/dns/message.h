// SPDX-License-Identifier: BSD-2-Clause
// DNS messages (RFC 1035), pure: bytes in, values out. Every length is compared with the bytes at hand; a compression
// pointer must point before the name it continues, so no chain of them can loop (RFC 9267).
#ifndef APPS_DNS_MESSAGE_H
#define APPS_DNS_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

// octets on the wire, with the root's (RFC 1035 §3.1); as text with its NUL it fits as well
#define DNS_NAME_MAX 255u
#define DNS_HOPS_MAX 127u  // compression pointers followed in one name: no more labels fit
// RFC 1035 §4.2.1: any server takes a question of so many bytes, and without EDNS answers with no more
#define DNS_UDP_MAX 512u
// what EDNS says we take (RFC 6891 §6.2.3): with all headers within IPv6's least MTU, so never in fragments
#define DNS_EXTENDED_MAX 1232u
#define DNS_ADDRESSES 8u      // kept of an answer
#define DNS_CHAIN_MAX 8u      // CNAMEs followed
#define DNS_RECORDS_MAX 128u  // records looked at in a message
#define DNS_TTL_MAX_S 86400u  // longer ones are cut to a day

enum dns_type { DNS_A = 1, DNS_CNAME = 5, DNS_SOA = 6, DNS_AAAA = 28, DNS_OPT = 41 };

enum dns_result {
    DNS_FOUND,          // addresses
    DNS_NO_NAME,        // the name does not exist (RCODE 3)
    DNS_NO_DATA,        // the name exists and has no address
    DNS_SERVER_FAILED,  // SERVFAIL, REFUSED and other codes: ask another server
    DNS_TRUNCATED,      // ask again over TCP
    DNS_BAD,            // malformed: parse error
    DNS_NOT_OURS,       // not the answer to this question: wrong id or name; go on waiting
    DNS_NOT_EXTENDED,   // the server does not know EDNS, or not this version: ask again without (RFC 6891 §7)
    DNS_WRONG_CASE,  // the question came back in another case (RFC 5452, "0x20"): forged, or a server that changes case
};

// A question. The name is as sent: its letters' case is part of what an answer must repeat.
struct dns_question {
    uint16_t id, type;
    bool extended;                // with EDNS(0): RFC 6891
    char name[DNS_NAME_MAX + 1];  // "Www.eXample.org", no dot at the end
};

struct dns_answer {
    struct weir_addr addresses[DNS_ADDRESSES];
    uint8_t count;
    uint32_t ttl_s;  // the smallest on the way; of a negative answer: RFC 2308's, 0 when it has no SOA record
};

// Whether `name` (a NUL ends it) can be asked: labels of 1 to 63 octets, at most 253 characters; one dot at the end is
// allowed.
bool dns_name_valid(const char *name);
// Copies a valid name without a dot at its end, letters' case set by the bits of `random` (its 32 bytes are used in
// turn).
void dns_name_randomise(char out[DNS_NAME_MAX + 1], const char *name, const uint8_t random[32]);
bool dns_name_equal(const char *a, const char *b);  // ASCII letters in either case are the same

// Reads the name at `at` into `out`; *end gets the offset behind it (where it lies, not where pointers lead). false:
// malformed.
bool dns_name_read(const uint8_t *message, uint32_t length, uint32_t at, char out[DNS_NAME_MAX + 1], uint32_t *end);

// Writes a query with recursion desired. Returns its bytes; 0: the name is not valid or `room` is too small.
uint32_t dns_query_emit(const struct dns_question *question, uint8_t *out, uint32_t room);
// Judges a response to `question`. Bounded: DNS_RECORDS_MAX names of DNS_NAME_MAX octets, DNS_CHAIN_MAX times.
enum dns_result dns_answer_parse(const uint8_t *message, uint32_t length, const struct dns_question *question,
                                 struct dns_answer *answer);

WEIR_END_DECLS

#endif
