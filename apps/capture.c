// SPDX-License-Identifier: BSD-2-Clause
#include "capture.h"

#include <string.h>

#include "bytes.h"

enum { ETHERTYPE_IP4 = 0x0800, ETHERTYPE_ARP = 0x0806, ETHERTYPE_VLAN = 0x8100, ETHERTYPE_IP6 = 0x86dd };
enum { PROTOCOL_ICMP = 1, PROTOCOL_TCP = 6, PROTOCOL_UDP = 17, PROTOCOL_ICMP6 = 58 };
enum { ETHERNET_BYTES = 14, IP4_BYTES = 20, IP6_BYTES = 40, TCP_BYTES = 20, UDP_BYTES = 8 };

// --- what a frame is -------------------------------------------------------------------------------------------------

// `at`: where the transport header begins; `end`: where the packet does by its own length.
static void look_transport(struct capture_view *view, const struct capture_frame *frame, uint8_t protocol, uint32_t at,
                           uint32_t end)
{
    const uint8_t *const header = frame->data + at;
    const uint32_t need = protocol == PROTOCOL_TCP ? TCP_BYTES : UDP_BYTES;
    view->protocol = protocol == PROTOCOL_TCP                                  ? "tcp"
                     : protocol == PROTOCOL_UDP                                ? "udp"
                     : protocol == PROTOCOL_ICMP || protocol == PROTOCOL_ICMP6 ? "icmp"
                                                                               : "other";
    if (at + need > frame->bytes)
        return;
    const uint32_t length = protocol == PROTOCOL_TCP ? (uint32_t)(header[12] >> 4) * 4 : need;
    view->transport = header;
    view->payload = at + length < end ? end - at - length : 0;
    view->ported = protocol == PROTOCOL_TCP || protocol == PROTOCOL_UDP;
    if (view->ported) {
        view->from.port = get16(header);
        view->to.port = get16(header + 2);
    }
}

static void look_ip4(struct capture_view *view, const struct capture_frame *frame, uint32_t at)
{
    const uint8_t *const header = frame->data + at;
    if (at + IP4_BYTES > frame->bytes || header[0] >> 4 != 4)
        return;
    view->from.addr = weir_addr_v4(get32(header + 12));
    view->to.addr = weir_addr_v4(get32(header + 16));
    if ((get16(header + 6) & 0x1fff) == 0)  // a first fragment, or all
        look_transport(view, frame, header[9], at + (header[0] & 15u) * 4u, at + get16(header + 2));
}

#if WEIR_CFG_IP6
// Extension headers are not walked: a packet that has some is "other".
static void look_ip6(struct capture_view *view, const struct capture_frame *frame, uint32_t at)
{
    const uint8_t *const header = frame->data + at;
    if (at + IP6_BYTES > frame->bytes || header[0] >> 4 != 6)
        return;
    view->from.addr = weir_addr_v6(header + 8);
    view->to.addr = weir_addr_v6(header + 24);
    look_transport(view, frame, header[6], at + IP6_BYTES, at + IP6_BYTES + get16(header + 4));
}
#else
static void look_ip6(struct capture_view *view, const struct capture_frame *frame, uint32_t at)
{
    (void)view, (void)frame, (void)at;
}
#endif

struct capture_view capture_look(const struct capture_frame *frame)
{
    struct capture_view view = {.protocol = "other"};
    uint32_t at = frame->raw_ip ? 0 : ETHERNET_BYTES;
    if (frame->bytes <= at)
        return view;
    uint32_t type =
        frame->raw_ip ? (frame->data[0] >> 4 == 6 ? ETHERTYPE_IP6 : ETHERTYPE_IP4) : get16(frame->data + 12);
    if (type == ETHERTYPE_VLAN && at + 4 <= frame->bytes) {
        type = get16(frame->data + at + 2);
        at += 4;
    }
    if (type == ETHERTYPE_IP4)
        look_ip4(&view, frame, at);
    else if (type == ETHERTYPE_IP6)
        look_ip6(&view, frame, at);
    else if (type == ETHERTYPE_ARP)
        view.protocol = "arp";
    return view;
}

static bool is_endpoint(const struct weir_endpoint *a, const struct weir_endpoint *b)
{
    return a->port == b->port && weir_addr_equal(a->addr, b->addr);
}

