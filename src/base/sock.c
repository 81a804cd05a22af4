// SPDX-License-Identifier: BSD-2-Clause
#include "base/sock.h"

static void sock_list_init(struct sock_list *list)
{
    list->head = NULL;
    list->tail = &list->head;
}

void socks_init(struct socks *socks)
{
    sock_list_init(&socks->output);
    sock_list_init(&socks->blocked);
    sock_list_init(&socks->ready);
}

void sock_output(struct socks *socks, struct sock *sock)
{
    if (sock->flags & (SOCK_ON_OUTPUT | SOCK_WAITS_NEIGHBOUR))
        return;
    sock->flags |= SOCK_ON_OUTPUT;
    sock->output_next = NULL;
    *socks->output.tail = sock;
    socks->output.tail = &sock->output_next;
}

struct sock *sock_output_pop(struct socks *socks)
{
    struct sock *sock = socks->output.head;
    if (!sock)
        return NULL;
    socks->output.head = sock->output_next;
    if (!socks->output.head)
        socks->output.tail = &socks->output.head;
    sock->flags &= (uint8_t)~SOCK_ON_OUTPUT;
    return sock;
}

struct sock *socks_output_all(struct socks *socks)
{
    struct sock *first = socks->output.head;
    sock_list_init(&socks->output);
    return first;
}

void socks_output_before(struct socks *socks, struct sock *first, struct sock **end)
{
    *end = socks->output.head;
    if (!socks->output.head)
        socks->output.tail = end;
    socks->output.head = first;
}

struct sock *sock_ready_pop(struct socks *socks)
{
    struct sock *sock = socks->ready.head;
    if (!sock)
        return NULL;
    socks->ready.head = sock->ready_next;
    if (!socks->ready.head)
        socks->ready.tail = &socks->ready.head;
    sock->flags &= (uint8_t)~SOCK_ON_READY;
    return sock;
}

void sock_ready_remove(struct socks *socks, struct sock *sock)
{
    if (!(sock->flags & SOCK_ON_READY))
        return;
    struct sock **link = &socks->ready.head;
    while (*link != sock)
        link = &(*link)->ready_next;
    *link = sock->ready_next;
    if (!sock->ready_next)
        socks->ready.tail = link;
    sock->flags &= (uint8_t)~SOCK_ON_READY;
}

void sock_blocked(struct socks *socks, struct sock *sock)
{
    sock->flags |= SOCK_ON_OUTPUT;
    sock->output_next = NULL;
    *socks->blocked.tail = sock;
    socks->blocked.tail = &sock->output_next;
}

void socks_unblock(struct socks *socks)
{
    if (!socks->blocked.head)
        return;
    *socks->output.tail = socks->blocked.head;
    socks->output.tail = socks->blocked.tail;
    socks->blocked.head = NULL;
    socks->blocked.tail = &socks->blocked.head;
}
