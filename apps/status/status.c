// SPDX-License-Identifier: BSD-2-Clause
#include "status/status.h"

#include "counters.h"
#include "weir/netif.h"
#include "weir/tables.h"
#include "weir/version.h"

#define SOCKET_BYTES 480u      // the longest row
#define COUNTERS_BYTES 12288u  // kept free for what follows the sockets
#define TABLE_ROWS 16u         // of routes, and of neighbours; the rest is in the shell

void status_init(struct status *status, struct weir *weir, struct weir_netif *const *netifs, uint32_t count)
{
    *status = (struct status){.weir = weir, .began_us = weir_now_us(weir)};
    for (uint32_t i = 0; i < count && i < STATUS_NETIFS; i++)
        status->netifs[status->netif_count++] = netifs[i];
    status->next_us = status->began_us + STATUS_SAMPLE_US;
}

// A counter that is less than it was has wrapped. One that grew by half its range since the last second did not: it
// began anew, and so does what is told of it.
static void widen(uint64_t *wide, uint32_t count)
{
    const uint32_t grown = count - (uint32_t)*wide;
    *wide = grown <= INT32_MAX ? *wide + grown : count;
}

void status_count(struct status *status)
{
    for (uint32_t i = 0; i < WEIR_COUNT_COUNT; i++)
        widen(&status->counted[i], weir_counter_get(status->weir, (enum weir_counter)i));
    for (uint32_t i = 0; i < status->netif_count; i++) {
        const struct weir_netif_stats *const stats = &status->netifs[i]->stats;
        const uint32_t counts[STATUS_NETIF_COUNTS] = {
            [STATUS_RX_FRAMES] = stats->rx_frames,   [STATUS_TX_FRAMES] = stats->tx_frames,
            [STATUS_RX_DROPPED] = stats->rx_dropped, [STATUS_TX_DROPPED] = stats->tx_dropped,
            [STATUS_RX_RUNT] = stats->rx_runt,       [STATUS_RX_UNKNOWN] = stats->rx_unknown,
            [STATUS_TX_FULL] = stats->tx_full};
        for (uint32_t j = 0; j < STATUS_NETIF_COUNTS; j++)
            widen(&status->netif_counted[i][j], counts[j]);
    }
}

static uint32_t clamp_u32(uint64_t value) { return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value; }

uint64_t status_poll(struct status *status, uint64_t now_us)
{
    uint64_t rx_bytes = 0, tx_bytes = 0;
    if (now_us < status->next_us)
        return status->next_us;
    status_count(status);
    for (uint32_t i = 0; i < status->netif_count; i++) {
        rx_bytes += status->netifs[i]->stats.rx_bytes;
        tx_bytes += status->netifs[i]->stats.tx_bytes;
    }
    // A poller that slept through several samples puts their mean into one: a gap would look like silence.
    uint64_t span_us = now_us - status->next_us + STATUS_SAMPLE_US;
    status->newest = (status->newest + 1) % STATUS_SAMPLES;
    status->rx[status->newest] = clamp_u32((rx_bytes - status->rx_bytes) * STATUS_SAMPLE_US / span_us);
    status->tx[status->newest] = clamp_u32((tx_bytes - status->tx_bytes) * STATUS_SAMPLE_US / span_us);
    status->samples += status->samples < STATUS_SAMPLES;
    status->rx_bytes = rx_bytes;
    status->tx_bytes = tx_bytes;
    status->next_us = now_us + STATUS_SAMPLE_US;
    return status->next_us;
}

// ,"key":value
static void number(struct text *out, const char *key, uint64_t value)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, "\":");
    text_u64(out, value);
}

static void flag(struct text *out, const char *key, bool value)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, value ? "\":true" : "\":false");
}

static const char *address_state(uint8_t state)
{
    static const char *const names[] = {"none", "probing", "announcing", "ready", "conflict"};
    return state < sizeof names / sizeof names[0] ? names[state] : "?";
}

