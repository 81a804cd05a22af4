// SPDX-License-Identifier: BSD-2-Clause
// The two stations of the link: the server's and the peer's (peer.h).
#ifndef TESTS_COMPACT_STATIONS_H
#define TESTS_COMPACT_STATIONS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/checksum.h"
#include "compact/serving.h"
#include "wire/ethernet.h"

static const uint8_t server_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2};

#endif
