// SPDX-License-Identifier: BSD-2-Clause
// Neighbour Discovery's options on every input: each type, of every length that an option can have, whatever is in it;
// and its writers. The walk over domain names is proven apart (src/wire/nd.c); here its contract stands for it.
#include "frames.h"

#include "wire/nd.h"

#define OPTION_BYTES_MAX 2040u  // 255 units
static uint8_t option_place[OPTION_BYTES_MAX], link_address[ND_LINK_BYTES], target[IP6_ADDRESS_BYTES];

static void options_in(void)
{
    for (uint32_t units = 1; units <= OPTION_BYTES_MAX / 8; units++) {
        uint8_t *const at = option_place + OPTION_BYTES_MAX - 8 * units;
        struct nd_options options = {at, 8 * units};
        struct nd_option option;
        Frama_C_make_unknown((char *)option_place, OPTION_BYTES_MAX);
        at[1] = (uint8_t)units;
        nd_option_next(&options, &option);
        //@ slevel merge;
    }
}

// Each has as many bytes as it says that it writes, and no more, with what may be left out and without.
static void messages_out(void)
{
    uint8_t rs[ND_RS_BYTES_MAX], ns[ND_NS_BYTES_MAX], na[ND_NA_BYTES_MAX];
    nd_rs_emit(rs, link_address);
    nd_ns_emit(ns, target, link_address, link_address);
    nd_na_emit(na, target, Frama_C_unsigned_int_interval(0, 255), link_address);
    //@ check \initialized(rs + (0 .. 15)) && \initialized(ns + (0 .. 39)) && \initialized(na + (0 .. 31));
    nd_rs_emit(rs, NULL);
    nd_ns_emit(ns, target, NULL, NULL);
    nd_na_emit(na, target, 0, NULL);
}

int main(void)
{
    ANY(link_address);
    ANY(target);
    options_in();
    messages_out();
    return 0;
}
