// SPDX-License-Identifier: BSD-2-Clause
// Wait sets, as epoll. An item is linked to its file; news puts it on the set's ready list and grants one waiting task.
// Waiting takes items off the list and looks at the level: a level-triggered one that is ready goes back to the end
// (and falls off when it is found idle), an edge-triggered one leaves until the next news. Work is proportional to what
// is ready, not to what is watched.
#include "internal.h"

#if WEIR_CFG_BSD_POLL

struct item {
    struct bsd_link link;  // first
    struct bsd_set *set;
    struct item *next, **at;  // all items of the set
    struct item *ready_next, **ready_at;
    struct weir_epoll_event event;
    bool queued;    // on the ready list
    bool disarmed;  // WEIR_EPOLLONESHOT has fired
};

struct bsd_set {
    struct bsd_file *file;
    struct item *items;
    struct item *ready, **ready_last;
    uint32_t ready_count;
    struct bsd_turns waiting;
};

// EPOLLIN … have poll's values, which are these bits of enum weir_ready in another order.
static uint32_t epoll_bits(int level)
{
    uint32_t out = 0;
    out |= level & WEIR_READABLE ? WEIR_EPOLLIN : 0;
    out |= level & WEIR_WRITABLE ? WEIR_EPOLLOUT : 0;
    out |= level & WEIR_URGENT ? WEIR_EPOLLPRI : 0;
    out |= level & WEIR_ERROR ? WEIR_EPOLLERR : 0;
    out |= level & WEIR_HANGUP ? WEIR_EPOLLHUP : 0;
    out |= level & WEIR_READ_CLOSED ? WEIR_EPOLLRDHUP : 0;
    return out;
}

// The two that are told whether asked for or not.
#define ALWAYS (WEIR_EPOLLERR | WEIR_EPOLLHUP)

static uint32_t item_level(struct item *item)
{
    if (item->disarmed)
        return 0;
    return epoll_bits(bsd_file_level(item->link.file)) & (item->event.events | ALWAYS);
}

static void ready_append(struct bsd_set *set, struct item *item)
{
    item->queued = true;
    item->ready_next = NULL;
    item->ready_at = set->ready_last;
    *set->ready_last = item;
    set->ready_last = &item->ready_next;
    set->ready_count++;
}

static void ready_remove(struct bsd_set *set, struct item *item)
{
    *item->ready_at = item->ready_next;
    if (item->ready_next)
        item->ready_next->ready_at = item->ready_at;
    else
        set->ready_last = item->ready_at;
    set->ready_count--;
    item->queued = false;
}

static void item_ready(struct item *item)
{
    struct bsd_set *set = item->set;
    if (item->queued)
        return;
    ready_append(set, item);
    bsd_turn_grant(set->file->bsd, &set->waiting);
    if (set->file->links)
        bsd_file_notify(set->file, WEIR_READABLE);
}

static void item_free(struct item *item)
{
    struct bsd_set *set = item->set;
    if (item->queued)
        ready_remove(set, item);
    bsd_file_unlink(&item->link);
    *item->at = item->next;
    if (item->next)
        item->next->at = item->at;
    bsd_free(set->file->bsd, item, sizeof *item);
}

static void item_news(struct bsd_link *link, uint32_t events)
{
    struct item *item = (struct item *)(void *)link;
    if (events & BSD_GONE)
        item_free(item);
    else if (!item->disarmed && epoll_bits((int)events) & (item->event.events | ALWAYS))
        item_ready(item);
}

int bsd_epoll_create(struct weir_bsd *bsd)
{
    struct bsd_file *file;
    bsd_enter(bsd);
    struct bsd_set *set = bsd_alloc(bsd, sizeof *set);
    int fd = set ? bsd_file_open(bsd, &file) : BSD_OUT_OF_MEMORY;
    if (fd >= 0) {
        *set = (struct bsd_set){.file = file};
        set->ready_last = &set->ready;
        set->waiting.last = &set->waiting.first;
        file->set = set;
    } else if (set) {
        bsd_free(bsd, set, sizeof *set);
    }
    bsd_leave(bsd);
    return bsd_result(bsd, fd);
}

void bsd_set_free(struct bsd_file *file)
{
    struct bsd_set *set = file->set;
    while (set->items)
        item_free(set->items);
    bsd_free(file->bsd, set, sizeof *set);
}

void bsd_set_wake_all(struct bsd_file *file)
{
    while (bsd_turn_grant(file->bsd, &file->set->waiting))
        continue;
}

bool bsd_set_ready(struct bsd_set *set)
{
    for (struct item *item = set->ready; item; item = item->ready_next)
        if (item_level(item))
            return true;
    return false;
}

static struct item *item_find(struct bsd_set *set, const struct bsd_file *file)
{
    for (struct bsd_link *link = file->links; link; link = link->next)
        if (link->news == item_news && ((struct item *)(void *)link)->set == set)
            return (struct item *)(void *)link;
    return NULL;
}

