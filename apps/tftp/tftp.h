// SPDX-License-Identifier: BSD-2-Clause
// A TFTP client (RFC 1350, 2347, 2348, 2349, 7440): gets or puts one file, in blocks of a size and windows of a number
// that it asks for, and a server may refuse. Memory is the caller's: what arrives is handed on where it lies, what is
// sent is asked for by its offset, again when it was lost.
//
//     tftp_start(&tftp, &loop, &(struct tftp_config){.server = {address, TFTP_PORT}, .file = "image",
//                                                    .data = write_on, .done = done});
//
// TFTP has no security: who is on the way reads and changes what is transferred. Check what came before it is used.
// Lock held throughout. Callbacks may call anything here; before another start with the same struct, tftp_stop: also
// when `done` was called, after which it lingers.
#ifndef APPS_TFTP_H
#define APPS_TFTP_H

#include "../loop.h"
#include "packet.h"
#include "weir/linkage/tftp.h"

WEIR_BEGIN_DECLS

#define TFTP_PORT 69u
#define TFTP_TRIES 6u             // of one packet, or window
#define TFTP_TIMEOUT_US 1000000u  // first wait; doubled each try (RFC 1123 §4.2.3.2)
#define TFTP_LINGER_US 5000000u   // the last acknowledgement of a file is sent again for so long
#define TFTP_STRANGERS 8u         // packets from other ports that get an answer in one transfer
#define TFTP_WINDOW_MAX 32767u    // half of the block numbers: what came before and what is missing differ

struct tftp;
struct tftp_config {
    struct weir_endpoint server;  // port 0: TFTP_PORT
    const char *file;             // its name at the server; must stay
    bool put;                     // to the server
    uint16_t block_bytes;         // asked for; 0: TFTP_BLOCK_DEFAULT, and nothing is asked
    uint16_t window;              // blocks between acknowledgements, asked for; 0: one
    uint64_t size;                // put: told to the server; get: the greatest that is taken. 0: none
    // Get: the next piece of the file, valid until this returns or stops the client. WEIR_OK, or an enum weir_error,
    // which ends the transfer.
    int (*data)(struct tftp *tftp, const uint8_t *bytes, uint32_t length, void *context);
    // Put: copies what stands at `offset` into `out`; less than `room` only at the end. Bytes, or an enum weir_error.
    int (*read)(struct tftp *tftp, uint64_t offset, uint8_t *out, uint32_t room, void *context);
    uint8_t *block;  // put: TFTP_HEADER_BYTES and a block of what is asked for, or of TFTP_BLOCK_DEFAULT: the greater
    // The end: WEIR_OK; WEIR_TIMED_OUT; WEIR_REFUSED: the server's error, in `code` and `text`; WEIR_TOO_BIG: greater
    // than `size`; what `data` or `read` returned; WEIR_NOT_SUPPORTED: the server broke the rules of options. Once.
    void (*done)(struct tftp *tftp, int error, void *context);
    void *context;
};

enum tftp_state {
    TFTP_STOPPED,
    TFTP_ASKING,   // the request is out
    TFTP_GETTING,  // data comes
    TFTP_PUTTING,  // a window of data is out
    TFTP_LINGERING,
};

struct tftp {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct tftp_config config;
    uint8_t state;
    bool plain;                   // the server refuses options: asked without
    bool gap_told;                // get: what is missing was asked for, and nothing came in order since
    weir_socket socket;           // 0: none
    struct weir_endpoint server;  // its port for this transfer; 0: not yet known
    uint16_t block_bytes, window;
    uint64_t block;    // get: the last in order; put: the last acknowledged
    uint64_t end;      // the block that ends the file; UINT64_MAX: not yet known
    uint32_t unacked;  // get: in order since our last acknowledgement; put: sent, in the window
    uint64_t bytes;    // get: taken
    uint64_t due_us;
    uint32_t tries, strangers;
    uint16_t code;  // of the server's error
    char text[TFTP_ERROR_TEXT_MAX];
    struct {
        uint32_t malformed, foreign, duplicates, gaps, timeouts;
    } count;
};

// WEIR_INVALID: no name or one too long, a block size or window out of range, a callback or `block` that is missing,
// not the address of one host; WEIR_NO_MEMORY: no socket.
int tftp_start(struct tftp *tftp, struct loop *loop, const struct tftp_config *config);
// Ends it without a word to the server; `done` is not called.
void tftp_stop(struct tftp *tftp);

WEIR_END_DECLS

#endif
