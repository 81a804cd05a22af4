// SPDX-License-Identifier: BSD-2-Clause
// The format: "Trace Event Format", by the names of its fields: ph is an event's phase (B and E begin and end a slice,
// i is an instant, C a counter, M a name), ts its time in µs, pid and tid its track.
#include "trace.h"

#include <inttypes.h>
#include <string.h>

#include "weir/netif.h"
#include "weir/version.h"

#define FIRST_TRACK 32u  // of connections: below are those of interfaces
#define NETIFS 31u
#define ADDRESS_BYTES 50u  // WEIR_ADDR_TEXT_BYTES, which builds for IPv4 alone do not have
#define NAME_BYTES (2 * (ADDRESS_BYTES + 8) + 4)

#if WEIR_CFG_IP6
static void address_name(struct weir_addr addr, char text[ADDRESS_BYTES]) { (void)weir_addr_write(addr, text); }
#else
static void address_name(struct weir_addr addr, char text[ADDRESS_BYTES])
{
    const uint32_t v4 = weir_addr_to_v4(addr);
    snprintf(text, ADDRESS_BYTES, "%" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu32, v4 >> 24, v4 >> 16 & 255,
             v4 >> 8 & 255, v4 & 255);
}
#endif

static void connection_name(const struct weir_trace_event *event, char name[NAME_BYTES])
{
    char local[ADDRESS_BYTES], peer[ADDRESS_BYTES];
    address_name(event->local.addr, local);
    address_name(event->peer.addr, peer);
    snprintf(name, NAME_BYTES, "%s:%u > %s:%u", local, event->local.port, peer, event->peer.port);
}

// A JSON string without its quotes: names have nothing that needs escapes, and what has is not shown.
static void put_name(FILE *out, const char *name)
{
    for (; *name; name++)
        if (*name >= ' ' && *name <= '~' && *name != '"' && *name != '\\')
            fputc(*name, out);
}

// The event's beginning, up to its arguments.
static FILE *begin(struct trace_source *source, char phase, uint32_t track, const char *name, uint64_t now_us)
{
    struct trace_file *const file = source->file;
    fprintf(file->file, "%s\n{\"ph\":\"%c\",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"ts\":%" PRIu64 ",\"name\":\"",
            file->events++ ? "," : "", phase, source->process, track,
            now_us > source->began_us ? now_us - source->began_us : 0);
    put_name(file->file, name);
    fputc('"', file->file);
    return file->file;
}

static void name_track(struct trace_source *source, const char *what, uint32_t track, const char *name)
{
    FILE *const out = begin(source, 'M', track, what, source->began_us);
    fputs(",\"args\":{\"name\":\"", out);
    put_name(out, name);
    fputs("\"}}", out);
}

static void instant(struct trace_source *source, uint32_t track, const struct weir_trace_event *event,
                    const char *category)
{
    FILE *const out = begin(source, 'i', track, event->what, event->now_us);
    fprintf(out, ",\"s\":\"t\",\"cat\":\"%s\"", category);
    if (event->netif)
        fprintf(out, ",\"args\":{\"bytes\":%" PRIu32 "}", event->bytes);
    fputc('}', out);
}

// --- tracks ----------------------------------------------------------------------------------------------------------

static bool is_of(const struct trace_connection *connection, const struct weir_trace_event *event)
{
    return connection->track && connection->local.port == event->local.port &&
           connection->peer.port == event->peer.port && weir_addr_equal(connection->local.addr, event->local.addr) &&
           weir_addr_equal(connection->peer.addr, event->peer.addr);
}

// A place for a connection that has none: one that is free, or whose connection has ended.
static struct trace_connection *place(struct trace_source *source)
{
    for (uint32_t i = 0; i < TRACE_CONNECTIONS; i++)
        if (!source->connections[i].track || !source->connections[i].open)
            return &source->connections[i];
    return NULL;
}

