// SPDX-License-Identifier: BSD-2-Clause
// What every socket begins with: its place in the handle table, on the output list, on the ready list. Lower layers set
// readiness and ask for output through it without knowing who it is; src/socket and src/instance.c give it meaning.
#ifndef BASE_SOCK_H
#define BASE_SOCK_H

#include "base/bytes.h"
#include "weir/addr.h"
#include "weir/socket.h"

enum sock_kind { SOCK_NONE, SOCK_TCP, SOCK_LISTENER, SOCK_UDP, SOCK_RAW };

enum sock_flag {
    SOCK_HANDLED = 1,    // has a handle; without it nothing is on the ready list
    SOCK_ON_OUTPUT = 2,  // on the instance's output list or on a neighbour's waiting list
    SOCK_ON_READY = 4,
    SOCK_REUSE_ADDRESS = 8,
    SOCK_BROADCAST = 16,
    SOCK_DEAD = 32,  // unhashed and closed; freed when it leaves the output list
    SOCK_WAITS_NEIGHBOUR = 64,
    SOCK_V6ONLY = 128,  // bound to `any`, it is of IPv6 alone
};

struct sock {
    struct sock *output_next;  // output list, or a neighbour's waiting list: a FIFO
    struct sock *ready_next;   // ready list: a FIFO
    weir_socket handle;        // 0: none
    uint8_t kind;              // enum sock_kind
    uint8_t flags;             // enum sock_flag
    uint8_t events;            // enum weir_ready bits not yet taken by weir_ready_next
    uint8_t netif_bound;       // interface index; 0 any
};

// Whether a sock that is bound to `bound` gets what is sent to `address`. Bound to weir_addr_any it gets what is of
// either family, to 0.0.0.0 what is of IPv4.
static inline bool sock_covers(const struct sock *sock, struct weir_addr bound, struct weir_addr address)
{
    if (!weir_addr_is_any(bound))
        return weir_addr_equal(bound, address);
    return !WEIR_CFG_IP6 || (weir_addr_is_v4(bound) ? weir_addr_is_v4(address)
                                                    : !(sock->flags & SOCK_V6ONLY && weir_addr_is_v4(address)));
}
// Whether there is an address that both get what is sent to, bound to `a` and `b`.
static inline bool sock_bounds_meet(const struct sock *one, struct weir_addr a, const struct sock *other,
                                    struct weir_addr b)
{
    if (!weir_addr_is_any(a))
        return sock_covers(other, b, a);
    if (!weir_addr_is_any(b))
        return sock_covers(one, a, b);
    return !WEIR_CFG_IP6 || weir_addr_is_v4(a) == weir_addr_is_v4(b) ||
           !((weir_addr_is_v4(a) ? other : one)->flags & SOCK_V6ONLY);
}

// First-in first-out lists of socks.
struct sock_list {
    struct sock *head, **tail;
};

struct socks {
    struct sock_list output;   // wants to transmit
    struct sock_list blocked;  // wanted to, but its interface was full: back to output at weir_tx_ready
    struct sock_list ready;    // has news for its user
};

void socks_init(struct socks *socks);
// Puts the sock on the output list (nothing if it is on it, or waits for a neighbour). O(1).
void sock_output(struct socks *socks, struct sock *sock);
struct sock *sock_output_pop(struct socks *socks);  // first in, first out; clears SOCK_ON_OUTPUT. NULL: none
// Takes the whole output list; NULL: it is empty. The caller takes one after the other off what it got
// (sock_output_take).
struct sock *socks_output_all(struct socks *socks);
// The first of what socks_output_all gave; it may go on the list again. Returns the one behind it.
static inline struct sock *sock_output_take(struct sock *first)
{
    first->flags &= (uint8_t)~SOCK_ON_OUTPUT;
    return first->output_next;
}
// The rest of what socks_output_all gave, from `first` on, goes back before all that came meanwhile. `end` was the
// list's tail then.
void socks_output_before(struct socks *socks, struct sock *first, struct sock **end);
// Adds events; puts the sock on the ready list when it has a handle.
static inline void sock_event(struct socks *socks, struct sock *sock, uint8_t events)
{
    sock->events |= events;
    if ((sock->flags & (SOCK_HANDLED | SOCK_ON_READY)) != SOCK_HANDLED)
        return;
    sock->flags |= SOCK_ON_READY;
    sock->ready_next = NULL;
    *socks->ready.tail = sock;
    socks->ready.tail = &sock->ready_next;
}
// Takes the first sock off the ready list; its events stay in it for the caller to take. NULL: none.
struct sock *sock_ready_pop(struct socks *socks);
// Takes the sock off the ready list (O(length of the list); at close only).
void sock_ready_remove(struct socks *socks, struct sock *sock);

// A sock just popped off the output list found its interface full: it waits for socks_unblock, still counted as on
// output.
void sock_blocked(struct socks *socks, struct sock *sock);
// An interface has room again: all blocked socks go back to the output list.
void socks_unblock(struct socks *socks);

#endif
