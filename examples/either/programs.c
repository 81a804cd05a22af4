// SPDX-License-Identifier: BSD-2-Clause
#include "examples/either/programs.h"

#include "examples/flock/http.h"
#include "examples/flock/process.h"

const struct program programs[PROGRAMS_MAX] = {
    {"poll", poll_client}, {"http", http_client}, {"echo", select_echo}, {"pointers", pointers_server}};
