// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-syslog.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_SYSLOG_H
#define WEIR_LINKAGE_SYSLOG_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname syslog_emit weir_syslog_emit
#pragma redefine_extname syslog_pending weir_syslog_pending
#pragma redefine_extname syslog_start weir_syslog_start
#pragma redefine_extname syslog_stop weir_syslog_stop
#pragma redefine_extname syslog_text weir_syslog_text
#pragma redefine_extname syslog_write weir_syslog_write
#endif

#endif
