// SPDX-License-Identifier: BSD-2-Clause
// poll and select of a client process.
#include "process_sockets.h"
#include "weir/error.h"
#include "weir/port.h"

#define SETS 3  // of select: to read, to write, exceptions

// Beside what was asked for: errors and ends, which poll tells anybody.
static short ends_of(struct micro_process *process, const struct micro_descriptor *descriptor)
{
    const struct window_channel *channel = &process->client.window->channel[descriptor->channel];
    const int read_end = (int)(int32_t)atomic_load(&channel->read_end),
              send_end = (int)(int32_t)atomic_load(&channel->send_end);
    const bool failed =
        client_error_waits(&process->client, descriptor->channel) || (send_end < 0 && descriptor->connecting);
    return (short)((read_end ? WEIR_POLLRDHUP : 0) | (read_end && send_end ? WEIR_POLLHUP : 0) |
                   (failed ? WEIR_POLLERR : 0));
}

static void show(struct micro_process *process, struct weir_pollfd *fd, uint8_t ready)
{
    const struct micro_descriptor *descriptor = micro_descriptor_find(process, fd->fd);
    fd->revents = 0;
    if (!descriptor) {
        fd->revents = fd->fd < 0 ? 0 : WEIR_POLLNVAL;
        return;
    }
    const int asked = fd->events | WEIR_POLLERR | WEIR_POLLHUP;
    fd->revents = (short)((ends_of(process, descriptor) | (ready & WINDOW_READ ? WEIR_POLLIN | WEIR_POLLRDNORM : 0) |
                           (ready & WINDOW_WRITE ? WEIR_POLLOUT | WEIR_POLLWRNORM : 0)) &
                          asked);
}

// `fds` in the process's own memory. How many have something to tell, 0 at the timeout, or an error.
static int wait_for(struct micro_process *process, struct weir_pollfd *fds, uint32_t count, uint64_t timeout_us)
{
    struct client_pollfd wanted[CLIENT_CHANNELS];
    uint32_t of[CLIENT_CHANNELS], used = 0;
    int found = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct micro_descriptor *descriptor = micro_descriptor_find(process, fds[i].fd);
        show(process, &fds[i], 0);
        found += fds[i].revents != 0;
        if (!descriptor)
            continue;
        of[used] = i;
        wanted[used++] = (struct client_pollfd){
            .socket = descriptor->channel,
            .wants = (uint8_t)((fds[i].events == WEIR_POLLPRI ? 0 : WINDOW_FAILED) |  // select's third set
                               (fds[i].events & (WEIR_POLLIN | WEIR_POLLRDNORM | WEIR_POLLRDHUP) ? WINDOW_READ : 0) |
                               (fds[i].events & (WEIR_POLLOUT | WEIR_POLLWRNORM) ? WINDOW_WRITE : 0))};
    }
    process->client.timeout_us = found ? 0 : timeout_us;
    const int ready = client_poll(&process->client, wanted, used);
    if (ready < 0)
        return ready;
    for (uint32_t i = 0; i < used; i++)
        show(process, &fds[of[i]], wanted[i].ready);
    found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += fds[i].revents != 0;
    return found;
}

int weir_posix_poll(struct weir_pollfd *fds, unsigned long count, int timeout_ms)
{
    struct micro_process *process = micro_process_self();
    struct weir_pollfd own[CLIENT_CHANNELS];
    const size_t bytes = count * sizeof *fds;
    if (count > CLIENT_CHANNELS)
        return bsd_fail(&process->bsd, WEIR_INVALID);
    if (bytes && bsd_copy_in(&process->bsd, own, fds, bytes))
        return bsd_fail(&process->bsd, WEIR_FAULT);
    int found = wait_for(process, own, (uint32_t)count, timeout_ms < 0 ? WEIR_NEVER : (uint64_t)timeout_ms * 1000);
    for (unsigned long i = 0; i < count && found >= 0; i++)
        if (bsd_copy_out(&process->bsd, &fds[i].revents, &own[i].revents, sizeof own[i].revents))
            found = WEIR_FAULT;
    return bsd_result(&process->bsd, found);
}

// --- select ----------------------------------------------------------------------------------------------------------
static const struct {
    short asks, shows;
} of_set[SETS] = {{WEIR_POLLIN | WEIR_POLLRDHUP, WEIR_POLLIN | WEIR_POLLRDHUP | WEIR_POLLHUP | WEIR_POLLERR},
                  {WEIR_POLLOUT, WEIR_POLLOUT | WEIR_POLLERR},
                  {WEIR_POLLPRI, WEIR_POLLPRI}};

// The descriptors in the sets: how many, or WEIR_BAD_SOCKET.
static int fds_of(struct micro_process *process, int count, const struct weir_fd_set sets[SETS],
                  struct weir_pollfd fds[CLIENT_CHANNELS])
{
    int used = 0;
    for (int fd = 0; fd < count; fd++) {
        int events = 0;
        for (int set = 0; set < SETS; set++)
            events |= weir_fd_isset(fd, &sets[set]) ? of_set[set].asks : 0;
        if (events && !micro_descriptor_find(process, fd))
            return WEIR_BAD_SOCKET;
        if (events)
            fds[used++] = (struct weir_pollfd){.fd = fd, .events = (short)events};
    }
    return used;
}

static int sets_of(const struct weir_pollfd *fds, int count, struct weir_fd_set sets[SETS])
{
    int bits = 0;
    for (int set = 0; set < SETS; set++)
        weir_fd_zero(&sets[set]);
    for (int i = 0; i < count; i++)
        for (int set = 0; set < SETS; set++)
            if (fds[i].events & of_set[set].asks && fds[i].revents & of_set[set].shows) {
                weir_fd_add(fds[i].fd, &sets[set]);
                bits++;
            }
    return bits;
}

static int select_in(struct micro_process *process, int count, struct weir_fd_set sets[SETS], uint64_t timeout_us)
{
    struct weir_pollfd fds[CLIENT_CHANNELS];
    const int used = fds_of(process, count, sets, fds);
    if (used < 0)
        return used;
    const int found = wait_for(process, fds, (uint32_t)used, timeout_us);
    return found < 0 ? found : sets_of(fds, used, sets);
}

int weir_posix_select(int count, struct weir_fd_set *read, struct weir_fd_set *write, struct weir_fd_set *except,
                      struct weir_timeval *timeout)
{
    struct micro_process *process = micro_process_self();
    struct weir_fd_set *const callers[SETS] = {read, write, except};
    struct weir_fd_set sets[SETS] = {0};
    struct weir_timeval time = {0};
    bool bad = timeout && bsd_copy_in(&process->bsd, &time, timeout, sizeof time);
    for (int set = 0; set < SETS; set++)
        bad |= callers[set] && bsd_copy_in(&process->bsd, &sets[set], callers[set], sizeof *sets);
    if (bad)
        return bsd_fail(&process->bsd, WEIR_FAULT);
    if (count < 0 || count > WEIR_FD_SETSIZE || time.tv_sec < 0 || time.tv_usec < 0 || time.tv_usec >= 1000000)
        return bsd_fail(&process->bsd, WEIR_INVALID);
    const uint64_t timeout_us = timeout ? (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec : WEIR_NEVER;
    int found = select_in(process, count, sets, timeout_us);
    for (int set = 0; set < SETS && found >= 0; set++)
        if (callers[set] && bsd_copy_out(&process->bsd, callers[set], &sets[set], sizeof *sets))
            found = WEIR_FAULT;
    return bsd_result(&process->bsd, found);
}