static void render_netif(const struct weir_netif *netif, const uint64_t *counted, struct text *out)
{
    static const char *const names[STATUS_NETIF_COUNTS] = {"rx_frames", "tx_frames",  "rx_dropped", "tx_dropped",
                                                           "rx_runt",   "rx_unknown", "tx_full"};
    const struct weir_netif_stats *stats = &netif->stats;
    text_put(out, "{\"name\":");
    text_json(out, netif->name);
    text_put(out, ",\"driver\":");
    text_json(out, netif->driver->name);
    text_put(out, ",\"address\":\"");
    text_addr(out, netif->address.addr);
    text_char(out, '/');
    text_u64(out, netif->address.prefix_length);
    text_put(out, "\",\"address_state\":\"");
    text_put(out, address_state(netif->address.state));
    text_put(out, "\",\"mac\":\"");
    text_mac(out, netif->mac);
    text_char(out, '"');
    flag(out, "up", netif->flags & WEIR_NETIF_UP);
    flag(out, "link", netif->flags & WEIR_NETIF_LINK);
    flag(out, "tx_checksum", netif->capabilities & WEIR_NETIF_TX_CHECKSUM);
    flag(out, "tso", netif->capabilities & WEIR_NETIF_TSO4);
    number(out, "conflicts", netif->conflict_total);
    if (netif->conflict_total != 0) {
        text_put(out, ",\"conflict_mac\":\"");
        text_mac(out, netif->conflict_mac);
        text_char(out, '"');
    }
    number(out, "mtu", netif->mtu);
    number(out, "rx_bytes", stats->rx_bytes);
    number(out, "tx_bytes", stats->tx_bytes);
    for (uint32_t i = 0; i < STATUS_NETIF_COUNTS; i++)
        number(out, names[i], counted[i]);
    text_char(out, '}');
}

static void render_tcp_info(const struct weir_tcp_info *info, struct text *out)
{
    number(out, "cwnd", info->cwnd);
    if (info->ssthresh != UINT32_MAX)
        number(out, "ssthresh", info->ssthresh);
    number(out, "inflight", info->inflight);
    number(out, "mss", info->snd_mss);
    number(out, "rtt_us", info->srtt_us);
    number(out, "rto_us", info->rto_us);
    number(out, "retransmits", info->total_retrans);
    number(out, "recovery", info->recovery);
    number(out, "ecn", info->accecn ? 2 : info->ecn);  // 1: RFC 3168, 2: RFC 9768
    number(out, "received_ce", info->received_ce);
    number(out, "delivered_ce", info->delivered_ce);
    number(out, "sent", info->bytes_sent);
    number(out, "received", info->bytes_received);
    number(out, "snd_wnd", info->snd_wnd);
    number(out, "rcv_wnd", info->rcv_wnd);
}

static void render_socket(struct weir *weir, const struct weir_socket_info *socket, struct text *out)
{
    static const char *const types[] = {"tcp", "udp", "raw", "icmp"};
    struct weir_tcp_info info;
    text_put(out, "{\"type\":\"");
    text_put(out, (unsigned)socket->type < 4 ? types[socket->type] : "?");
    text_put(out, "\",\"state\":\"");
    if (socket->type == WEIR_STREAM)
        text_put(out, weir_tcp_state_name(socket->tcp_state));
    text_put(out, "\",\"local\":\"");
    text_endpoint(out, &socket->local);
    text_put(out, "\",\"peer\":\"");
    if (socket->peer.port != 0)
        text_endpoint(out, &socket->peer);
    text_char(out, '"');
    number(out, "send_queue", socket->send_queue);
    number(out, "receive_queue", socket->receive_queue);
    bool connection = socket->type == WEIR_STREAM && socket->socket > 0 && socket->tcp_state != WEIR_TCP_LISTEN &&
                      socket->tcp_state != WEIR_TCP_CLOSED;
    if (connection && weir_socket_tcp_info(weir, socket->socket, &info) == WEIR_OK) {
        render_tcp_info(&info, out);
        const char *congestion = weir_socket_congestion(weir, socket->socket);
        text_put(out, ",\"congestion\":");
        text_json(out, congestion != NULL ? congestion : "");
    }
    text_char(out, '}');
}

static void render_sockets(struct status *status, uint64_t from, struct text *out)
{
    struct weir_socket_info socket;
    const uint32_t total = weir_socket_count(status->weir);
    uint32_t shown = 0;
    uint64_t cursor = from, next = 0;
    text_put(out, ",\"sockets\":[");
    while (shown < STATUS_SOCKETS && out->length + SOCKET_BYTES + COUNTERS_BYTES <= out->room &&
           (next = weir_socket_next(status->weir, cursor, &socket)) != 0) {
        cursor = next;
        if (shown++ > 0)
            text_char(out, ',');
        render_socket(status->weir, &socket, out);
    }
    text_char(out, ']');
    number(out, "sockets_total", total);
    flag(out, "sockets_more", shown < total);
    if (next != 0 && weir_socket_next(status->weir, cursor, &socket) != 0) {
        text_put(out, ",\"sockets_next\":\"");
        text_u64(out, cursor);
        text_char(out, '"');
    }
}

