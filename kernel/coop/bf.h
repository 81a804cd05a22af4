// SPDX-License-Identifier: BSD-2-Clause
// Blocking functions on one stack. A function that may block keeps the place where it did (a local continuation) and
// returns; called again with the same arguments it goes on from there. So a blocking function may call another, however
// deep, and no stack is kept meanwhile.
//
//     BFD blink(void *prm)
//     {
//         AUTO unsigned times;               // lives across blocking calls
//         BF_BEGIN
//         for (times = 0; times < 3; times++)
//             BF_CALL(pause_for(500));       // another blocking function
//         BF_END
//     }
//
// What must be kept across a blocking call is AUTO; other variables are lost there, and the arguments of a blocking
// call are evaluated again each time it is resumed. Frames are static: a blocking function serves one task at a time,
// and never itself. Where COOP_FRAMES is defined before this header they lie in a section of their own, and each task
// that coop_framed_start began (frames.h) has its own: then one function serves several tasks. No two blocking calls on
// one line, none inside a `switch` of one's own, and no `return`: BF_RETURN.
#ifndef COOP_BF_H
#define COOP_BF_H

enum bf { BF_BLOCKED, BF_DONE };

#define BFD enum bf
#ifdef COOP_FRAMES
#define AUTO static __attribute__((section("coop_frames")))
#else
#define AUTO static
#endif
#define BF_BEGIN \
    AUTO unsigned short bf_line; \
    switch (bf_line) { \
    case 0:
#define BF_END \
    } \
    bf_line = 0; \
    return BF_DONE;
#define BF_RETURN \
    do { \
        bf_line = 0; \
        return BF_DONE; \
    } while (0)
#define BF_PLACE \
    bf_line = __LINE__; \
    __attribute__((fallthrough)); \
    case __LINE__:
#define BF_CALL(call) \
    do { \
        BF_PLACE \
        if ((call) == BF_BLOCKED) \
            return BF_BLOCKED; \
    } while (0)

#endif
