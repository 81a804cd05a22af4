// SPDX-License-Identifier: BSD-2-Clause
// The laws of a packet alone, without what was sent before. A broken one ends in sim_fail.
#ifndef SIM_PACKET_H
#define SIM_PACKET_H

struct frame;
struct sim_host;

// What any packet that this host sends must be: not larger than the interface's MTU; of IPv6: of the length that its
// header says, from an address of the host's own, or from :: what may be, with a hop limit of 255 what only neighbours
// may say, no extension headers but those of MLD and of fragments, and the checksum of ICMPv6.
void packet_check(struct sim_host *host, struct frame *frame);
// Of a whole TCP segment: the checksums of IPv4 and TCP.
void packet_check_sums(struct sim_host *host, const struct frame *frame);

#endif
