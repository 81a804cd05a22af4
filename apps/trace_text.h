// SPDX-License-Identifier: BSD-2-Clause
// An event of the stack's tracing (weir/trace.h) as a line of text, for a log or a console. The tracer that makes it
// runs under the instance's lock: where writing takes time, it keeps the line, and a task writes it.
#ifndef APPS_TRACE_TEXT_H
#define APPS_TRACE_TEXT_H

#include "text.h"
#include "weir/linkage/apps.h"
#include "weir/trace.h"

WEIR_BEGIN_DECLS

#define TRACE_TEXT_BYTES 256u  // room for any line, and for an end of line and a NUL behind it

// Appends the line, without its end: seconds since the instance began, of a connection both ends, what happened, and
// the numbers that are known.
//     12.345678 10.0.0.2:7 > 10.0.0.1:4711 state ESTABLISHED cwnd 14480
//     12.370112 10.0.0.2:7 > 10.0.0.1:4711 window cwnd 15928 ssthresh 11584 in flight 1448 rtt 24391 us
//     12.370112 eth0 frame in 66 bytes
void trace_text(struct text *out, const struct weir_trace_event *event);

WEIR_END_DECLS

#endif
