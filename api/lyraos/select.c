// SPDX-License-Identifier: BSD-2-Clause
// select over arrays of socket descriptors, by way of poll: each socket is asked about once, whatever sets it is in.
#include "api/bsd/internal.h"
#include "api/lyraos/internal.h"

int lyraos_fd_find(int s, const fd_set *set)
{
    for (int i = 0; i < set->nr; i++)
        if (LYRAOS_NUMBER(set->fd[i]) == s)
            return i;
    return -1;
}

void lyraos_fd_add(int s, fd_set *set)
{
    if (set->nr < FD_SETSIZE && lyraos_fd_find(s, set) < 0)
        set->fd[set->nr++] = (lyraos_fd)(intptr_t)s;
}

void lyraos_fd_remove(int s, fd_set *set)
{
    const int at = lyraos_fd_find(s, set);
    if (at >= 0)
        set->fd[at] = set->fd[--set->nr];
}

// What each of the three sets asks for, and what answers it (Linux's table: a hang-up or an error is both readable and
// writable).
static const struct {
    short ask, answer;
} kinds[] = {{POLLIN, POLLIN | POLLHUP | POLLERR}, {POLLOUT, POLLOUT | POLLHUP | POLLERR}, {POLLPRI, POLLPRI}};
enum { KINDS = 3 };

struct question {
    struct pollfd *fds;
    int count;
};

static struct pollfd *entry_of(const struct question *question, int s)
{
    for (int i = 0; i < question->count; i++)
        if (question->fds[i].fd == s)
            return &question->fds[i];
    return NULL;
}

static void ask(struct question *question, const fd_set *set, short what)
{
    for (int i = 0; set && i < set->nr; i++) {
        struct pollfd *entry = entry_of(question, LYRAOS_NUMBER(set->fd[i]));
        if (!entry) {
            entry = &question->fds[question->count++];
            *entry = (struct pollfd){.fd = LYRAOS_NUMBER(set->fd[i])};
        }
        entry->events |= what;
    }
}

static int answer(const struct question *question, fd_set *set, short what)
{
    int kept = 0;
    for (int i = 0; set && i < set->nr; i++)
        if (entry_of(question, LYRAOS_NUMBER(set->fd[i]))->revents & what)
            set->fd[kept++] = set->fd[i];
    if (set)
        set->nr = kept;
    return kept;
}

static int milliseconds(const struct timeval *timeout)
{
    const int64_t most = INT32_MAX;
    if (!timeout)
        return -1;
    const int64_t wanted =
        timeout->tv_sec > most / 1000 ? most : (int64_t)timeout->tv_sec * 1000 + (timeout->tv_usec + 999) / 1000;
    return (int)(wanted < most ? wanted : most);
}

static bool foreign(const struct question *question)
{
    for (int i = 0; i < question->count; i++)
        if (question->fds[i].fd < 0 || question->fds[i].revents & POLLNVAL)
            return true;
    return false;
}

int select(int n, fd_set *in, fd_set *out, fd_set *exceptional, struct timeval *timeout)
{
    struct pollfd fds[KINDS * FD_SETSIZE];
    struct question question = {fds, 0};
    fd_set *const sets[KINDS] = {in, out, exceptional};
    int found = 0;
    (void)n;
    if (timeout && (timeout->tv_sec < 0 || timeout->tv_usec < 0))
        return bsd_fail(lyraos_stack, WEIR_INVALID);
    for (int kind = 0; kind < KINDS; kind++)
        ask(&question, sets[kind], kinds[kind].ask);
    if (bsd_poll(lyraos_stack, fds, (size_t)question.count, milliseconds(timeout)) < 0)
        return -1;
    if (foreign(&question))
        return bsd_fail(lyraos_stack, WEIR_BAD_SOCKET);
    for (int kind = 0; kind < KINDS; kind++)
        found += answer(&question, sets[kind], kinds[kind].answer);
    return found;
}
