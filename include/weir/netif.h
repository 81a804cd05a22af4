// SPDX-License-Identifier: BSD-2-Clause
// Network interfaces: what a driver implements (struct weir_driver), what it calls (weir_input, weir_tx_ready,
// weir_tx_complete, weir_link_change), and how an interface is configured. A driver needs no other header.
//
// Frames are borrowed, both ways. Bytes lent to weir_input belong to the driver again when it returns; bytes lent to
// `tx` belong to the stack again when it returns, unless it answered WEIR_TX_HELD.
// Unless said otherwise a function is called with the instance's lock held, from any thread, never from an interrupt.
#ifndef WEIR_NETIF_H
#define WEIR_NETIF_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/language.h"
#include "weir/configuration.h"

WEIR_BEGIN_DECLS

struct weir;
struct weir_netif;
struct weir_link;

struct weir_slice {
    const uint8_t *data;
    uint32_t length;  // bytes, not 0
};

// State of a received frame's transport checksum.
enum weir_checksum {
    WEIR_CHECKSUM_NONE,      // not looked at: the stack verifies
    WEIR_CHECKSUM_VERIFIED,  // the device verified it (or the frame never left this machine)
};

#define WEIR_FRAME_SLICES 48  // at most so many slices in a received frame
#define WEIR_FRAME_HEAD 160   // the first slice holds at least min(length, this) bytes: all headers Weir parses

// A received frame, from the first byte of the link header, without FCS.
struct weir_frame {
    const struct weir_slice *slices;
    uint32_t length;        // bytes in all slices together
    uint16_t count;         // slices, 1 to WEIR_FRAME_SLICES
    uint16_t segments;      // TCP segments merged into this frame by the device; 0 or 1: not merged
    uint16_t segment_size;  // payload bytes of each merged segment but the last; 0 if not merged
    uint8_t checksum;       // enum weir_checksum
};

enum weir_tx_verdict {
    WEIR_TX_DONE,        // sent, or copied: the bytes are no longer needed
    WEIR_TX_HELD,        // the payload slices stay in use until weir_tx_complete (only if weir_tx.holdable)
    WEIR_TX_FULL,        // no room now; nothing was taken; the driver will call weir_tx_ready
    WEIR_TX_UNRESOLVED,  // (never from a driver) the neighbour's link address is being resolved
};

enum weir_gso { WEIR_GSO_NONE, WEIR_GSO_TCP4, WEIR_GSO_UDP4, WEIR_GSO_TCP6 };

// A frame to transmit. slices[0] is the header part (link to transport), behind which a few bytes of payload may stand,
// and is never held; the rest is payload.
struct weir_tx {
    const struct weir_slice *slices;
    uint32_t length;           // bytes in all slices together
    uint16_t count;            // slices
    uint16_t header_length;    // bytes of link + network + transport header, all within slices[0]
    uint16_t checksum_start;   // where the device sums from, bytes from the frame's start; 0: checksum is complete
    uint16_t checksum_offset;  // where it stores the sum, bytes from checksum_start (pseudo-header sum is in place)
    uint16_t segment_size;     // payload bytes per segment the device cuts; 0: not to be cut
    uint8_t gso;               // enum weir_gso
    bool holdable;             // the driver may answer WEIR_TX_HELD
    void *hold_owner;          // to be handed to weir_tx_complete
    uint32_t hold_end;
};

// What a device offers.
enum weir_netif_capability {
    WEIR_NETIF_TX_CHECKSUM = 1,    // computes TCP and UDP checksums over IPv4
    WEIR_NETIF_TSO4 = 2,           // cuts large TCP segments (needs TX_CHECKSUM)
    WEIR_NETIF_USO4 = 4,           // cuts large UDP datagrams
    WEIR_NETIF_BROADCAST = 8,      // the link can broadcast (Ethernet)
    WEIR_NETIF_MULTICAST = 16,     // the link can multicast
    WEIR_NETIF_LOOPBACK = 32,      // what is sent comes back; never routed to from outside
    WEIR_NETIF_TX_CHECKSUM6 = 64,  // as TX_CHECKSUM, over IPv6
    WEIR_NETIF_TSO6 = 128,         // as TSO4, over IPv6 (needs TX_CHECKSUM6)
};

