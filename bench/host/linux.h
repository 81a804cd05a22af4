// SPDX-License-Identifier: BSD-2-Clause
// What Linux's ends of the host benchmarks share.
#ifndef BENCH_HOST_LINUX_H
#define BENCH_HOST_LINUX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // program_invocation_short_name; who includes this has it before all, too
#endif
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// A call of the system's failed: says so and ends.
_Noreturn static inline void fail(const char *what)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(1);
}

static inline uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

#endif
