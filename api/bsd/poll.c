// SPDX-License-Identifier: BSD-2-Clause
// poll and select. Both look once; if nothing is there they link an entry to every file and sleep on one token until a
// file has news they asked for. Work is proportional to the number of descriptors, as the interfaces demand; wait sets
// are for many.
#include "internal.h"

#if WEIR_CFG_BSD_POLL

struct entry {
    struct bsd_link link;
    struct poller *poller;
    int fd;
    short events, revents;
};

struct poller {
    struct weir_bsd *bsd;
    struct entry *entries;
    size_t count;
    bool woken;
};

static const struct {
    short bit;
    uint8_t ready;
    bool always;  // told whether asked for or not
} bits[] = {
    {WEIR_POLLIN | WEIR_POLLRDNORM, WEIR_READABLE, false},
    {WEIR_POLLOUT | WEIR_POLLWRNORM, WEIR_WRITABLE, false},
    {WEIR_POLLPRI | WEIR_POLLRDBAND, WEIR_URGENT, false},
    {WEIR_POLLRDHUP, WEIR_READ_CLOSED, false},
    {WEIR_POLLHUP, WEIR_HANGUP, true},
    {WEIR_POLLERR, WEIR_ERROR, true},
};

static short poll_bits(int level, short asked)
{
    int out = 0;
    for (size_t index = 0; index < sizeof bits / sizeof *bits; index++)
        if (level & bits[index].ready)
            out |= bits[index].bit & (bits[index].always ? bits[index].bit : asked);
    return (short)out;
}

static uint32_t ready_bits(short asked)
{
    uint32_t out = BSD_GONE;
    for (size_t index = 0; index < sizeof bits / sizeof *bits; index++)
        if (bits[index].always || asked & bits[index].bit)
            out |= bits[index].ready;
    return out;
}

static void entry_news(struct bsd_link *link, uint32_t events)
{
    struct entry *entry = (struct entry *)(void *)link;
    struct poller *poller = entry->poller;
    if (poller->woken || !(events & ready_bits(entry->events)))
        return;
    poller->woken = true;
    bsd_wake(poller->bsd, poller);
}

static int look(struct poller *poller)
{
    int found = 0;
    for (size_t index = 0; index < poller->count; index++) {
        struct entry *entry = &poller->entries[index];
        struct bsd_file *file = entry->link.file;
        if (entry->fd < 0)
            entry->revents = 0;
        else
            entry->revents = file ? poll_bits(bsd_file_level(file), entry->events) : WEIR_POLLNVAL;
        found += entry->revents != 0;
    }
    return found;
}

static void entries_link(struct poller *poller)
{
    for (size_t index = 0; index < poller->count; index++) {
        struct entry *entry = &poller->entries[index];
        entry->poller = poller;
        entry->link.news = entry_news;
        if (entry->link.file)
            bsd_file_link(entry->link.file, &entry->link);
    }
}

// With the lock. The number of entries with revents, or an error.
static int poll_entries(struct poller *poller, uint64_t deadline_us)
{
    struct weir_bsd *bsd = poller->bsd;
    for (size_t index = 0; index < poller->count; index++)
        poller->entries[index].link = (struct bsd_link){
            .file = poller->entries[index].fd < 0 ? NULL : bsd_file_find(bsd, poller->entries[index].fd)};
    int found = look(poller);
    if (found || deadline_us == 0)
        return found;
    entries_link(poller);
    int error = WEIR_OK;
    while (!found && !error) {
        poller->woken = false;
        error = bsd_sleep(bsd, poller, deadline_us);
        found = look(poller);
    }
    for (size_t index = 0; index < poller->count; index++)
        bsd_file_unlink(&poller->entries[index].link);
    return found || error == WEIR_AGAIN ? found : error;
}

static uint64_t deadline(struct weir_bsd *bsd, int64_t timeout_us)
{
    if (timeout_us < 0)
        return WEIR_NEVER;
    return timeout_us ? weir_now_us(bsd->weir) + (uint64_t)timeout_us : 0;
}

#define ON_STACK 16u  // entries; more come from the allocator

static struct entry *entries_get(struct weir_bsd *bsd, struct entry *local, size_t count)
{
    if (count <= ON_STACK)
        return local;
    bsd_enter(bsd);
    struct entry *entries = bsd_alloc(bsd, count * sizeof *entries);
    bsd_leave(bsd);
    return entries;
}

static void entries_put(struct weir_bsd *bsd, struct entry *local, struct entry *entries, size_t count)
{
    if (entries == local)
        return;
    bsd_enter(bsd);
    bsd_free(bsd, entries, count * sizeof *entries);
    bsd_leave(bsd);
}

static int run(struct weir_bsd *bsd, struct entry *entries, size_t count, int64_t timeout_us)
{
    struct poller poller = {bsd, entries, count, false};
    bsd_enter(bsd);
    const int found = poll_entries(&poller, deadline(bsd, timeout_us));
    bsd_leave(bsd);
    return found;
}

int bsd_poll(struct weir_bsd *bsd, struct weir_pollfd *fds, size_t count, int timeout_ms)
{
    struct entry local[ON_STACK];
    struct weir_pollfd one;
    if (count > bsd->limit + 1024u)
        return bsd_fail(bsd, WEIR_INVALID);
    struct entry *entries = entries_get(bsd, local, count);
    if (!entries)
        return bsd_fail(bsd, BSD_OUT_OF_MEMORY);
    int result = WEIR_OK;
    for (size_t index = 0; index < count && !result; index++) {
        result = bsd_copy_in(bsd, &one, &fds[index], sizeof one);
        entries[index] = (struct entry){.fd = one.fd, .events = one.events};
    }
    if (!result)
        result = run(bsd, entries, count, timeout_ms < 0 ? -1 : (int64_t)timeout_ms * 1000);
    for (size_t index = 0; index < count && result >= 0; index++)
        if (bsd_copy_out(bsd, &fds[index].revents, &entries[index].revents, sizeof fds[index].revents))
            result = WEIR_FAULT;
    entries_put(bsd, local, entries, count);
    return bsd_result(bsd, result);
}

