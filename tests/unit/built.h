// SPDX-License-Identifier: BSD-2-Clause
// Tests of what a build may leave out. The variant lean (tools/build.mk) leaves much out.
#ifndef BUILT_H
#define BUILT_H

// For a list of tests: cmocka passes over an entry without a function.
#define test_with(option, function) \
    { \
#function, (option) ? (function) : NULL, NULL, NULL, NULL \
    }

#endif
