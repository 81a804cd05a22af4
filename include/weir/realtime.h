// SPDX-License-Identifier: BSD-2-Clause
// Real-time streams: what a stream brings is a row of frames of equal length, each worth something until its deadline
// only. The receiver of an ordinary TCP connection passes over a frame that does not come in time and goes on with the
// next; the sender may be any TCP. What that does to the bytes, when it helps and when it must not be used:
// docs/realtime.md. Needs WEIR_CFG_REALTIME.
//
//     struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR, .frame_bytes = 2048, .period_us = 250000};
//     weir_realtime_set(weir, socket, &settings);   // before connect, so that the MSS fits the frame
//     ...                                           // connected
//     int got = weir_realtime_read(weir, socket, frame, sizeof frame, &about);
//     got > 0: a frame. WEIR_SKIPPED: it did not come by its deadline. WEIR_AGAIN: neither yet; READABLE tells. 0: the
//     end.
#ifndef WEIR_REALTIME_H
#define WEIR_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/error.h"
#include "weir/language.h"
#include "weir/options.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

enum weir_realtime_mode {
    WEIR_REALTIME_OFF,      // an ordinary stream
    WEIR_REALTIME_REGULAR,  // every frame is waited for; what a read frees is told with the next ACK that leaves anyway
    WEIR_REALTIME_REGULAR_UPDATE,  // REGULAR, and at once when it opens a closed window (gracious window update)
    WEIR_REALTIME_SKIP,  // the Embedded Xinu work (Gember, 2009): a frame that is not there when read is acknowledged
                         // all the same; the number is taken back when the sender says that it was not sent yet
    WEIR_REALTIME_SKIP_UPDATE,  // SKIP with gracious window update
    WEIR_REALTIME_WEIR,  // only what later data proves was sent is passed over, and not before the sender could notice
                         // its loss; window updates by need; whole frames beyond a hole are handed out. With a sender
                         // without SACK and a window that hardly carries the stream: as SKIP_UPDATE, by deadlines
};

struct weir_realtime {  // zero: the defaults
    enum weir_realtime_mode mode;
    uint32_t frame_bytes;  // 1 to 2^24, and no more than the receive buffer, which should hold two
    uint32_t period_us;    // from one deadline to the next; 0: only those of weir_realtime_deadline
    uint64_t first_us;  // deadline of the first frame, by the clock of weir_poll; 0: it has none, and the next follow
                        // its being read
    uint32_t keep_us;   // WEIR: a hole is kept for so long after it was seen; 0: a round trip. More is kinder to the
                        // network, and keeps the mode from ever doing as SKIP_UPDATE does
    uint16_t
        segment_bytes;  // payload of a segment to ask the peer for (its MSS); 0: weir_realtime_segment(frame_bytes,
                        // 512), of a live source with longer frames 1024, and `timestamps`
    bool timestamps;  // the SYN offers them, and the MSS has room for them. After a timeout nothing else lets a sender
                      // measure a round trip again, and behind a full queue it then hardly sends
    bool partial;     // a frame that is not whole at its deadline is handed out as it is (weir_realtime_frame.missing)
    bool stored;      // WEIR: the source is a file, not alive. A frame of which nothing is lost, as far as came, is
                      // not given up at its deadline but put off, and all deadlines with it, by a period: nothing shows
                      // that it was sent. Of a live source only where each deadline of a second, four at the least, was
                      // missed: the sender is behind, and by the old clock all it sends would come too late
};

// In the modes SKIP and SKIP_UPDATE each weir_realtime_read is a deadline itself, as in the work, and never says
// WEIR_AGAIN. In the others a frame is met when it is whole at its deadline, and the reader has come to it by then; it
// may be read before. On an unconnected socket, or a listener, this also sets WEIR_OPTION_MAX_SEGMENT; a SYN then
// offers timestamps only if `timestamps` says so, as they make segments shorter than the MSS. A connection that was
// accepted wants a call of its own: its listener's mode is not inherited. On a connection the first frame begins with
// the first byte not read yet. Mode OFF: an ordinary stream again, which begins with the next frame not read.
// WEIR_INVALID, WEIR_NO_MEMORY (static builds: WEIR_CFG_REALTIME streams at once), WEIR_NOT_SUPPORTED.
int weir_realtime_set(struct weir *weir, weir_socket socket, const struct weir_realtime *settings);
// as set, with the defaults filled in
int weir_realtime_get(struct weir *weir, weir_socket socket, struct weir_realtime *settings);