// --- select ----------------------------------------------------------------------------------------------------------
struct sets {
    struct weir_fd_set read, write, except;
};

static int sets_in(struct weir_bsd *bsd, const struct weir_fd_set *from, struct weir_fd_set *to)
{
    weir_fd_zero(to);
    return from ? bsd_copy_in(bsd, to, from, sizeof *to) : WEIR_OK;
}

// Readable and writable in select's sense: what would not block, errors and hang-ups included.
#define SELECT_READ (WEIR_POLLIN | WEIR_POLLRDHUP)
#define SELECT_WRITE WEIR_POLLOUT
#define SELECT_EXCEPT WEIR_POLLPRI

static size_t entries_from(const struct sets *sets, int count, struct entry *entries)
{
    size_t used = 0;
    for (int fd = 0; fd < count; fd++) {
        const int asked = (weir_fd_isset(fd, &sets->read) ? SELECT_READ : 0) |
                          (weir_fd_isset(fd, &sets->write) ? SELECT_WRITE : 0) |
                          (weir_fd_isset(fd, &sets->except) ? SELECT_EXCEPT : 0);
        if (!asked)
            continue;
        if (entries)
            entries[used] = (struct entry){.fd = fd, .events = (short)asked};
        used++;
    }
    return used;
}

static int sets_fill(struct sets *sets, const struct entry *entries, size_t count)
{
    struct sets out = {0};
    int bits_set = 0;
    for (size_t index = 0; index < count; index++) {
        const struct entry *entry = &entries[index];
        if (entry->revents & WEIR_POLLNVAL)
            return WEIR_BAD_SOCKET;
        if (entry->events & SELECT_READ &&
            entry->revents & (WEIR_POLLIN | WEIR_POLLRDHUP | WEIR_POLLHUP | WEIR_POLLERR)) {
            weir_fd_add(entry->fd, &out.read);
            bits_set++;
        }
        if (entry->events & SELECT_WRITE && entry->revents & (WEIR_POLLOUT | WEIR_POLLERR)) {
            weir_fd_add(entry->fd, &out.write);
            bits_set++;
        }
        if (entry->events & SELECT_EXCEPT && entry->revents & WEIR_POLLPRI) {
            weir_fd_add(entry->fd, &out.except);
            bits_set++;
        }
    }
    *sets = out;
    return bits_set;
}

static int select_run(struct weir_bsd *bsd, struct sets *sets, int count, int64_t timeout_us)
{
    struct entry local[ON_STACK];
    const size_t used = entries_from(sets, count, NULL);
    struct entry *entries = entries_get(bsd, local, used);
    if (!entries)
        return BSD_OUT_OF_MEMORY;
    entries_from(sets, count, entries);
    int result;
    uint64_t until_us = 0;
    // An error or a hang-up ends the wait also of who did not ask for it: those are left out, for the rest of the time.
    for (;;) {
        result = run(bsd, entries, used, timeout_us);
        if (result <= 0)
            break;
        const int filled = sets_fill(sets, entries, used);
        if (filled != 0 || timeout_us == 0) {
            entries_put(bsd, local, entries, used);
            return filled;
        }
        for (size_t index = 0; index < used; index++)
            if (entries[index].revents)
                entries[index].fd = -1;
        const uint64_t now_us = bsd->port->now_us ? bsd->port->now_us(bsd->port->context) : 0;
        if (timeout_us > 0) {
            until_us = until_us ? until_us : now_us + (uint64_t)timeout_us;
            timeout_us = until_us > now_us ? (int64_t)(until_us - now_us) : 0;
        }
    }
    entries_put(bsd, local, entries, used);
    *sets = (struct sets){0};
    return result;
}

static int sets_out(struct weir_bsd *bsd, const struct weir_fd_set *from, struct weir_fd_set *to)
{
    return to ? bsd_copy_out(bsd, to, from, sizeof *from) : WEIR_OK;
}

int bsd_select(struct weir_bsd *bsd, int count, struct weir_fd_set *read, struct weir_fd_set *write,
               struct weir_fd_set *except, struct weir_timeval *timeout)
{
    struct sets sets;
    struct weir_timeval time = {0};
    if (count < 0 || count > WEIR_FD_SETSIZE)
        return bsd_fail(bsd, WEIR_INVALID);
    if (sets_in(bsd, read, &sets.read) || sets_in(bsd, write, &sets.write) || sets_in(bsd, except, &sets.except) ||
        (timeout && bsd_copy_in(bsd, &time, timeout, sizeof time)))
        return bsd_fail(bsd, WEIR_FAULT);
    if (time.tv_sec < 0 || time.tv_usec < 0 || time.tv_usec >= 1000000)
        return bsd_fail(bsd, WEIR_INVALID);
    const int64_t timeout_us = timeout ? (int64_t)time.tv_sec * 1000000 + time.tv_usec : -1;
    const int result = select_run(bsd, &sets, count, timeout_us);
    if (result < 0)
        return bsd_fail(bsd, result);
    if (sets_out(bsd, &sets.read, read) || sets_out(bsd, &sets.write, write) || sets_out(bsd, &sets.except, except))
        return bsd_fail(bsd, WEIR_FAULT);
    return result;
}

#endif
