// SPDX-License-Identifier: BSD-2-Clause
// TFTP's packets (RFC 1350) and options (RFC 2347, 2348, 2349, 7440), pure: bytes in, values out. What is read points
// into the packet.
#ifndef APPS_TFTP_PACKET_H
#define APPS_TFTP_PACKET_H

#include "weir/linkage/tftp.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

#define TFTP_BLOCK_DEFAULT 512u  // without an option
#define TFTP_BLOCK_MIN 8u        // RFC 2348
#define TFTP_BLOCK_MAX 65464u
#define TFTP_NAME_MAX 128u      // bytes of a file's name
#define TFTP_REQUEST_MAX 256u   // bytes of a request, its options with it
#define TFTP_HEADER_BYTES 4u    // of data, acknowledgements and errors
#define TFTP_ERROR_TEXT_MAX 80  // of an error's text, with the NUL; the rest is cut off

enum tftp_opcode { TFTP_RRQ = 1, TFTP_WRQ, TFTP_DATA, TFTP_ACK, TFTP_ERROR, TFTP_OACK };
enum tftp_code {  // of an error
    TFTP_CODE_OTHER,
    TFTP_CODE_NOT_FOUND,
    TFTP_CODE_ACCESS,
    TFTP_CODE_FULL,
    TFTP_CODE_ILLEGAL,
    TFTP_CODE_UNKNOWN_PORT,
    TFTP_CODE_EXISTS,
    TFTP_CODE_NO_USER,
    TFTP_CODE_OPTION,
};

struct tftp_options {
    uint16_t block_bytes, window;  // 0: not there
    bool has_size;
    uint64_t size;
};

struct tftp_packet {
    uint8_t opcode;
    uint16_t number;      // block, or an error's code
    const uint8_t *data;  // TFTP_DATA, TFTP_ERROR: what stands behind
    uint32_t length;
    struct tftp_options options;  // TFTP_OACK
};

// false: not a packet that a server sends. An OACK with an option that no client of ours asks for, twice the same, or a
// value out of its range is none.
bool tftp_parse(const uint8_t *bytes, uint32_t length, struct tftp_packet *packet);
// A request in mode octet; returns its bytes. 0: the name is empty or longer than TFTP_NAME_MAX.
uint32_t tftp_emit_request(uint8_t out[TFTP_REQUEST_MAX], uint8_t opcode, const char *file,
                           const struct tftp_options *options);
// The text of an error, printable ASCII, the rest of it as question marks.
void tftp_error_text(const struct tftp_packet *packet, char out[TFTP_ERROR_TEXT_MAX]);

WEIR_END_DECLS

#endif
