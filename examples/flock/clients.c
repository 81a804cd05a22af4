// SPDX-License-Identifier: BSD-2-Clause
// The thesis's two clients.
#include "examples/flock/http.h"
#include "examples/flock/process.h"
#include "examples/flock/sntp.h"

const struct program programs[PROGRAMS_MAX] = {{"sntp", sntp_client}, {"http", http_client}};
