// SPDX-License-Identifier: BSD-2-Clause
// A pair of virtual Ethernet interfaces, for where /dev/net/tun may not be opened: whoever has a network namespace may
// make one there.
#ifndef RUN_VETH_H
#define RUN_VETH_H

// Makes and raises `name` and `peer`. 0, or an errno.
int run_veth_make(const char *name, const char *peer);

#endif