static int item_add(struct bsd_set *set, struct bsd_file *file, const struct weir_epoll_event *event)
{
    struct item *item = bsd_alloc(set->file->bsd, sizeof *item);
    if (!item)
        return BSD_OUT_OF_MEMORY;
    *item =
        (struct item){.link = {.news = item_news}, .set = set, .next = set->items, .at = &set->items, .event = *event};
    if (item->next)
        item->next->at = &item->next;
    set->items = item;
    bsd_file_link(file, &item->link);
    if (item_level(item))
        item_ready(item);
    return WEIR_OK;
}

static int item_modify(struct item *item, const struct weir_epoll_event *event)
{
    item->event = *event;
    item->disarmed = false;
    if (item_level(item))
        item_ready(item);
    return WEIR_OK;
}

static int control(struct bsd_file *set_file, int operation, struct bsd_file *file,
                   const struct weir_epoll_event *event)
{
    struct bsd_set *set = set_file->set;
    if (file->set)
        return WEIR_INVALID;
    struct item *item = item_find(set, file);
    switch (operation) {
    case WEIR_EPOLL_CTL_ADD: return item ? BSD_EXISTS : item_add(set, file, event);
    case WEIR_EPOLL_CTL_MOD: return item ? item_modify(item, event) : BSD_NOT_THERE;
    case WEIR_EPOLL_CTL_DEL:
        if (!item)
            return BSD_NOT_THERE;
        item_free(item);
        return WEIR_OK;
    default: return WEIR_INVALID;
    }
}

int bsd_epoll_ctl(struct weir_bsd *bsd, int set_fd, int operation, int fd, const struct weir_epoll_event *event)
{
    struct weir_epoll_event copy = {0};
    if (operation != WEIR_EPOLL_CTL_DEL && (!event || bsd_copy_in(bsd, &copy, event, sizeof copy)))
        return bsd_fail(bsd, WEIR_FAULT);
    bsd_enter(bsd);
    struct bsd_file *set_file = bsd_file_find(bsd, set_fd);
    struct bsd_file *file = bsd_file_find(bsd, fd);
    int error;
    if (!set_file || !file)
        error = WEIR_BAD_SOCKET;
    else
        error = set_file->set ? control(set_file, operation, file, &copy) : WEIR_INVALID;
    bsd_leave(bsd);
    return bsd_result(bsd, error);
}

// One round over what was on the ready list. Returns how many events were found.
static int harvest(struct bsd_set *set, struct weir_epoll_event *out, int most)
{
    int found = 0;
    for (uint32_t left = set->ready_count; left && found < most; left--) {
        struct item *item = set->ready;
        ready_remove(set, item);
        const uint32_t level = item_level(item);
        if (!level)
            continue;
        out[found++] = (struct weir_epoll_event){level, item->event.data};
        if (item->event.events & WEIR_EPOLLONESHOT)
            item->disarmed = true;
        else if (!(item->event.events & WEIR_EPOLLET))
            ready_append(set, item);
    }
    return found;
}

static int wait_for(struct bsd_file *file, struct weir_epoll_event *out, int most, uint64_t deadline_us)
{
    struct weir_bsd *bsd = file->bsd;
    struct bsd_set *set = file->set;
    int found, error = WEIR_OK;
    while ((found = harvest(set, out, most)) == 0 && !error && deadline_us) {
        struct bsd_turn turn = {0};
        bsd_turn_append(&set->waiting, &turn);
        error = bsd_sleep(bsd, &turn, deadline_us);
        if (turn.granted)
            error = WEIR_OK;
        else
            bsd_turn_remove(&set->waiting, &turn);
        if (file->flags & BSD_DEAD)
            return WEIR_CLOSED;
    }
    if (set->ready)  // more than this task took: the next one's turn
        bsd_turn_grant(bsd, &set->waiting);
    return found || error == WEIR_AGAIN ? found : error;
}

#define EVENTS_AT_ONCE 64

int bsd_epoll_wait(struct weir_bsd *bsd, int set_fd, struct weir_epoll_event *events, int most, int timeout_ms)
{
    struct weir_epoll_event local[EVENTS_AT_ONCE];
    if (most < 1)
        return bsd_fail(bsd, WEIR_INVALID);
    if (most > EVENTS_AT_ONCE)
        most = EVENTS_AT_ONCE;
    bsd_enter(bsd);
    struct bsd_file *file = bsd_file_pin(bsd, set_fd);
    int result = WEIR_BAD_SOCKET;
    if (file) {
        const uint64_t deadline_us = timeout_ms < 0 ? WEIR_NEVER
                                     : timeout_ms   ? weir_now_us(bsd->weir) + (uint64_t)timeout_ms * 1000u
                                                    : 0;
        result = file->set ? wait_for(file, local, most, deadline_us) : WEIR_INVALID;
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    if (result > 0 && bsd_copy_out(bsd, events, local, (size_t)result * sizeof *local))
        result = WEIR_FAULT;
    return bsd_result(bsd, result);
}

#endif
