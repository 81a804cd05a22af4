// SPDX-License-Identifier: BSD-2-Clause
#include "status/capture.h"

#include <string.h>

#define LOOK_US 20000u  // at frames that have passed: taps cannot call

static struct status_capture *offer_of(const struct http_connection *c)
{
    return ((struct status_server *)c->server->config.context)->offer;
}

// The next blocks: a frame's, or the last ones. false: there are none yet.
static bool blocks_next(struct status_capture *offer, uint64_t now_us)
{
    const struct capture_frame *const frame = capture_oldest(offer->capture);
    offer->at = offer->length = 0;
    if (frame != NULL && offer->frames < STATUS_CAPTURE_FRAMES) {
        offer->length = capture_file_frame(&offer->file, frame, offer->blocks);
        capture_drop(offer->capture);
        offer->frames++;
        return true;
    }
    offer->ended = now_us >= offer->end_us || offer->frames == STATUS_CAPTURE_FRAMES;
    if (offer->ended)
        offer->length = capture_file_end(&offer->file, offer->capture->lost, now_us, offer->blocks);
    return offer->ended;
}

static int capture_produce(struct http_connection *c, uint64_t at, uint8_t *out, uint32_t room)
{
    struct status_capture *const offer = offer_of(c);
    uint32_t made = 0;
    (void)at;
    while (made < room) {
        if (offer->at == offer->length && (offer->ended || !blocks_next(offer, weir_now_us(http_weir(c)))))
            break;
        const uint32_t left = offer->length - offer->at, part = left < room - made ? left : room - made;
        memcpy(out + made, offer->blocks + offer->at, part);
        offer->at += part;
        made += part;
    }
    return made > 0 || offer->ended ? (int)made : WEIR_AGAIN;
}

// The download's own frames are left out: each would make another.
static bool begin(struct http_connection *c, struct status_capture *offer, uint64_t seconds)
{
    struct weir *const weir = http_weir(c);
    struct capture_filter filter = {.protocol = NULL};
    if (weir_socket_local(weir, c->stream.socket, &filter.but_local) < 0 ||
        weir_socket_peer(weir, c->stream.socket, &filter.but_peer) < 0)
        return false;
    filter.but_local.addr = weir_addr_with_zone(filter.but_local.addr, 0);
    filter.but_peer.addr = weir_addr_with_zone(filter.but_peer.addr, 0);
    offer->owner = c;
    offer->end_us = weir_now_us(weir) + seconds * 1000000u;
    offer->frames = offer->at = 0;
    offer->ended = false;
    offer->length = capture_file_begin(&offer->file, offer->blocks);
    capture_start(offer->capture, weir, &filter);
    return true;
}

static void capture_get(struct http_connection *c, struct http_request *request)
{
    static const struct http_field fields[] = {{"Cache-Control", "no-store"},
                                               {"Content-Disposition", "attachment; filename=\"weir.pcapng\""}};
    struct status_capture *const offer = offer_of(c);
    char text[24];
    uint64_t seconds = STATUS_CAPTURE_S;
    const int length = http_query_get(request, "seconds", text, sizeof text);
    if (length >= 0 &&
        (length == 0 || seconds == 0 ||
         text_read_u64(text, (uint32_t)length, STATUS_CAPTURE_S_MAX, &seconds) != (uint32_t)length || seconds == 0))
        http_respond_error(c, 400, 0);
    else if (offer->owner != NULL || (!c->head_only && !begin(c, offer, seconds)))
        http_respond_error(c, 503, 0);  // somebody else downloads
    else
        http_respond(c, NULL,
                     &(struct http_response){.type = "application/x-pcapng",
                                             .length = HTTP_UNTIL_END,
                                             .produce = capture_produce,
                                             .fields = fields,
                                             .field_count = sizeof fields / sizeof *fields});
}

static void capture_end(struct status_capture *offer)
{
    if (offer->owner == NULL)
        return;
    offer->owner = NULL;
    capture_stop(offer->capture);
}

static void capture_done(struct status_capture *offer, const struct http_connection *c)
{
    if (offer->owner == c)
        capture_end(offer);
}

static uint64_t capture_poll(struct status_server *server, uint64_t now_us)
{
    const struct status_capture *const offer = server->offer;
    if (offer->owner == NULL)
        return WEIR_NEVER;
    http_resume(&server->connections[offer->owner - server->connections]);
    return now_us + LOOK_US;
}

void status_server_offer_capture(struct status_server *server, struct status_capture *offer, struct capture *capture)
{
    static const struct status_offer_calls calls = {capture_get, capture_done, capture_end, capture_poll};
    offer->capture = capture;
    offer->owner = NULL;
    server->offer = offer;
    server->offer_calls = &calls;
    server->status.capture_s = STATUS_CAPTURE_S;
}