// A driver is a const table. Only `tx` is required. None may block.
struct weir_driver {
    const char *name;
    enum weir_tx_verdict (*tx)(struct weir_netif *netif, const struct weir_tx *tx);
    // The end of a batch of `tx`: ring the doorbell once. May be NULL.
    void (*flush)(struct weir_netif *netif);
    // Delivers at most `budget` frames through weir_input; returns how many it delivered. For pollers (NAPI-like).
    int (*poll)(struct weir_netif *netif, int budget);
    // Adds (join) or removes a multicast link address from the receive filter. 32 groups share one address, so it may
    // be added more than once: count. NULL: the device passes all multicast.
    void (*filter)(struct weir_netif *netif, const uint8_t address[6], bool join);
    // Work of the driver's own that time brings (a delaying wrapper, a look at the carrier). Does what is due at now_us
    // and returns the next deadline, µs; WEIR_NEVER: none; not after now_us: it delivered or sent something, call
    // again. The poller calls it before weir_poll (it may deliver input) and again after it (tx may have brought a
    // deadline nearer). NULL: never.
    uint64_t (*timer)(struct weir_netif *netif, uint64_t now_us);
};

// Who receives what a driver delivers. NULL in weir_netif.upper means the stack; a wrapper (drivers/wrap) puts itself
// into the netif of the driver it wraps, and is the driver of a netif around it. All four are required.
struct weir_upper {
    void (*input)(struct weir_netif *netif, const struct weir_frame *frame);
    void (*ready)(struct weir_netif *netif);
    void (*complete)(struct weir_netif *netif, void *hold_owner, uint32_t hold_end);
    void (*carrier)(struct weir_netif *netif, bool up);
};

enum weir_netif_flag {
    WEIR_NETIF_UP = 1,          // administratively up
    WEIR_NETIF_LINK = 2,        // carrier
    WEIR_NETIF_TX_BLOCKED = 4,  // the driver is full; weir_tx_ready clears it
    WEIR_NETIF_VLAN = 16,       // frames carry an 802.1Q tag with `vlan`
};

// Counters and the fields before `address` are there in every build, so that one driver's object serves them all,
// unless WEIR_CFG_NETIF_LEAN.
struct weir_netif_stats {
#if !WEIR_CFG_NETIF_LEAN
    uint64_t rx_bytes, tx_bytes;
    uint32_t rx_segments, tx_segments;
    uint32_t rx_runt;     // shorter than its headers, or lengths that contradict each other
    uint32_t rx_unknown;  // no handler for ethertype, or not addressed to us
    uint32_t rx_frames, tx_frames;
#endif
    uint32_t rx_dropped, tx_dropped, tx_full;
};

// An address of an interface, and the care for it. Written by functions alone; read freely under the lock.
struct weir_netif_address {
    struct weir_addr addr;  // any: none
    uint8_t prefix_length;  // of the subnet that is reached through the interface
    uint8_t state;          // enum weir_address_state
#if WEIR_CFG_COMPACT && !WEIR_CFG_IP4
    uint8_t sent, conflicts;  // probes; identifiers of it that were another host's, in a row
    uint8_t nonce[6];         // of its probes (RFC 7527)
    uint64_t due_us;          // the next probe, or when it is ready
    uint64_t preferred_until_us, valid_until_us;
    struct weir_netif_address *next;
#elif !WEIR_CFG_COMPACT
    uint8_t mode;          // enum weir_address_mode, as it was set
    uint8_t sent;          // probes or announcements
    uint8_t conflicts;     // with other hosts, in a row
    uint32_t due_us;       // next probe or announcement
    bool deprecated;       // its preferred lifetime is over
    uint32_t conflict_ms;  // when it was last defended, or given up
    uint64_t preferred_until_us, valid_until_us;
    struct weir_netif_address *next;  // of the same interface (weir_netif_address_next)
#if WEIR_CFG_IP6
    uint8_t origin;                   // enum weir_address_origin
    uint8_t dad_counter;              // of an identifier made anew after a conflict (RFC 7217 §6)
    uint8_t nonce[6];                 // of its last probe (RFC 7527)
#if WEIR_CFG_IP6_MULTIHOMED
    uint8_t routers;                  // who advertised its prefix: bits of weir_netif_ip6.routers
#endif
#if WEIR_CFG_IP6_TEMPORARY
    // Of a temporary address: how much sooner than the day it is not preferred any more, and how long it may be valid.
    uint32_t desync_s;
    bool temporary_failed;  // of another: no temporary one of its prefix was free
    uint64_t temporary_until_us;
#endif
#endif
#endif
};
#if WEIR_CFG_IP6
enum weir_address_origin {
    WEIR_ADDRESS_MANUAL,
    WEIR_ADDRESS_LINK_LOCAL,  // fe80::/64, made when the interface came up (RFC 4862 §5.3)
    WEIR_ADDRESS_AUTO,        // out of a router's prefix (RFC 4862 §5.5), with an opaque identifier (RFC 7217)
    WEIR_ADDRESS_TEMPORARY,   // likewise, for outgoing connections (RFC 8981)
    WEIR_ADDRESS_LEASED,      // by DHCPv6
};

