// SPDX-License-Identifier: BSD-2-Clause
// A segment arrives. tcp_input finds whose it is; tcp_input_segment is RFC 9293 §3.10.7.4 as a list of steps, each of
// which returns a verdict that apply_verdict acts on.
#include "tcp/halfopen.h"
#include "tcp/internal.h"
#include "tcp/sack.h"
#include "tcp/syncookie.h"
#include "tcp/timewait.h"

#define CHALLENGES_PER_SECOND 10u  // RFC 5961 §7: a limit of each connection's own (CVE-2016-5696)

// RFC 5961 §7. The bucket is refilled at moments with a random part, so that its edges cannot be probed for. Ages are
// compared, not moments: a connection may be older than the clock can tell apart.
bool tcp_challenge_allowed(struct weir *weir, struct tcp_conn *c)
{
    if (weir->now_ms - c->challenge_ms >= TCP_CHALLENGE_REFILL_MS) {
        c->challenge_ms = weir->now_ms - random_below(&weir->random, 512);
        c->challenge_tokens = (uint8_t)(CHALLENGES_PER_SECOND / 2 + random_below(&weir->random, CHALLENGES_PER_SECOND));
    }
    if (!c->challenge_tokens) {
        count(weir, WEIR_COUNT_TCP_CHALLENGE_LIMITED);
        return false;
    }
    c->challenge_tokens--;
    count(weir, WEIR_COUNT_TCP_CHALLENGE_ACK);
    return true;
}

// --- the steps -------------------------------------------------------------------------------------------------------

// Both ends may have probed each other's closed window at one time, and each have taken the other's byte: all that the
// peer says from then on begins one below what is expected, and so does all we say, until one of us believes what the
// other acknowledges.
static bool is_crossed_probe(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return c->attention & ATTEND_PERSIST && segment->seq + 1 == c->rcv.nxt && segment->length <= 1 &&
           (segment->flags & (TCP_SYN | TCP_FIN | TCP_RST | TCP_ACK)) == TCP_ACK &&
           seq_in(segment->ack, c->snd.una + 1, c->snd.nxt + 1);
}

// First: the sequence number (RFC 9293 §3.10.7.4, table 6), with the edge as promised.
static enum tcp_verdict step_sequence(struct weir *weir, struct tcp_conn *c, struct tcp_segment *segment)
{
    const uint32_t length = segment->length + !!(segment->flags & TCP_SYN) + !!(segment->flags & TCP_FIN);
    const uint32_t window = c->rcv.edge - c->rcv.nxt;
    const uint32_t ahead = segment->seq - c->rcv.nxt;
    if (ahead < window || (ahead == 0 && !segment->length && !(segment->flags & TCP_SYN)))
        return TCP_NEXT;  // a FIN alone needs no room
    // It begins outside. Its last byte may still lie inside, or it ends right at rcv.nxt and carries a usable ACK.
    if (length && segment->seq + length - 1 - c->rcv.nxt < window && seq_lt(segment->seq, c->rcv.nxt))
        return TCP_NEXT;
    if (!length && ahead == window && !(segment->flags & TCP_RST))
        return TCP_NEXT;  // an ACK at the right edge of a full window
    // A probe of a closed window, or a FIN behind data that filled it and is missing: refused and answered, yet ACK,
    // RST and URG are taken (MUST-66).
    if (ahead == 0 || (ahead == window && !segment->length && (segment->flags & (TCP_FIN | TCP_RST)) == TCP_FIN)) {
        count(weir, WEIR_COUNT_TCP_UNACCEPTABLE);
        segment->length = 0;
        segment->flags &= (uint8_t) ~(TCP_FIN | TCP_SYN);
        tcp_ack_now(weir, c);
        return TCP_NEXT;
    }
    if (is_crossed_probe(c, segment)) {
        count(weir, WEIR_COUNT_TCP_UNACCEPTABLE);
        segment->length = 0;
        tcp_ack_now(weir, c);
        return TCP_NEXT;
    }
    if (segment->flags & TCP_RST)
        return TCP_DROP;
    if (segment->length && c->rcv.nxt - (segment->seq + length) < TCP_WINDOW_MOST) {
        count(weir, WEIR_COUNT_TCP_DUPLICATE);
        tcp_ecn_duplicate(weir, c);
        ip_path_doubt(weir, &c->path);  // acknowledgements may be what does not arrive
        tcp_dsack_owe(weir, c, segment->seq, segment->seq + segment->length);
    } else {
        count(weir, WEIR_COUNT_TCP_UNACCEPTABLE);
    }
    return segment->length ? TCP_DROP_ACK
                           : TCP_CHALLENGE;  // two ends that disagree must not answer ACKs with ACKs for ever
}

