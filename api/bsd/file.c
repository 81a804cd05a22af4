// SPDX-License-Identifier: BSD-2-Clause
// Descriptors and what stands behind them: pins, gates, links.
#include "internal.h"

static void file_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    (void)socket;
    bsd_file_notify((struct bsd_file *)(void *)watch, events);
}

static struct bsd_file **place(struct weir_bsd *bsd, int fd)
{
    const uint32_t index = (uint32_t)fd - (uint32_t)bsd->config.first_descriptor;
    if (fd < bsd->config.first_descriptor || index >= bsd->limit || !bsd->segments[index / BSD_SEGMENT])
        return NULL;
    return &bsd->segments[index / BSD_SEGMENT]->files[index % BSD_SEGMENT];
}

struct bsd_file *bsd_file_find(struct weir_bsd *bsd, int fd)
{
    struct bsd_file **at = place(bsd, fd);
    return at ? *at : NULL;
}

static struct bsd_segment *segment_make(struct weir_bsd *bsd, uint32_t index)
{
    if (!bsd->segments[index]) {
        bsd->segments[index] = bsd_alloc(bsd, sizeof(struct bsd_segment));
        if (bsd->segments[index])
            memset(bsd->segments[index], 0, sizeof(struct bsd_segment));
    }
    return bsd->segments[index];
}

// POSIX gives out the lowest free number. Segments that are full are stepped over whole.
static int lowest_free(struct weir_bsd *bsd, uint32_t *out)
{
    for (uint32_t index = bsd->lowest; index < bsd->limit;) {
        struct bsd_segment *segment = segment_make(bsd, index / BSD_SEGMENT);
        if (!segment)
            return BSD_OUT_OF_MEMORY;
        if (segment->used == BSD_SEGMENT) {
            index = (index / BSD_SEGMENT + 1) * BSD_SEGMENT;
            continue;
        }
        if (!segment->files[index % BSD_SEGMENT]) {
            *out = index;
            return WEIR_OK;
        }
        index++;
    }
    return BSD_TOO_MANY;
}

int bsd_file_open(struct weir_bsd *bsd, struct bsd_file **out)
{
    uint32_t index;
    const int error = lowest_free(bsd, &index);
    if (error)
        return error;
    struct bsd_file *file = bsd_alloc(bsd, sizeof *file);
    if (!file)
        return BSD_OUT_OF_MEMORY;
    memset(file, 0, sizeof *file);
    file->watch.event = file_event;
    file->bsd = bsd;
    file->socket = WEIR_BAD_SOCKET;
    file->receive_low_water = 1;
    file->read.queue.last = &file->read.queue.first;
    file->write.queue.last = &file->write.queue.first;
    struct bsd_segment *segment = bsd->segments[index / BSD_SEGMENT];
    segment->files[index % BSD_SEGMENT] = file;
    segment->used++;
    bsd->lowest = index + 1;
    *out = file;
    return (int)index + bsd->config.first_descriptor;
}

static void gate_wake_all(struct weir_bsd *bsd, struct bsd_gate *gate)
{
    for (struct bsd_turn *turn = gate->queue.first; turn; turn = turn->next)
        bsd_wake(bsd, turn);
    if (gate->asleep)
        bsd_wake(bsd, gate);
}

struct bsd_file *bsd_file_remove(struct weir_bsd *bsd, int fd)
{
    struct bsd_file **at = place(bsd, fd);
    struct bsd_file *file = at ? *at : NULL;
    if (!file)
        return NULL;
    const uint32_t index = (uint32_t)(fd - bsd->config.first_descriptor);
    *at = NULL;
    bsd->segments[index / BSD_SEGMENT]->used--;
    if (index < bsd->lowest)
        bsd->lowest = index;
    file->flags |= BSD_DEAD;
    file->pins++;
    gate_wake_all(bsd, &file->read);
    gate_wake_all(bsd, &file->write);
    if (BSD_IS_SET(file))
        bsd_set_wake_all(file);
    while (BSD_LINKS(file)) {
        struct bsd_link *link = file->links;
        bsd_file_unlink(link);
        link->file = NULL;
        link->news(link, BSD_GONE);
    }
    return file;
}

struct bsd_file *bsd_file_pin(struct weir_bsd *bsd, int fd)
{
    struct bsd_file *file = bsd_file_find(bsd, fd);
    if (file)
        file->pins++;
    return file;
}

int bsd_socket_pin(struct weir_bsd *bsd, int fd, struct bsd_file **out)
{
    struct bsd_file *file = bsd_file_find(bsd, fd);
    if (!file)
        return WEIR_BAD_SOCKET;
    if (BSD_IS_SET(file))
        return BSD_NOT_A_SOCKET;
    file->pins++;
    *out = file;
    return WEIR_OK;
}

