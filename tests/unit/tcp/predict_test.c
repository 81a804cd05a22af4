// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// Header prediction does what the steps do. fuzz/paths holds the two against each other; what it found is told here,
// one by one, and holds in builds without prediction (lean), too.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

// An ACK that overtakes data brings a newer window than what comes after that data with a lower number (RFC 9293
// §3.10.7.4, SND.WL1): a predicted segment must not turn the clock back.
static void the_window_is_that_of_the_newest_segment(void **state)
{
    (void)state;
    for (int timestamps = 0; timestamps <= 1; timestamps++) {
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                          &(struct tcp_fixture_options){.sack = true, .timestamps = timestamps});
        struct tcp_conn *c = tcp_fixture_conn(&t);
        peer_data(&t, 0, 100);
        peer_send(&t, TCP_ACK, 110, 0);  // ahead of ten bytes that are under way
        const uint32_t newest = c->snd.wl1, window = c->snd.wnd;
        peer_data(&t, 100, 5);  // the first five of them
        assert_int_equal(c->snd.wl1, newest);
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 105, .own_window = true, .window = 3664});
        assert_int_equal(c->snd.wnd, window);
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 111, .own_window = true, .window = 3664});
        assert_int_not_equal(c->snd.wnd, window);
        peer_drain(&t);
        tcp_fixture_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_window_is_that_of_the_newest_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
