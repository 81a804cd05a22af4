// SPDX-License-Identifier: BSD-2-Clause
// A congestion control of one's own, registered at run time, in the simulator (docs/congestion-control.md explains it).
// All that weir-sim can be asked can be asked of this program, and --cc scalable besides:
//
//     build/host/examples/congestion_control --cc scalable --rate 100 --loss 0.01 --seconds 30
#include <stddef.h>

#include "sim/scenario.h"
#include "weir/cc.h"

struct scalable {
    uint32_t before;  // cwnd before the last reduction
};

// Scalable TCP (Kelly 2003): grows by a hundredth of what is acknowledged, gives up an eighth for a loss.
static void grow(void *state, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    (void)state;
    const uint32_t acked = s->acked - s->acked_again;
    if (s->cwnd_limited && !s->in_recovery)
        w->cwnd += w->cwnd < w->ssthresh ? acked : acked / 100;
}

static void tell(void *state, enum weir_cc_event event, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct scalable *own = state;
    const uint32_t initial = weir_cc_initial_window(s->mss), reduced = w->cwnd - w->cwnd / 8;
    if (event == WEIR_CC_INIT && !w->cwnd) {
        w->cwnd = initial;
        w->ssthresh = WEIR_CC_UNLIMITED;
    } else if (event == WEIR_CC_ENTER_RECOVERY || event == WEIR_CC_ECN || event == WEIR_CC_RTO) {
        own->before = w->cwnd;
        w->ssthresh = reduced > 2 * s->mss ? reduced : 2 * s->mss;
        w->cwnd = event == WEIR_CC_RTO ? s->mss : w->ssthresh;
    } else if (event == WEIR_CC_UNDO && own->before) {
        w->cwnd = w->ssthresh = own->before;
    } else if (event == WEIR_CC_IDLE_RESTART && w->cwnd > initial) {
        w->cwnd = initial;
    } else if (event == WEIR_CC_EXIT_SLOW_START) {
        w->ssthresh = w->cwnd;
    }
}

static const struct weir_cc scalable = {
    .name = "scalable",
    .state_bytes = sizeof(struct scalable),
    .ack = grow,
    .event = tell,
};

int main(int argc, char **argv)
{
    static const struct weir_cc *const controls[] = {&scalable, NULL};
    return scenario_main(argc, argv, controls);
}
