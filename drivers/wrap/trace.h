// SPDX-License-Identifier: BSD-2-Clause
// Writes what the stack's tracing tells (weir/trace.h) as a file of trace events in JSON, which Perfetto
// (ui.perfetto.dev) and Chrome open: a process for each instance, in it a track for each connection with its states,
// what congestion control was told and timers; counters of each connection's windows and round trips; a track for each
// interface with its frames.
#ifndef DRIVERS_WRAP_TRACE_H
#define DRIVERS_WRAP_TRACE_H

#include <stdio.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/trace.h"

WEIR_BEGIN_DECLS

#define TRACE_CONNECTIONS 1024u  // of an instance at once; events of more are counted as lost

struct trace_file {
    FILE *file;  // NULL: closed
    uint32_t sources;
    uint64_t events, lost;
};

struct trace_connection {
    struct weir_endpoint local, peer;
    uint32_t track;  // 0: free
    bool open;       // a state is shown on its track
};

// An instance.
struct trace_source {
    struct weir_tracer tracer;  // for weir_trace_set
    struct trace_file *file;
    uint32_t process, tracks;
    uint64_t began_us;  // what the file shows as its beginning
    uint32_t recent;    // the connection of the last event
    uint32_t netifs;    // bit mask of those that have a track: by their indices, 31 at the most
    struct trace_connection connections[TRACE_CONNECTIONS];
};

// Begins a file at `path`. 0, or -1 with errno.
int trace_open(struct trace_file *file, const char *path);
// Prepares a source of events, all fields, as the process `name` of the file.
void trace_source_init(struct trace_source *source, struct trace_file *file, const char *name, uint64_t began_us);
// Ends the file. The instances have no tracer any more by then, or are gone. -1: not all could be written.
int trace_close(struct trace_file *file);

WEIR_END_DECLS

#endif
