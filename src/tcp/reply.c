// SPDX-License-Identifier: BSD-2-Clause
// Segments that belong to no connection: SYN-ACKs of half-open ones, ACKs of TIME-WAIT, resets. They wait in the
// outbox. (Of a segment ends and header length are not its own.)
#include "ip/icmp.h"
#include "tcp/internal.h"
#include "tcp/label.h"
#include "tcp/output.h"

// reply_to NULL: nothing is answered that just came.
static uint8_t *push(struct weir *weir, const struct path *path, const struct packet *reply_to,
                     const struct weir_endpoint *local, const struct weir_endpoint *remote, struct ip_params params,
                     uint32_t length)
{
    struct ip_out ip = {.source = local->addr,
                        .destination = remote->addr,
                        .protocol = IP_TCP,
                        .ttl = params.ttl,
                        .tos = params.tos,
                        .dont_fragment = true};
    tcp_params_put(&ip, params);
    if (reply_to)
        ip_answers(&ip, path, reply_to);
    uint8_t *const bytes = ip_outbox_push(weir, path, &ip, length);
    if (bytes)
        count(weir, WEIR_COUNT_TCP_SENT);
    return bytes;
}

bool tcp_reply_on(struct weir *weir, const struct path *path, const struct packet *reply_to,
                  const struct weir_endpoint *local, const struct weir_endpoint *remote, struct ip_params params,
                  const struct tcp_segment *segment)
{
    uint8_t option_bytes[TCP_OPTIONS_MAX];
    const uint32_t option_length = tcp_options_emit(option_bytes, &segment->options);
    const uint32_t length = TCP_BYTES + option_length;
    tcp_label_complete(weir, &params, local, remote);
    uint8_t *const bytes = push(weir, path, reply_to, local, remote, params, length);
    if (!bytes)
        return false;
    tcp_emit(bytes, segment);
    put16(bytes, local->port);
    put16(bytes + 2, remote->port);
    bytes[12] |= (uint8_t)(length << 2);
    memcpy(bytes + TCP_BYTES, option_bytes, option_length);
    const uint64_t own = WEIR_CFG_FAST_PATH ? checksum_header(bytes, length) : checksum_sum(weir->port, bytes, length);
    checksum_put(bytes + 16, checksum_fold_words(own + ip_pseudo_sum(local->addr, remote->addr, IP_TCP, length)));
    return true;
}

bool tcp_reply(struct weir *weir, const struct packet *reply_to, const struct weir_endpoint *local,
               const struct weir_endpoint *remote, struct ip_params params, const struct tcp_segment *segment)
{
    struct path path;
    memset(&path, 0, sizeof path);
    if (reply_to && ip_path_reply(weir, &path, reply_to))
        return false;
    return tcp_reply_on(weir, &path, reply_to, local, remote, params, segment);
}

bool tcp_reply_ack(struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment, uint8_t tos)
{
    return tcp_reply_on(weir, &c->path, NULL, &c->local.endpoint, &c->remote.endpoint, tcp_params(c, tos), segment);
}

// A segment without data in a connection's name, beside its own output: its last words. A reset is believed at the
// number that the peer expects alone (RFC 5961 §3.2), and a probe of its closed window may be beyond that.
bool tcp_reply_from(struct weir *weir, const struct tcp_conn *c, uint8_t flags)
{
    struct tcp_segment segment = {.flags = flags,
                                  .seq = flags & TCP_RST ? tcp_ack_seq(c) : c->snd.nxt,
                                  .ack = c->rcv.nxt,
                                  .window = (uint16_t)min_u32((c->rcv.edge - c->rcv.nxt) >> c->rcv_scale, 65535)};
    if (c->flags & TCP_USE_TIMESTAMPS) {
        segment.options.seen = TCP_SEEN_TIMESTAMPS;
        tcp_timestamps_fill(weir, c, &segment.options);
    }
    return tcp_reply_ack(weir, c, &segment, tcp_ecn_tos_bare(c));
}

void tcp_reply_reset(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment)
{
    if (segment->flags & TCP_RST || !icmp_limit_take(weir, packet->source))
        return;
    const struct weir_endpoint local = {packet->destination, segment->destination};
    const struct weir_endpoint remote = {packet->source, segment->source};
    struct tcp_segment reset = {.flags = TCP_RST, .seq = segment->ack};
    if (!(segment->flags & TCP_ACK)) {
        reset.flags = TCP_RST | TCP_ACK;
        reset.seq = 0;
        reset.ack = segment->seq + segment->length + !!(segment->flags & TCP_SYN) + !!(segment->flags & TCP_FIN);
    }
    if (tcp_reply(weir, packet, &local, &remote, IP_PARAMS_DEFAULT, &reset))
        count(weir, WEIR_COUNT_TCP_RST_SENT);
}

void tcp_reply_reset_for(struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment)
{
    const struct tcp_segment reset = {.flags = TCP_RST, .seq = segment->ack};
    if (!(segment->flags & TCP_RST) && icmp_limit_take(weir, c->remote.addr) &&
        tcp_reply(weir, NULL, &c->local.endpoint, &c->remote.endpoint, IP_PARAMS_DEFAULT, &reset))
        count(weir, WEIR_COUNT_TCP_RST_SENT);
}
