// SPDX-License-Identifier: BSD-2-Clause
// What every wrapper is made of: a netif around a netif. The inner one belongs to the driver that is wrapped (or to
// another wrapper), the outer one goes to weir_netif_add; neither the driver nor the stack knows of the wrapper.
//
//     tap_attach(&tap, &netif, "eth0");
//     struct weir_netif *outer = impair_wrap(&impair, &netif, &config);
//     outer = pcap_wrap(&pcap, outer, &capture);
//     weir_netif_add(weir, outer);
#ifndef DRIVERS_WRAP_WRAP_H
#define DRIVERS_WRAP_WRAP_H

#include <stdint.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef WEIR_NEVER
#define WEIR_NEVER UINT64_MAX
#endif

struct wrap {
    struct weir_netif *inner;  // the caller's, initialised by its driver, not added to any instance
    struct weir_netif outer;
    uint64_t now_us;  // read where there is no instance any more (line_drain)
};

// Makes `wrap` the driver of wrap->outer (which takes over name, address, MTU and capabilities) and the receiver of
// what `inner` delivers. `self` is what `driver` and `upper` find as driver_data and upper_data.
void wrap_init(struct wrap *wrap, struct weir_netif *inner, const struct weir_driver *driver,
               const struct weir_upper *upper, void *self);

// Called downwards: the inner driver's function, or nothing where it has none.
enum weir_tx_verdict wrap_tx(struct wrap *wrap, const struct weir_tx *tx);
void wrap_flush(struct wrap *wrap);
int wrap_poll(struct wrap *wrap, int budget);
void wrap_filter(struct wrap *wrap, const uint8_t address[6], bool join);
uint64_t wrap_timer(struct wrap *wrap, uint64_t now_us);
// The instance's time.
uint64_t wrap_now_us(const struct wrap *wrap);

WEIR_END_DECLS

#endif