// What routers say of the link, and how far asking them has come (RFC 4861 §6.3.2). Written by the stack alone.
struct weir_netif_ip6 {
    uint32_t reachable_ms;   // a confirmed neighbour is believed so long
    uint32_t base_ms;        // the mean of it, as routers say it
    uint32_t retransmit_ms;  // between solicitations
    uint32_t solicit_due_ms, solicit_interval_ms;
    uint64_t quiet_until_us;  // the first solicitation, and probes of new addresses, wait until then
    uint16_t mtu;             // 0: the device's
    uint8_t hop_limit;        // of packets that nobody gave one
    uint8_t solicits;         // router solicitations sent since the interface came up
    bool soliciting;          // one more is due at solicit_due_ms
    bool managed, other;      // M and O of the last advertisement: DHCPv6 has addresses, or other settings
    bool off;                 // the link-local address is another host's: no IPv6 on this interface (RFC 4862 §5.4.5)
    uint8_t how;              // enum weir_ip6, as it was set
    bool router_known;        // a router has told its link address: nobody has to be asked for it
#if WEIR_CFG_IP6_MULTIHOMED
    struct weir_addr routers[8];  // that advertised prefixes; any: a free place
#endif
    bool secret_given;
    uint8_t secret[16];  // of opaque identifiers
};
// What an interface does of IPv6 by itself, a bit mask. Addresses can be added in any case (weir_netif_address_add).
enum weir_ip6 {
    WEIR_IP6_LINK_LOCAL = 1,  // it has an address of the link
    WEIR_IP6_AUTO =
        2,  // it asks for routers, takes what they advertise, and makes addresses out of their prefixes (RFC 4862)
    WEIR_IP6_TEMPORARY = 4,  // and temporary ones, which change each day (RFC 8981), for its own connections
    // Addresses out of prefixes are used while they are probed (RFC 4429), where the router tells its link address.
    WEIR_IP6_OPTIMISTIC = 8,
    // Without the random delays before the first solicitation and before probes (WEIR_CFG_IP6_START_DELAY_MS), which
    // keep hosts apart that start together: for one that starts alone.
    WEIR_IP6_PROMPT = 16,
};
#endif

// A querier of an older version of IGMP or MLD than the stack's (RFC 9776 §7.2, RFC 9777 §8.2).
struct weir_netif_querier {
    uint8_t version;    // which is spoken with it; 0: there is none
    uint32_t until_ms;  // so long it is believed to be there
};

// An interface. The memory is the caller's and must outlive weir_netif_remove. Fill in with weir_netif_init; fields
// marked (driver) may be set between init and add; read freely under the lock; write only through functions.
struct weir_netif {
    struct weir *weir;
    const struct weir_driver *driver;
    const struct weir_link *link;  // link type: weir_link_ethernet or weir_link_rawip
    void *driver_data;             // (driver)
    char name[8];                  // "tap0"
    uint8_t mac[6];                // (driver) link address; zero on links without one
    uint16_t mtu;                  // (driver) network-layer bytes: 1500
    uint16_t capabilities;         // (driver) enum weir_netif_capability
    uint8_t flags;                 // enum weir_netif_flag
    uint8_t index;                 // 1 for the first interface
#if !WEIR_CFG_NETIF_LEAN
    uint16_t vlan;  // 802.1Q VID with WEIR_NETIF_VLAN
    struct weir_netif *next;
    const struct weir_upper *upper;  // both set by wrappers only
    void *upper_data;
#endif
    struct weir_netif_stats stats;
#if !WEIR_CFG_NETIF_LEAN
    uint32_t conflict_total;  // ARP packets in which other hosts claimed an address of it, since the interface was
                              // initialised
    uint8_t conflict_mac[6];  // who claimed one last, where conflict_total is not 0
#endif
    struct weir_netif_address address;  // the first of its list, which weir_netif_set_address sets
#if WEIR_CFG_IGMP && WEIR_CFG_IP4 && !WEIR_CFG_COMPACT
    struct weir_netif_querier igmp;
#endif
#if WEIR_CFG_IP6 && !WEIR_CFG_COMPACT
    struct weir_netif_querier mld;
    struct weir_netif_ip6 ip6;
#endif
};

