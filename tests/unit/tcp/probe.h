// SPDX-License-Identifier: BSD-2-Clause
// A congestion control of the tests' own: it does what `probe` says and keeps what it was told. It takes the place of
// src/cc/list.c, with Reno beside it for what the default does.
#ifndef TESTS_TCP_PROBE_H
#define TESTS_TCP_PROBE_H

#include <string.h>

#include "weir/cc.h"

#define PROBE_SAMPLES 4096u

static struct probe {
    uint32_t cwnd, pacing_rate;  // what the window is set to; 0: as it is
    uint16_t burst_segments;
    bool grows;  // slow start, bytes counted
    uint32_t count, limited;
    struct weir_cc_sample sample[PROBE_SAMPLES];  // the newest is sample[count - 1]
    struct weir_cc_sample event_sample;
    enum weir_cc_event event;
    uint32_t events[WEIR_CC_EXIT_SLOW_START + 1];
} probe;

static inline const struct weir_cc_sample *probe_newest(void)
{
    return &probe.sample[(probe.count - 1) % PROBE_SAMPLES];
}

static void probe_apply(struct weir_cc_window *window)
{
    if (probe.cwnd)
        window->cwnd = probe.cwnd;
    if (probe.pacing_rate)
        window->pacing_rate = probe.pacing_rate;
    window->burst_segments = probe.burst_segments;
}

static void probe_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    (void)state;
    probe.sample[probe.count++ % PROBE_SAMPLES] = *sample;
    probe.limited += sample->cwnd_limited;
    if (probe.grows && sample->cwnd_limited && window->cwnd < window->ssthresh)
        window->cwnd += sample->acked - sample->slow_start_held;
    probe_apply(window);
}

static void probe_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                        struct weir_cc_window *window)
{
    (void)state;
    probe.events[event]++;
    probe.event = event;
    probe.event_sample = *sample;
    if (event == WEIR_CC_INIT && !window->cwnd) {
        window->cwnd = 10 * sample->mss;
        window->ssthresh = WEIR_CC_UNLIMITED;
    }
    if (event == WEIR_CC_EXIT_SLOW_START)
        window->ssthresh = window->cwnd;
    probe_apply(window);
}

static const struct weir_cc probe_rate = {.name = "probe",
                                          .wants_rate = true,
                                          .owns_recovery = true,
                                          .owns_slow_start = true,
                                          .ack = probe_ack,
                                          .event = probe_event};
static const struct weir_cc probe_plain = {.name = "plain", .ack = probe_ack, .event = probe_event};

const struct weir_cc *const weir_cc_list[] = {&probe_rate, &probe_plain, &weir_cc_reno, NULL};
const struct weir_cc *weir_cc_find_in(const struct weir_cc *const *list, const char *name)
{
    for (const struct weir_cc *const *cc = list; *cc; cc++)
        if (!name || !strcmp((*cc)->name, name))
            return *cc;
    return NULL;
}

static inline void probe_reset(void) { memset(&probe, 0, sizeof probe); }

#endif