#define WEIR_REALTIME_PIECES 4
struct weir_realtime_frame {
    uint32_t number;       // of the frame, from 0; skipped ones count
    uint32_t bytes;        // its length: frame_bytes, less for the last one before the end of the stream
    uint64_t deadline_us;  // 0: it has none yet
    bool late;             // it was not whole at its deadline
    bool out_of_order;     // something before it is still missing
    bool put_off;          // with WEIR_SKIPPED: the same frame is next, and all deadlines are later by a period
    uint32_t missing;      // bytes that did not come (WEIR_SKIPPED; `partial`), which are zero in the copy
    uint8_t pieces;  // how many of `piece` are filled in: the missing parts (there may be more of them, when all are)
    struct {
        uint32_t offset, bytes;
    } piece[WEIR_REALTIME_PIECES];
};

// Copies the next frame to `data`, which has room for `bytes` (at least frame_bytes: otherwise WEIR_INVALID). `frame`
// may be NULL. Never waits. Returns
//  > 0           its length: the frame is whole, or `partial` was asked for and its deadline has passed. The next frame
//                is next
//  WEIR_SKIPPED  its deadline has passed and it is not whole. The next frame is next, unless it was put off. (REGULAR:
//                never, it is waited for)
//  WEIR_AGAIN    it is not whole, and there is time until frame->deadline_us
//  0             the end of the stream, or the connection's error
// The socket becomes READABLE (weir_ready_next, weir_socket_ready) when the next frame is whole, at its deadline, and
// at the end: a reader that sleeps until then never sleeps longer. While a mode is set only this call may read:
// weir_socket_read and consume would take bytes out of frames, which then count as skipped.
int weir_realtime_read(struct weir *weir, weir_socket socket, void *data, uint32_t bytes,
                       struct weir_realtime_frame *frame);
// The deadline of the next frame to be read. Later ones follow from it by period_us (0: have none until told).
int weir_realtime_deadline(struct weir *weir, weir_socket socket, uint64_t deadline_us);
// What weir_realtime_read would say now, without taking the frame: WEIR_SKIPPED only tells that it would be passed
// over.
int weir_realtime_next(struct weir *weir, weir_socket socket, struct weir_realtime_frame *frame);

// Why an ACK left that carries no news of data.
enum weir_realtime_update {
    WEIR_REALTIME_EVERY_READ,  // the modes _UPDATE: a read opened the closed window
    WEIR_REALTIME_NEED,        // without it the next frame that has no window yet would come too late
    WEIR_REALTIME_REPEAT,      // the one before brought nothing: it, or what it asked for, was lost
    WEIR_REALTIME_SKIP_TOLD,   // something was passed over
    WEIR_REALTIME_DATA_LATE,   // of data that is late: lets the sender find its loss
    WEIR_REALTIME_ACK_AGAIN,   // an acknowledgement once more, where many are lost
    WEIR_REALTIME_UPDATES
};

struct weir_realtime_stats {  // of the connection, since the mode was set
    uint32_t met;             // frames whole at their deadlines
    uint32_t late;            // frames handed out that were whole only afterwards
    uint32_t skipped;         // deadlines at which there was none: passed over, handed out in part, or put off
    uint32_t partial;         // of these, handed out in part
    uint32_t out_of_order;    // of `met`: handed out before something in front of them
    uint32_t backtracked;     // of these, taken back because it was not sent yet (modes of the work), or put off
    uint32_t filled;          // holes that were passed over by the reader and filled after all
    uint32_t bytes_skipped;   // acknowledged without having come
    uint32_t updates[WEIR_REALTIME_UPDATES];  // enum weir_realtime_update
    uint32_t acks;                            // all ACKs without data sent
    uint32_t round_trip_us;                   // as the receiver sees it, the smallest of late; 0: not known yet
    uint32_t loss_ppm;                        // of segments and updates, a moving estimate
};
int weir_realtime_stats(struct weir *weir, weir_socket socket, struct weir_realtime_stats *stats);

// The largest segment of at most `most` bytes (at least 64) that divides the frame, or of which the frame is a divisor;
// where only a needlessly small one does, the one that cuts it into equal parts as far as possible.
uint16_t weir_realtime_segment(uint32_t frame_bytes, uint32_t most);

WEIR_END_DECLS

#endif