#if WEIR_CFG_NETIF_LEAN && !WEIR_CFG_COMPACT
#error "WEIR_CFG_NETIF_LEAN is for the compact stack"
#endif
#if WEIR_CFG_NETIF_LEAN
static inline const struct weir_upper *weir_netif_upper(const struct weir_netif *netif)
{
    (void)netif;
    return 0;
}
#else
static inline const struct weir_upper *weir_netif_upper(const struct weir_netif *netif) { return netif->upper; }
#endif
#if WEIR_CFG_COMPACT && WEIR_CFG_IP4
static inline const struct weir_netif_address *weir_netif_address_after(const struct weir_netif_address *a)
{
    (void)a;
    return 0;
}
#elif WEIR_CFG_COMPACT
static inline const struct weir_netif_address *weir_netif_address_after(const struct weir_netif_address *a)
{
    return a->next && a->next->state ? a->next : 0;
}
#else
static inline const struct weir_netif_address *weir_netif_address_after(const struct weir_netif_address *a)
{
    return a->next;
}
#endif

extern const struct weir_link weir_link_ethernet;  // Ethernet II, 802.1Q, ARP
extern const struct weir_link weir_link_rawip;     // bare IP packets (TUN, SLIP, PPP)

enum weir_address_state {
    WEIR_ADDRESS_NONE,
    WEIR_ADDRESS_PROBING,
    WEIR_ADDRESS_ANNOUNCING,
    WEIR_ADDRESS_READY,
    WEIR_ADDRESS_CONFLICT,
    WEIR_ADDRESS_OPTIMISTIC  // in use, and being probed (RFC 4429)
};

// How an address is taken into use, and what happens when another host claims it (RFC 5227). What was given up
// (state: CONFLICT) is probed again after 10, 20, 40 and then every 60 s, and taken when nobody answers, unless
// another address was set meanwhile.
enum weir_address_mode {
    WEIR_ADDRESS_AT_ONCE,  // static: use now and announce (§2.3); defended once in ten seconds, never given up
                           // (§2.4(c))
    WEIR_ADDRESS_PROBE,    // leased: probe first (§2.1.1); given up when its defence is disputed within ten seconds
    WEIR_ADDRESS_PROBE_STATIC,  // static: probe first; then as AT_ONCE
};

// Prepares *netif (zeroed). `name` is cut at 7 bytes.
void weir_netif_init(struct weir_netif *netif, const char *name, const struct weir_driver *driver,
                     const struct weir_link *link);
// Adds it to the instance, administratively up, link up. WEIR_INVALID for an MTU below 68 or a repeated name.
int weir_netif_add(struct weir *weir, struct weir_netif *netif);
// Removes it: its routes, neighbours and addresses go; connections through it see no route until another appears. The
// driver first ends what it holds (weir_tx_complete), and hands up nothing more (weir_input).
void weir_netif_remove(struct weir_netif *netif);
int weir_netif_set_up(struct weir_netif *netif, bool up);
// Sets (or with any: clears) the first address and its on-link prefix, 0 to 32, and the connected route. WEIR_INVALID:
// a multicast, broadcast or loopback address; WEIR_IN_USE: it is a further address of the interface; WEIR_NO_MEMORY:
// the routing table is full (the interface then has no address). (The compact stack over IPv6 has it by
// WEIR_CFG_COMPACT_ADDRESS alone, else WEIR_NOT_SUPPORTED: an address of the link takes the place of that one, another
// the place of the one out of a router's prefix, which `any` gives back. WEIR_INVALID also before weir_netif_ip6.)
int weir_netif_set_address(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length,
                           enum weir_address_mode mode);
#if WEIR_CFG_IP6
// Begins IPv6 on an Ethernet interface of an instance, or (0) ends what it did by itself. `secret` makes the
// identifiers of its addresses: as long as it is the same they are, too (RFC 7217), so keep it in flash; NULL: of the
// link-local address it is made from the MAC address (RFC 4291), of others at random, anew each time. WEIR_INVALID: not
// in an instance; WEIR_NOT_SUPPORTED: no Ethernet, or WEIR_CFG_IP6_TEMPORARY or WEIR_CFG_IP6_OPTIMISTIC is not built.
// (The compact stack takes WEIR_IP6_AUTO, with or without PROMPT, once; a second time: WEIR_IN_USE. It has the address
// of the link and one more; without a secret both are at random.)
int weir_netif_ip6(struct weir_netif *netif, unsigned how, const uint8_t secret[16]);
#endif
struct weir_netif *weir_netif_find(struct weir *weir, const char *name);

// An interface may have further addresses (WEIR_CFG_ADDRESSES for all interfaces together; without, these functions are
// not built). Each is announced, defended and given up by itself, and each subnet is reached through the interface. Who
// does not ask for a source speaks from the address in the next hop's subnet, else from the first.
// WEIR_INVALID: as for the first; WEIR_IN_USE: the interface has it; WEIR_NO_MEMORY: so many are in use, or the routing
// table is full.
int weir_netif_address_add(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length,
                           enum weir_address_mode mode);
