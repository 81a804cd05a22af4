// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-loop.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_LOOP_H
#define WEIR_LINKAGE_LOOP_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname client_enter weir_client_enter
#pragma redefine_extname client_moved weir_client_moved
#pragma redefine_extname clients_accept weir_clients_accept
#pragma redefine_extname clients_enter weir_clients_enter
#pragma redefine_extname clients_init weir_clients_init
#pragma redefine_extname clients_leave weir_clients_leave
#pragma redefine_extname clients_opening weir_clients_opening
#pragma redefine_extname clients_place weir_clients_place
#pragma redefine_extname clients_stop weir_clients_stop
#pragma redefine_extname loop_add weir_loop_add
#pragma redefine_extname loop_init weir_loop_init
#pragma redefine_extname loop_remove weir_loop_remove
#pragma redefine_extname loop_run weir_loop_run
#pragma redefine_extname loop_watch weir_loop_watch
#pragma redefine_extname service_accept weir_service_accept
#pragma redefine_extname service_bind weir_service_bind
#pragma redefine_extname service_close weir_service_close
#pragma redefine_extname service_listen weir_service_listen
#pragma redefine_extname service_may_answer weir_service_may_answer
#pragma redefine_extname service_peek weir_service_peek
#pragma redefine_extname text_addr weir_text_addr
#pragma redefine_extname text_bytes weir_text_bytes
#pragma redefine_extname text_bytes_equal_nocase weir_text_bytes_equal_nocase
#pragma redefine_extname text_char weir_text_char
#pragma redefine_extname text_clock weir_text_clock
#pragma redefine_extname text_endpoint weir_text_endpoint
#pragma redefine_extname text_equal weir_text_equal
#pragma redefine_extname text_equal_nocase weir_text_equal_nocase
#pragma redefine_extname text_fixed weir_text_fixed
#pragma redefine_extname text_hex weir_text_hex
#pragma redefine_extname text_i64 weir_text_i64
#pragma redefine_extname text_init weir_text_init
#pragma redefine_extname text_json weir_text_json
#pragma redefine_extname text_length weir_text_length
#pragma redefine_extname text_mac weir_text_mac
#pragma redefine_extname text_pad weir_text_pad
#pragma redefine_extname text_padded weir_text_padded
#pragma redefine_extname text_put weir_text_put
#pragma redefine_extname text_read_addr weir_text_read_addr
#pragma redefine_extname text_read_u64 weir_text_read_u64
#pragma redefine_extname text_right weir_text_right
#pragma redefine_extname text_u64 weir_text_u64
#endif

#endif