// Second: RST (RFC 5961 §3): only the exact next sequence number resets.
static enum tcp_verdict step_reset(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (!(segment->flags & TCP_RST))
        return TCP_NEXT;
    if (segment->seq != c->rcv.nxt)
        return TCP_CHALLENGE;
    count(weir, WEIR_COUNT_TCP_RST_RECEIVED);
    const bool opening = tcp_syn_received(c);
    const bool closing = c->state == WEIR_TCP_CLOSING || c->state == WEIR_TCP_LAST_ACK;
    tcp_conn_drop(weir, c, opening ? WEIR_REFUSED : closing ? WEIR_OK : WEIR_RESET);
    return TCP_GONE;
}

// Fourth: SYN in a synchronised state (RFC 5961 §4).
static enum tcp_verdict step_syn(const struct tcp_segment *segment)
{
    return segment->flags & TCP_SYN ? TCP_CHALLENGE : TCP_NEXT;
}

static enum tcp_verdict step_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    return segment->flags & TCP_ACK ? tcp_input_ack(weir, c, segment) : TCP_DROP;
}

// The number before the one expected, known to the peer alone: its keepalive (RFC 9293 §3.8.4). It is not acceptable,
// yet it shows that the peer is alive and how far its timestamps have come: without that, 25 days of nothing but
// keepalives would make all that follows look old.
static bool is_keepalive(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return segment->seq + 1 == c->rcv.nxt && segment->length <= 1 && !(segment->flags & (TCP_SYN | TCP_FIN | TCP_RST));
}

// Only what a stranger could not have sent proves that the peer is there.
static void heard(const struct weir *weir, struct tcp_conn *c)
{
    c->last_received_ms = weir->now_ms;
    c->keepalive_probes = 0;
}

// Before the ACK may change anything: PAWS (RFC 7323 §5), then sequence, RST, SYN.
static enum tcp_verdict steps_before_ack(struct weir *weir, struct tcp_conn *c, struct tcp_segment *segment)
{
    enum tcp_verdict verdict = TCP_NEXT;
    if (c->flags & TCP_USE_TIMESTAMPS)
        verdict = tcp_paws(weir, c, segment);
    if (verdict == TCP_NEXT && tcp_syn_received(c) && segment->seq + 1 == c->rcv.nxt &&
        (segment->flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK)) {
        segment->seq++;  // the SYN part was taken in SYN-SENT
        tcp_ecn_forget_flags(segment);
        segment->flags &= (uint8_t)~TCP_SYN;
    }
    if (verdict == TCP_NEXT) {
        if (is_keepalive(c, segment)) {
            tcp_timestamps_update(weir, c, segment);
            heard(weir, c);
        }
        tcp_realtime_unsent(weir, c, segment);
        verdict = step_sequence(weir, c, segment);
    }
    if (verdict == TCP_NEXT)
        verdict = step_reset(weir, c, segment);
    if (verdict == TCP_NEXT)
        verdict = step_syn(segment);
    return verdict;
}

static void apply_verdict(struct weir *weir, struct tcp_conn *c, enum tcp_verdict verdict)
{
    if (verdict == TCP_DROP_ACK || (verdict == TCP_CHALLENGE && tcp_challenge_allowed(weir, c))) {
        tcp_ack_now(weir, c);
    }
}

// Segments beyond what was wanted reset a connection that nobody reads any more (RFC 9293 §3.10.4, RFC 2525 §2.17).
static bool data_after_close(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                             const struct tcp_segment *segment)
{
    if (!(c->attention & ATTEND_CLOSED_BY_USER) || c->attention & ATTEND_FIN_RECEIVED || !segment->length ||
        !seq_lt(c->rcv.nxt, segment->seq + segment->length))
        return false;
    tcp_reply_reset(weir, packet, segment);
    tcp_conn_drop(weir, c, WEIR_RESET);
    return true;
}

