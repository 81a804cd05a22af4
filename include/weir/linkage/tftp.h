// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-tftp.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_TFTP_H
#define WEIR_LINKAGE_TFTP_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname tftp_emit_request weir_tftp_emit_request
#pragma redefine_extname tftp_error_text weir_tftp_error_text
#pragma redefine_extname tftp_parse weir_tftp_parse
#pragma redefine_extname tftp_start weir_tftp_start
#pragma redefine_extname tftp_stop weir_tftp_stop
#endif

#endif