void bsd_file_unpin(struct bsd_file *file)
{
    struct weir_bsd *bsd = file->bsd;
    if (--file->pins || !(file->flags & BSD_DEAD))
        return;
    if (bsd_layer_of(file))
        bsd_layer_of(file)->end(file);
    if (BSD_IS_SET(file))
        bsd_set_free(file);
    else if (file->socket > 0)
        weir_socket_close(bsd->weir, file->socket);
    bsd_free(bsd, file, sizeof *file);
}

weir_socket bsd_handle(struct weir_bsd *bsd, int fd)
{
    bsd_enter(bsd);
    const struct bsd_file *file = bsd_file_find(bsd, fd);
    const weir_socket socket = file ? file->socket : WEIR_BAD_SOCKET;
    bsd_leave(bsd);
    return socket;
}

int bsd_file_level(struct bsd_file *file)
{
    if (BSD_IS_SET(file))
        return bsd_set_ready(file->set) ? WEIR_READABLE : 0;
    const int level = weir_socket_ready(file->bsd->weir, file->socket);
    return level < 0 ? WEIR_ERROR : bsd_layer_of(file) ? level | bsd_layer_of(file)->ready(file) : level;
}

void bsd_file_link(struct bsd_file *file, struct bsd_link *link)
{
    link->file = file;
    link->next = file->links;
    link->at = &file->links;
    if (link->next)
        link->next->at = &link->next;
    file->links = link;
}

void bsd_file_unlink(struct bsd_link *link)
{
    if (!link->at)
        return;
    *link->at = link->next;
    if (link->next)
        link->next->at = link->at;
    link->at = NULL;
}

#define READ_NEWS (WEIR_READABLE | WEIR_URGENT | WEIR_HANGUP | WEIR_ERROR | WEIR_READ_CLOSED)
#define WRITE_NEWS (WEIR_WRITABLE | WEIR_HANGUP | WEIR_ERROR)

void bsd_file_notify(struct bsd_file *file, uint32_t events)
{
    struct weir_bsd *bsd = file->bsd;
    if (events & READ_NEWS && file->read.asleep)
        bsd_wake(bsd, &file->read);
    if (events & WRITE_NEWS && file->write.asleep)
        bsd_wake(bsd, &file->write);
    if (file->flags & BSD_LINGERING)
        bsd_wake(bsd, file);
    for (struct bsd_link *link = BSD_LINKS(file), *next; link; link = next) {
        next = link->next;
        link->news(link, events);
    }
}

void bsd_turn_append(struct bsd_turns *turns, struct bsd_turn *turn)
{
    turn->next = NULL;
    turn->granted = false;
    *turns->last = turn;
    turns->last = &turn->next;
}

void bsd_turn_remove(struct bsd_turns *turns, struct bsd_turn *turn)
{
    for (struct bsd_turn **at = &turns->first; *at; at = &(*at)->next) {
        if (*at == turn) {
            *at = turn->next;
            if (!*at)
                turns->last = at;
            return;
        }
    }
}

bool bsd_turn_grant(struct weir_bsd *bsd, struct bsd_turns *turns)
{
    struct bsd_turn *turn = turns->first;
    if (!turn)
        return false;
    turns->first = turn->next;
    if (!turns->first)
        turns->last = &turns->first;
    turn->granted = true;
    bsd_wake(bsd, turn);
    return true;
}

// An impatient task (non-blocking) waits only for one that is copying, which ends soon; if that one sleeps, there is
// nothing to be had now.
int bsd_gate_enter(struct bsd_file *file, struct bsd_gate *gate, uint64_t deadline_us, bool patient)
{
    struct weir_bsd *bsd = file->bsd;
    if (!gate->taken) {
        gate->taken = true;
        return WEIR_OK;
    }
    struct bsd_turn turn = {.impatient = !patient};
    bsd_turn_append(&gate->queue, &turn);
    int error = WEIR_OK;
    while (!turn.granted && !error) {
        if (file->flags & BSD_DEAD)
            error = WEIR_CLOSED;
        else if (!patient && gate->asleep)
            error = WEIR_AGAIN;
        else
            error = bsd_sleep(bsd, &turn, patient ? deadline_us : WEIR_NEVER);
    }
    if (turn.granted)
        return WEIR_OK;
    bsd_turn_remove(&gate->queue, &turn);
    return error;
}

void bsd_gate_leave(struct bsd_file *file, struct bsd_gate *gate)
{
    if (!bsd_turn_grant(file->bsd, &gate->queue))
        gate->taken = false;
}

int bsd_gate_sleep(struct bsd_file *file, struct bsd_gate *gate, uint64_t deadline_us)
{
    struct weir_bsd *bsd = file->bsd;
    gate->asleep = true;
    // The impatient in the queue learn that the wait may be long.
    for (struct bsd_turn *turn = gate->queue.first; turn; turn = turn->next)
        if (turn->impatient)
            bsd_wake(bsd, turn);
    const int error = file->flags & BSD_DEAD ? WEIR_CLOSED : bsd_sleep(bsd, gate, deadline_us);
    gate->asleep = false;
    return file->flags & BSD_DEAD ? WEIR_CLOSED : error;
}