static void steps(struct weir *weir, struct tcp_conn *c, struct packet *packet, struct tcp_segment *segment,
                  bool copied)
{
    enum tcp_verdict verdict;
    TCP_INFO_COUNT(c, segs_in, 1);
    if (tcp_syn_sent(c)) {
        verdict = tcp_input_syn_sent(weir, c, packet, segment);
    } else {
        verdict = steps_before_ack(weir, c, segment);
        if (verdict == TCP_NEXT)
            verdict = step_ack(weir, c, segment);
        // not before the ACK proved good: a guessed segment could end the connection by its timestamp
        if (verdict == TCP_NEXT)
            tcp_timestamps_update(weir, c, segment);
    }
    if (verdict == TCP_GONE)
        return;
    if (verdict != TCP_NEXT) {
        tcp_ecn_syn_ack_again(c, packet, segment);
        apply_verdict(weir, c, verdict);
        return;
    }
    if (segment->length)
        tcp_receive_after_pause(weir, c, segment->length);
    heard(weir, c);
    ip_path_heard(&c->path, packet);
    tcp_ecn_input(weir, c, packet, segment);
    if (segment->options.seen & TCP_SEEN_USER_TIMEOUT) {
        tcp_timers_resolve_deadline(weir, c);  // a timer that runs keeps the timeout that it began with
        tcp_uto_heard(c, segment->options.user_timeout);
    }
    if (data_after_close(weir, c, packet, segment))
        return;
    if (segment->flags & TCP_URG)
        tcp_urgent_input(weir, c, segment);
    if (segment->length)
        tcp_receive_data(weir, c, packet, segment, copied);
    tcp_realtime_heard(weir, c, segment);
    if (segment->flags & TCP_FIN)
        tcp_receive_fin(weir, c, segment->seq + segment->length);
}

void tcp_input_segment(struct weir *weir, struct tcp_conn *c, struct packet *packet, struct tcp_segment *segment)
{
    tcp_ecn_handshake_done(weir, c, segment);
    if (!tcp_predict(weir, c, packet, segment, false))
        steps(weir, c, packet, segment, false);
}

// --- whose is it? ----------------------------------------------------------------------------------------------------

// RFC 9293 §3.10.7.1, .2: no connection. A listener, a record of one opening or ended, or nobody.
static void input_without_connection(struct weir *weir, struct packet *packet, struct tcp_segment *segment)
{
    struct tcp_half_open *half_open = half_open_find(weir, packet, segment);
    if (half_open) {
        half_open_input(weir, half_open, packet, segment);
        return;
    }
    struct tcp_time_wait *time_wait = time_wait_find(weir, packet, segment);
    if (time_wait && !time_wait_input(weir, time_wait, packet, segment))
        return;
    struct tcp_listener *listener =
        tcp_listener_find(weir, packet->destination, segment->destination, packet->netif->index);
    if (!listener) {
        count(weir, WEIR_COUNT_TCP_NO_SOCKET);
        tcp_reply_reset(weir, packet, segment);
    } else if (segment->flags & TCP_RST) {
        return;
    } else if (segment->flags & TCP_ACK) {
        if (!syncookie_input(weir, listener, packet, segment))
            tcp_reply_reset(weir, packet, segment);
    } else if (segment->flags & TCP_SYN) {
        half_open_syn(weir, listener, packet, segment);
    }
}

// The next data in order goes to its place in the pass that sums it: *copied.
static bool checksum_good(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                          const struct tcp_segment *segment, bool *copied)
{
    const uint16_t pseudo = ip_pseudo_sum(packet->source, packet->destination, IP_TCP, packet->length);
    const uint16_t sum = checksum_fold_words(checksum_header(packet->head, segment->header_length) + pseudo);
    bool good;
    if (!segment->length)
        return sum == 0xffff;
    *copied = c && tcp_receive_precopy(weir, c, packet, segment, sum, &good);
    return *copied
               ? good
               : checksum_add(sum, packet_sum(weir->port, packet, segment->header_length, segment->length)) == 0xffff;
}

void tcp_input(struct weir *weir, struct packet *packet)
{
    struct tcp_segment segment;
    count(weir, WEIR_COUNT_TCP_RECEIVED);
    if (packet->flags & (PACKET_LINK_BROADCAST | PACKET_IP_BROADCAST | PACKET_IP_MULTICAST))
        return;  // RFC 9293 §3.9.2.3, MUST-57
    if (!tcp_parse(packet->head, packet->length, &segment)) {
        count(weir, WEIR_COUNT_TCP_BAD_LENGTH);
        return;
    }
    struct tcp_conn *c = tcp_conn_find(weir, packet->destination, segment.destination, packet->source, segment.source);
    bool copied = false;
    if (!(packet->flags & PACKET_CHECKSUM_OK) && !checksum_good(weir, c, packet, &segment, &copied)) {
        count(weir, WEIR_COUNT_TCP_BAD_CHECKSUM);
        return;
    }
    if (c && tcp_predict(weir, c, packet, &segment, copied))
        return;
    if (segment.options.seen & TCP_SEEN_BAD)
        count(weir, WEIR_COUNT_TCP_BAD_OPTION);
    if (segment.source == 0 || segment.destination == 0)
        return;
    if (c)
        steps(weir, c, packet, &segment, copied);
    else
        input_without_connection(weir, packet, &segment);
}