// NULL: there is no room for another.
static struct trace_connection *connection_of(struct trace_source *source, const struct weir_trace_event *event)
{
    char name[NAME_BYTES];
    if (is_of(&source->connections[source->recent], event))
        return &source->connections[source->recent];
    struct trace_connection *found = source->connections, *const end = found + TRACE_CONNECTIONS;
    while (found < end && !is_of(found, event))
        found++;
    if (found == end && (found = place(source)) != NULL) {
        *found = (struct trace_connection){event->local, event->peer, FIRST_TRACK + source->tracks++, false};
        connection_name(event, name);
        name_track(source, "thread_name", found->track, name);
    }
    if (found)
        source->recent = (uint32_t)(found - source->connections);
    return found;
}

static uint32_t netif_track(struct trace_source *source, const struct weir_netif *netif)
{
    const uint32_t track = netif->index < NETIFS ? netif->index : NETIFS;
    if (!(source->netifs >> track & 1)) {
        source->netifs |= UINT32_C(1) << track;
        name_track(source, "thread_name", track, netif->name);
    }
    return track;
}

// --- events ----------------------------------------------------------------------------------------------------------

// States follow each other on the track; the last ones, which no socket has any more, are instants.
static void state(struct trace_source *source, struct trace_connection *connection,
                  const struct weir_trace_event *event)
{
    const bool last = !strcmp(event->what, "CLOSED") || !strcmp(event->what, "TIME-WAIT");
    if (connection->open)
        fputc('}', begin(source, 'E', connection->track, "", event->now_us));
    connection->open = !last;
    if (last)
        instant(source, connection->track, event, "state");
    else
        fputs(",\"cat\":\"state\"}", begin(source, 'B', connection->track, event->what, event->now_us));
}

static void window(struct trace_source *source, const struct weir_trace_event *event)
{
    char name[NAME_BYTES], title[NAME_BYTES + 16];
    connection_name(event, name);
    snprintf(title, sizeof title, "window %s", name);
    FILE *const out = begin(source, 'C', 0, title, event->now_us);
    fprintf(out, ",\"args\":{\"cwnd\":%" PRIu32 ",\"in flight\":%" PRIu32, event->cwnd, event->in_flight);
    if (event->ssthresh != UINT32_MAX)
        fprintf(out, ",\"ssthresh\":%" PRIu32, event->ssthresh);
    fputs("}}", out);
    snprintf(title, sizeof title, "round trip %s", name);
    fprintf(begin(source, 'C', 0, title, event->now_us), ",\"args\":{\"srtt us\":%" PRIu32 "}}", event->srtt_us);
}

static void trace_event(struct weir_tracer *tracer, const struct weir_trace_event *event)
{
    struct trace_source *const source = (struct trace_source *)(void *)tracer;
    if (event->netif) {
        instant(source, netif_track(source, event->netif), event, "frame");
        return;
    }
    struct trace_connection *const connection = connection_of(source, event);
    if (!connection)
        source->file->lost++;
    else if (event->kind == WEIR_TRACE_STATE)
        state(source, connection, event);
    else if (event->kind == WEIR_TRACE_CONGESTION)
        instant(source, connection->track, event, "congestion");
    else if (event->kind == WEIR_TRACE_TIMER)
        instant(source, connection->track, event, "timer");
    if (connection && event->kind != WEIR_TRACE_TIMER && event->cwnd)
        window(source, event);
}

// --- the file --------------------------------------------------------------------------------------------------------

int trace_open(struct trace_file *file, const char *path)
{
    *file = (struct trace_file){.file = fopen(path, "w")};
    if (!file->file)
        return -1;
    fputs("{\"traceEvents\":[", file->file);
    return 0;
}

void trace_source_init(struct trace_source *source, struct trace_file *file, const char *name, uint64_t began_us)
{
    memset(source, 0, sizeof *source);
    source->tracer = (struct weir_tracer){.event = trace_event, .level = WEIR_TRACE_FRAMES};
    source->file = file;
    source->process = ++file->sources;
    source->began_us = began_us;
    name_track(source, "process_name", 0, name);
}

int trace_close(struct trace_file *file)
{
    if (!file->file)
        return 0;
    fprintf(file->file, "\n],\"otherData\":{\"weir\":\"" WEIR_VERSION_STRING "\",\"lost\":\"%" PRIu64 "\"}}\n",
            file->lost);
    const bool failed = ferror(file->file) != 0;
    const bool closed = fclose(file->file) == 0;
    file->file = NULL;
    return failed || !closed ? -1 : 0;
}
