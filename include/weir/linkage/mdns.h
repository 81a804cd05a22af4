// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-mdns.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_MDNS_H
#define WEIR_LINKAGE_MDNS_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname mdns_browse_start weir_mdns_browse_start
#pragma redefine_extname mdns_browse_stop weir_mdns_browse_stop
#pragma redefine_extname mdns_flags weir_mdns_flags
#pragma redefine_extname mdns_lookup_start weir_mdns_lookup_start
#pragma redefine_extname mdns_lookup_stop weir_mdns_lookup_stop
#pragma redefine_extname mdns_name_append weir_mdns_name_append
#pragma redefine_extname mdns_name_equal weir_mdns_name_equal
#pragma redefine_extname mdns_name_label weir_mdns_name_label
#pragma redefine_extname mdns_name_print weir_mdns_name_print
#pragma redefine_extname mdns_name_root weir_mdns_name_root
#pragma redefine_extname mdns_name_split weir_mdns_name_split
#pragma redefine_extname mdns_name_text weir_mdns_name_text
#pragma redefine_extname mdns_publish weir_mdns_publish
#pragma redefine_extname mdns_query_start weir_mdns_query_start
#pragma redefine_extname mdns_query_stop weir_mdns_query_stop
#pragma redefine_extname mdns_read_begin weir_mdns_read_begin
#pragma redefine_extname mdns_read_data weir_mdns_read_data
#pragma redefine_extname mdns_read_name weir_mdns_read_name
#pragma redefine_extname mdns_read_question weir_mdns_read_question
#pragma redefine_extname mdns_read_record weir_mdns_read_record
#pragma redefine_extname mdns_resolve_start weir_mdns_resolve_start
#pragma redefine_extname mdns_resolve_stop weir_mdns_resolve_stop
#pragma redefine_extname mdns_start weir_mdns_start
#pragma redefine_extname mdns_stop weir_mdns_stop
#pragma redefine_extname mdns_txt_value weir_mdns_txt_value
#pragma redefine_extname mdns_update weir_mdns_update
#pragma redefine_extname mdns_valid weir_mdns_valid
#pragma redefine_extname mdns_withdraw weir_mdns_withdraw
#pragma redefine_extname mdns_write_begin weir_mdns_write_begin
#pragma redefine_extname mdns_write_end weir_mdns_write_end
#pragma redefine_extname mdns_write_question weir_mdns_write_question
#pragma redefine_extname mdns_write_record weir_mdns_write_record
#endif

#endif
