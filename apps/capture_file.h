// SPDX-License-Identifier: BSD-2-Clause
// A capture (capture.h) as a pcapng file (draft-ietf-opsawg-pcapng), which Wireshark opens, made block by block into
// the caller's buffer, for whatever carries it. Needs neither files nor memory.
#ifndef APPS_CAPTURE_FILE_H
#define APPS_CAPTURE_FILE_H

#include "capture.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define CAPTURE_NETIFS 4u      // that one file names; frames of further ones are left out, and counted
#define CAPTURE_BLOCKS 288u    // bytes that one call writes at most
#define CAPTURE_FILE_HEAD 28u  // bytes of capture_file_begin

// Zeroed but for `epoch_us`.
struct capture_file {
    // When the instance's clock was 0, µs since 1970; 0: not known, and times in the file are those of that clock.
    uint64_t epoch_us;
    char netifs[CAPTURE_NETIFS][sizeof((struct capture_frame *)0)->netif];
    uint32_t netif_count;
    uint32_t left_out;
};

// Each returns how many bytes it wrote. First the file's header, then each frame, then what was lost.
uint32_t capture_file_begin(struct capture_file *file, uint8_t out[CAPTURE_BLOCKS]);
uint32_t capture_file_frame(struct capture_file *file, const struct capture_frame *frame, uint8_t out[CAPTURE_BLOCKS]);
// `lost`: frames that found no room; `now_us`: the instance's time.
uint32_t capture_file_end(const struct capture_file *file, uint32_t lost, uint64_t now_us, uint8_t out[CAPTURE_BLOCKS]);

WEIR_END_DECLS

#endif