static bool is_wanted(const struct capture_filter *filter, const struct capture_frame *frame)
{
    const struct capture_view view = capture_look(frame);
    const struct weir_endpoint *const local = &filter->but_local, *const peer = &filter->but_peer;
    if (filter->protocol != NULL && strcmp(filter->protocol, view.protocol) != 0)
        return false;
    if (filter->port != 0 && view.from.port != filter->port && view.to.port != filter->port)
        return false;
    if (!weir_addr_is_any(filter->host) && !weir_addr_equal(filter->host, view.from.addr) &&
        !weir_addr_equal(filter->host, view.to.addr))
        return false;
    return local->port == 0 || !((is_endpoint(local, &view.from) && is_endpoint(peer, &view.to)) ||
                                 (is_endpoint(local, &view.to) && is_endpoint(peer, &view.from)));
}

// --- the ring --------------------------------------------------------------------------------------------------------

_Static_assert(CAPTURE_BYTES <= UINT8_MAX, "struct capture_frame counts them in a byte");

static void heard(struct weir_tap *tap, const struct weir_netif *netif, bool outgoing, const struct weir_slice *slices,
                  uint16_t count, uint64_t now_us)
{
    struct capture *const capture = tap->context;
    struct capture_frame frame = {.now_us = now_us,
                                  .outgoing = outgoing,
                                  .raw_ip = netif->link == &weir_link_rawip,
                                  .offload = (uint8_t)tap->offload};
    for (uint16_t i = 0; i < count; i++) {
        const uint32_t room = CAPTURE_BYTES - frame.bytes, part = slices[i].length < room ? slices[i].length : room;
        memcpy(frame.data + frame.bytes, slices[i].data, part);
        frame.bytes = (uint8_t)(frame.bytes + part);
        frame.length += slices[i].length;
    }
    if (!is_wanted(&capture->filter, &frame))
        return;
    if (capture->tail - capture->head == CAPTURE_FRAMES) {
        capture->lost++;
        return;
    }
    for (uint32_t i = 0; i + 1 < sizeof frame.netif && netif->name[i] != '\0'; i++)
        frame.netif[i] = netif->name[i];
    capture->frames[capture->tail++ % CAPTURE_FRAMES] = frame;
}

void capture_start(struct capture *capture, struct weir *weir, const struct capture_filter *filter)
{
    capture->tap = (struct weir_tap){.frame = heard, .context = capture};
    capture->weir = weir;
    capture->filter = *filter;
    capture->head = capture->tail = capture->lost = 0;
    weir_tap_add(weir, &capture->tap);
}

// What waits is forgotten, and nothing of it stays in memory.
void capture_stop(struct capture *capture)
{
    weir_tap_remove(capture->weir, &capture->tap);
    memset(capture->frames, 0, sizeof capture->frames);
    capture->head = capture->tail;
}

const struct capture_frame *capture_oldest(const struct capture *capture)
{
    return capture->head != capture->tail ? &capture->frames[capture->head % CAPTURE_FRAMES] : NULL;
}

void capture_drop(struct capture *capture) { capture->head++; }

// --- a line ----------------------------------------------------------------------------------------------------------

static void tell_tcp(const struct capture_view *view, struct text *out)
{
    static const char letters[] = "FSRPAUEC";
    const uint8_t *const header = view->transport;
    text_char(out, ' ');
    for (uint32_t i = 0; i < 8; i++)
        if (header[13] >> i & 1)
            text_char(out, letters[i]);
    text_put(out, " seq ");
    text_u64(out, get32(header + 4));
    text_put(out, " ack ");
    text_u64(out, get32(header + 8));
    text_put(out, " win ");
    text_u64(out, get16(header + 14));
}

static void tell_address(const struct capture_view *view, const struct weir_endpoint *endpoint, struct text *out)
{
    if (view->ported)
        text_endpoint(out, endpoint);
    else
        text_addr(out, endpoint->addr);
}

void capture_tell(const struct capture_frame *frame, struct text *out)
{
    const struct capture_view view = capture_look(frame);
    text_fixed(out, frame->now_us, 6);
    text_char(out, ' ');
    text_put(out, frame->netif);
    text_put(out, frame->outgoing ? " out " : " in ");
    if (!weir_addr_is_any(view.from.addr) || !weir_addr_is_any(view.to.addr)) {
        tell_address(&view, &view.from, out);
        text_put(out, " > ");
        tell_address(&view, &view.to, out);
        text_put(out, ": ");
    }
    text_put(out, view.protocol);
    if (view.transport != NULL && text_equal("tcp", 3, view.protocol))
        tell_tcp(&view, out);
    text_put(out, view.transport != NULL ? " data " : " frame ");
    text_u64(out, view.transport != NULL ? view.payload : frame->length);
    if (frame->offload & WEIR_TAP_SEGMENTS)
        text_put(out, frame->outgoing ? " tso" : " gro");
    text_char(out, '\n');
}
