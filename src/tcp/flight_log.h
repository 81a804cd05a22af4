// SPDX-License-Identifier: BSD-2-Clause
// The flight log: what is between snd.una and snd.nxt, one record per transmitted burst, oldest first, without gaps.
// It times segments (Karn), is the SACK scoreboard (RFC 6675), and tells RACK and F-RTO what was delivered, and when it
// was sent. Records are split where a SACK block or a retransmission begins or ends; bounded; when full, neighbours
// with equal flags are joined (keeping the later time), and if that fails the split is refused.
#ifndef TCP_FLIGHT_LOG_H
#define TCP_FLIGHT_LOG_H

#include "base/memory.h"

#define FLIGHT_STEP_US 8u  // the resolution of its times: what is that far apart is told apart

#if WEIR_CFG_TCP_SACK
enum flight_flag {
    FLIGHT_RETRANSMITTED = 1,  // sent more than once: no RTT sample (Karn)
    FLIGHT_SACKED = 2,         // the peer holds it
    FLIGHT_LOST = 4,           // thought lost and not sent again since; never together with SACKED
};
#define FLIGHT_FLAGS (FLIGHT_STEP_US - 1)  // the low bits of `sent`

#if WEIR_CFG_TCP_RATE
// What was known of the delivery when a record was sent (rate.c). Times have the resolution of `sent`, so that no
// interval comes out shorter than the round trip that is measured from it.
struct flight_stamp {
    uint32_t delivered;      // bytes: snd.una and what is SACKED above it
    uint32_t delivered_us;   // when that last grew
    uint32_t first_sent_us;  // when the newest data of it had been sent; low bit: FLIGHT_APP_LIMITED
};
#define FLIGHT_APP_LIMITED 1u
#endif

#if WEIR_CFG_ALLOCATOR
// Spares a long log from being searched from its beginning at each acknowledgement.
struct flight_marks {
    uint32_t first_lost;  // no LOST record begins below it; meaningful while something is LOST
    uint32_t resent_us;   // no record that was sent again, and is neither SACKED nor LOST, was sent before it
    bool resent_out;      // there may be such a record
};
#endif

struct flight_record {
    uint32_t end;   // sequence number after its last byte; it begins where the record before it ends
    uint32_t sent;  // µs of the last transmission, low three bits: enum flight_flag
#if WEIR_CFG_TCP_RATE
    struct flight_stamp stamp;
#endif
};

// Bounds the work of one split: a memmove of half of them at the most, 640 KB. Where there is an allocator, a
// connection has at most so many full segments in flight (flight_bytes_most), so that each may have a record of its
// own. A log that joins records because it is full forgets what was SACKed, and that goes again for nothing: with every
// second segment lost 4,096 records were 6 MB.
#define FLIGHT_RECORDS_MAX 65535u
struct flight {
    uint32_t start;         // sequence number of the first byte in flight (snd.una)
    uint32_t sacked, lost;  // bytes with that flag
    uint32_t fack;          // end of the highest SACKED record; start when none
    uint32_t coarse;    // records that begin below it may have been joined: their time is that of their last byte only
    uint32_t detected;  // below it each record has a flag: flight_detect, or RACK, has found all of what was sent once
    uint16_t head, count, capacity;  // records [head, head + count) are in use
    uint16_t retransmitted;          // records with FLIGHT_RETRANSMITTED (0: the fast path may skip looking)
#if WEIR_CFG_ALLOCATOR
    struct flight_marks marks;
#endif
#if WEIR_CFG_TCP_RATE
    uint32_t delivered_us, first_sent_us;  // for the stamp of the next record
    bool unstamped;                        // nobody asks for stamps (tcp_rate_attach)
#endif
    struct flight_record record[];
};
// flight_simple.c: without SACK what is LOST is one range, what was sent again is all below one number, and one segment
// is timed
#else
struct flight {
    uint32_t start, end;           // snd.una; snd.nxt
    uint32_t lost_from, lost;      // [lost_from, lost_from + lost) is LOST
    uint32_t sacked;               // always 0
    uint32_t resent_end;           // what lies below it and is not LOST was sent more than once; start when none
    uint32_t timed_end, timed_us;  // the segment being timed (RFC 6298 §4 asks for one a round trip)
    bool timing;
};
struct flight_record {
    char none;  // takes no room for records
};
#endif

// What an acknowledgement did to the log.
struct flight_delta {
    uint32_t delivered;  // bytes newly delivered: cumulatively acknowledged and not SACKed before, or newly SACKED
    uint32_t sacked;     // the part of `delivered` that was newly SACKED
    uint32_t newly_lost;
    uint32_t ce;  // bytes that the peer says came marked (tcp_ecn_ack): not the log's business, but it goes along
    uint32_t rtt_sent_us;      // `sent` of the newest record delivered that was never retransmitted
    bool rtt_valid;            // never when the same cumulative ACK covers a retransmission: it waited for that (Karn)
    bool retransmitted_acked;  // some delivered record had been retransmitted
    uint32_t newest_sent_us;   // newest `sent` of all delivered
#if WEIR_CFG_TCP_RATE
    struct flight_stamp stamp;  // of that record
    uint32_t newest_end;        // end of that record; stamp.delivered when it was sent again
#endif
    // For RACK and F-RTO. Of the caller: what was SACKED before, and the limit of what may be believed of a
    // retransmission.
    uint32_t fack;      // flight->fack before this acknowledgement
    uint32_t young_us;  // with limit_young: what was sent again later cannot be what this acknowledges (RFC 8985 §6.2,
                        // step 2)
    bool limit_young;
    bool late_valid;      // of the log: the next two are known
    uint32_t late_us;     // transmission time of the delivered record that was sent last, of two at one time the higher
    uint32_t late_end;    // end of that record
    bool late_resent;     // whether it had been sent before
    bool reordered;       // something never sent again came after what lies above it (RFC 8985 §6.2, step 3)
    uint32_t late_start;  // the lowest number of what is `reordered`
    bool lost_delivered;  // something that was LOST and never sent again came after all
};

#endif
