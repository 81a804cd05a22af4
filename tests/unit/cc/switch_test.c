// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Every algorithm carries a flow, and hands it over to each other one while it runs.
#include <string.h>

#include "../pair.h"
#include "weir/cc.h"
#include "weir/socket.h"

struct transfer {
    struct pair p;
    weir_socket client, server;
    uint64_t received;
    const struct weir_cc *const *cc;
    uint64_t next_us;
    bool switches;
};

static uint8_t buffer[32768];

static bool step(void *context)
{
    struct transfer *f = context;
    int bytes;
    while (weir_socket_write(f->p.a.weir, f->client, buffer, sizeof buffer) > 0)
        ;
    while ((bytes = weir_socket_read(f->p.b.weir, f->server, buffer, sizeof buffer)) > 0)
        f->received += (uint32_t)bytes;
    if (f->switches && pair_now_us(&f->p) >= f->next_us) {
        f->next_us = pair_now_us(&f->p) + 70000;
        f->cc = f->cc[1] ? f->cc + 1 : weir_cc_list;
        assert_int_equal(weir_socket_set_congestion(f->p.a.weir, f->client, (*f->cc)->name), WEIR_OK);
    }
    return false;
}

// 10 Mbit/s, 20 ms, one segment in 500 lost. Bytes that arrive in so many seconds.
static uint64_t carried(const char *name, bool switches, uint32_t seconds)
{
    static struct transfer f;
    memset(&f, 0, sizeof f);
    const struct weir_config config = {.congestion_control = name};
    const struct pair_link back = {.delay_us = 10000};
    pair_open(&f.p,
              &(struct pair_options){.link = {.delay_us = 10000, .rate = 1250000, .queue_frames = 40, .loss_ppm = 2000},
                                     .back = &back,
                                     .seed = 11,
                                     .a = {.config = &config},
                                     .b = {.config = &config}});
    pair_connect(&f.p, 7, &f.client, &f.server);
    assert_string_equal(weir_socket_congestion(f.p.a.weir, f.client), name ? name : weir_cc_list[0]->name);
    f.cc = weir_cc_list;
    f.switches = switches;
    pair_run_until(&f.p, step, &f, seconds * UINT64_C(1000000));
    const uint64_t received = f.received;
    pair_close(&f.p);
    return received;
}

static void each_carries_a_flow_by_default(void **state)
{
    (void)state;
    for (const struct weir_cc *const *cc = weir_cc_list; *cc != NULL; cc++) {
        const uint64_t bytes = carried((*cc)->name, false, 4);
        if (bytes < 2500000)  // half of the line's rate
            fail_msg("%s carried %u bytes in 4 s", (*cc)->name, (uint32_t)bytes);
    }
}

static void a_flow_goes_on_through_every_change(void **state)
{
    (void)state;
    assert_true(carried(NULL, true, 6) > 3750000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_carries_a_flow_by_default),
        cmocka_unit_test(a_flow_goes_on_through_every_change),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
