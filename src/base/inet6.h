// SPDX-License-Identifier: BSD-2-Clause
// IPv6 addresses as text (RFC 4291 §2.2, RFC 5952). Addresses are 16 bytes as they lie on the wire.
#ifndef BASE_INET6_H
#define BASE_INET6_H

#include <stdbool.h>
#include <stdint.h>

#define INET6_TEXT_BYTES 46u  // room for any address as text with its 0
// False, and `out` unchanged, when the `length` characters are not one address and nothing else: a zone, brackets, a
// prefix length, blanks are not taken, nor a :: that stands for nothing, nor numbers of IPv4 with a 0 before them.
bool inet6_parse(const char *text, uint32_t length, uint8_t out[16]);
// Writes the one text that RFC 5952 has for an address, with a 0 behind it, and returns its length. IPv4-mapped
// addresses end in dotted numbers (§5).
uint32_t inet6_format(const uint8_t address[16], char out[INET6_TEXT_BYTES]);

#endif