// Also the first. Connections that use it go on only if it comes back. WEIR_NO_ADDRESS: the interface does not have it.
int weir_netif_address_remove(struct weir_netif *netif, struct weir_addr address);
// Until when (µs of weir_now_us; WEIR_NEVER, as an address begins: for ever) it is preferred, and valid; also of the
// first. Past the one it is deprecated: still ours, but spoken from only where there is no other or a socket has it
// already; past the other it is removed. The next weir_poll makes it so. WEIR_INVALID: preferred longer than valid;
// WEIR_NO_ADDRESS: the interface does not have it.
int weir_netif_address_lifetimes(struct weir_netif *netif, struct weir_addr address, uint64_t preferred_until_us,
                                 uint64_t valid_until_us);
#if WEIR_CFG_IP6
// What a DHCPv6 client has for an address: adds it, to be probed, or changes its lifetimes where it is leased already.
// Its prefix is no subnet (RFC 9915 §18.2.10.1): routers say what is on the link. Found to be another host's, it stays
// in the state CONFLICT until it is removed. Errors as those of the two functions above.
int weir_netif_address_lease(struct weir_netif *netif, struct weir_addr address, uint64_t preferred_until_us,
                             uint64_t valid_until_us);
#endif
// The addresses of an interface one after another, the first with `after` NULL. NULL: there is no more.
static inline const struct weir_netif_address *weir_netif_address_next(const struct weir_netif *netif,
                                                                       const struct weir_netif_address *after)
{
    return !after && !weir_addr_is_any(netif->address.addr) ? &netif->address
                                                            : weir_netif_address_after(after ? after : &netif->address);
}

// Routes: longest prefix, then lowest metric. gateway any: on-link. prefix 0.0.0.0/0 is the default route.
int weir_route_add(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                   struct weir_netif *netif, uint8_t metric);
int weir_route_remove(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                      struct weir_netif *netif);

// --- what a driver calls -------------------------------------------------------------------------------------------
// Hands a frame up. Never calls back into the driver's tx. Bounded work: proportional to the frame.
void weir_input(struct weir_netif *netif, const struct weir_frame *frame);
// From within `tx`, which answers DONE or HELD: this frame took the last place there is, so the next one need not be
// made only to be refused.
static inline void weir_tx_full(struct weir_netif *netif) { netif->flags |= WEIR_NETIF_TX_BLOCKED; }
// For whoever sleeps on a driver's behalf: whether the stack waits for room in it. Without carrier it does not: no room
// would let it send, and a descriptor that has some would say so at once, for ever.
static inline bool weir_tx_waits(const struct weir_netif *netif)
{
    const uint8_t both = WEIR_NETIF_LINK | WEIR_NETIF_TX_BLOCKED;
    return (netif->flags & both) == both;
}
// After WEIR_TX_FULL or weir_tx_full: there is room again. The next weir_poll transmits.
void weir_tx_ready(struct weir_netif *netif);
// Ends a WEIR_TX_HELD. Calls for one socket come in the order of the frames.
void weir_tx_complete(struct weir_netif *netif, void *hold_owner, uint32_t hold_end);
// Carrier came or went. On return of the carrier addresses are announced again and paused connections resume.
void weir_link_change(struct weir_netif *netif, bool up);

// The instance's time, µs (also in instance.h). It stands still during a batch.
uint64_t weir_now_us(const struct weir *weir);

// The same four for drivers that may be wrapped: to the wrapper around this driver, or else to the stack.
static inline void weir_netif_deliver(struct weir_netif *netif, const struct weir_frame *frame)
{
    if (weir_netif_upper(netif))
        weir_netif_upper(netif)->input(netif, frame);
    else
        weir_input(netif, frame);
}
static inline void weir_netif_ready(struct weir_netif *netif)
{
    if (weir_netif_upper(netif))
        weir_netif_upper(netif)->ready(netif);
    else
        weir_tx_ready(netif);
}
static inline void weir_netif_complete(struct weir_netif *netif, void *hold_owner, uint32_t hold_end)
{
    if (weir_netif_upper(netif))
        weir_netif_upper(netif)->complete(netif, hold_owner, hold_end);
    else
        weir_tx_complete(netif, hold_owner, hold_end);
}
static inline void weir_netif_carrier(struct weir_netif *netif, bool up)
{
    if (weir_netif_upper(netif))
        weir_netif_upper(netif)->carrier(netif, up);
    else
        weir_link_change(netif, up);
}

WEIR_END_DECLS

#endif
