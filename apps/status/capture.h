// SPDX-License-Identifier: BSD-2-Clause
// A capture of the frames that pass, to be downloaded from the status server (/capture.pcapng): headers alone, for some
// seconds, one download at a time. Nothing offers it by itself: whoever reaches the page then sees what others say to
// this host. Wants WEIR_CFG_HANDLERS.
#ifndef APPS_STATUS_CAPTURE_H
#define APPS_STATUS_CAPTURE_H

#include "../capture_file.h"
#include "server.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define STATUS_CAPTURE_S 10u         // unless ?seconds= says another number
#define STATUS_CAPTURE_S_MAX 20u     // less than HTTP_STALL_US, which an idle network must not reach
#define STATUS_CAPTURE_FRAMES 4096u  // then it ends, too

struct status_capture {
    struct capture_file file;  // its epoch_us may be set
    struct capture *capture;
    const struct http_connection *owner;  // who downloads; NULL: nobody
    uint64_t end_us;
    uint32_t frames;
    uint32_t at, length;  // of the blocks that are on their way
    bool ended;
    uint8_t blocks[CAPTURE_BLOCKS];
};

// Offers it on a server that was started, whose page then has a button for it. Both structs are kept, not copied.
#if WEIR_CFG_HANDLERS
void status_server_offer_capture(struct status_server *server, struct status_capture *offer, struct capture *capture);
#else
void status_server_offer_capture(struct status_server *server, struct status_capture *offer, struct capture *capture)
    WEIR_NOT_BUILT("a capture needs WEIR_CFG_HANDLERS");
#endif

WEIR_END_DECLS

#endif
