// SPDX-License-Identifier: BSD-2-Clause
// For what runs on a stack, or in a process, of its own, out of which cmocka's assertions cannot jump: what is not as
// it should be is told by its line and counted. The test asserts that `failures` is 0.
#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>
#include <stdio.h>

static int failures;

static inline void check(bool good, const char *file, int line)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: not as it should be\n", file, line);
    failures++;
}
#define CHECK(condition) check(condition, __FILE__, __LINE__)

#endif