static void text_field(struct text *out, const char *key, const char *value)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, "\":");
    text_json(out, value);
}

static void render_routes(const struct weir *weir, struct text *out)
{
    struct weir_route_info route;
    uint32_t at = 0;
    text_put(out, ",\"routes\":[");
    for (; at < TABLE_ROWS && weir_route_at(weir, at, &route); at++) {
        text_put(out, at > 0 ? ",{\"to\":\"" : "{\"to\":\"");
        text_addr(out, route.prefix);
        text_char(out, '/');
        text_u64(out, route.prefix_length);
        text_put(out, "\",\"via\":\"");
        if (!weir_addr_is_any(route.gateway))
            text_addr(out, route.gateway);
        text_char(out, '"');
        text_field(out, "dev", route.netif->name);
        number(out, "metric", route.metric);
        text_char(out, '}');
    }
    text_char(out, ']');
    flag(out, "routes_more", weir_route_at(weir, at, &route));
}

static void render_neighbours(const struct weir *weir, struct text *out)
{
    struct weir_neighbour_info neighbour;
    uint32_t cursor = 0, shown = 0;
    text_put(out, ",\"neighbours\":[");
    for (; shown < TABLE_ROWS && (cursor = weir_neighbour_next(weir, cursor, &neighbour)) != 0; shown++) {
        text_put(out, shown > 0 ? ",{\"address\":\"" : "{\"address\":\"");
        text_addr(out, neighbour.address);
        text_put(out, "\",\"mac\":\"");
        if (neighbour.known)
            text_mac(out, neighbour.mac);
        text_char(out, '"');
        text_field(out, "dev", neighbour.netif->name);
        text_field(out, "state", neighbour.state);
        text_char(out, '}');
    }
    text_char(out, ']');
    flag(out, "neighbours_more", cursor != 0 && weir_neighbour_next(weir, cursor, &neighbour) != 0);
}

static void render_counters(const struct status *status, struct text *out)
{
    bool first = true;
    text_put(out, ",\"counters\":[");
    for (uint32_t i = 0; i < WEIR_COUNT_COUNT; i++) {
        if (status->counted[i] == 0)
            continue;
        text_put(out, first ? "{\"name\":\"" : ",{\"name\":\"");
        text_put(out, counter_rows[i].name);
        text_put(out, "\",\"text\":");
        text_json(out, counter_rows[i].text);
        number(out, "value", status->counted[i]);
        text_char(out, '}');
        first = false;
    }
    text_char(out, ']');
}

static void render_history(const struct status *status, const char *key, const uint32_t *samples, struct text *out)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, "\":[");
    for (uint32_t i = 0; i < status->samples; i++) {
        uint32_t at = (status->newest + STATUS_SAMPLES + 1 - status->samples + i) % STATUS_SAMPLES;
        if (i > 0)
            text_char(out, ',');
        text_u64(out, samples[at]);
    }
    text_char(out, ']');
}

void status_render(struct status *status, uint64_t from, struct text *out)
{
    uint64_t now_us = weir_now_us(status->weir);
    status_count(status);
    text_put(out, "{\"stack\":\"Weir\"");
    text_field(out, "version", weir_version());
    number(out, "uptime_ms", (now_us - status->began_us) / 1000);
    number(out, "memory", weir_memory_used(status->weir));
    number(out, "memory_limit", weir_memory_limit(status->weir));
    number(out, "capture_s", status->capture_s);
    text_put(out, ",\"netifs\":[");
    for (uint32_t i = 0; i < status->netif_count; i++) {
        if (i > 0)
            text_char(out, ',');
        render_netif(status->netifs[i], status->netif_counted[i], out);
    }
    text_char(out, ']');
    render_history(status, "rx", status->rx, out);
    render_history(status, "tx", status->tx, out);
    render_routes(status->weir, out);
    render_neighbours(status->weir, out);
    render_sockets(status, from, out);
    render_counters(status, out);
    text_put(out, "}\n");
}
