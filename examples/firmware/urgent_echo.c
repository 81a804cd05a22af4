// SPDX-License-Identifier: BSD-2-Clause
// On the cooperative kernel, Romantiki's echo server (port 5200) between a task above the stack that wants to run each
// millisecond and one below all that computes, and yields. How late the former came at most, and how often, is for a
// test to read from the board's memory.
#include "boards/board.h"
#include "romantiki/romantiki.h"

#define ECHO_BYTES 512
#define BEAT_US 1000u
#ifndef URGENT_PRIORITY
#define URGENT_PRIORITY 200
#endif

volatile uint32_t beats, latest_us, rounds;
static uint8_t data[ECHO_BYTES];
DEF_LST_SOCKET(listener, 1);
DEF_STRM_SOCKET(client);
DEF_TASK(urgent_task);
DEF_TASK(busy_task);
DEF_TIMER(beat);

BFD UrgentTask(void *prm)
{
    AUTO uint64_t next_us;
    (void)prm;

    BF_BEGIN
    next_us = board_now_us() + BEAT_US;
    TIMER_START(&beat, 1, 1);
    for (;;) {
        TIMER_WAIT(&beat);
        const uint64_t now_us = board_now_us();
        if (now_us > next_us && now_us - next_us > latest_us)
            latest_us = (uint32_t)(now_us - next_us);
        for (; next_us <= now_us; next_us += BEAT_US)
            beats++;
    }
    BF_END
}

BFD BusyTask(void *prm)
{
    (void)prm;

    BF_BEGIN
    for (;;) {
        rounds++;
        YIELD;
    }
    BF_END
}

BFD EchoTask(void *prm)
{
    AUTO unsigned got, sent;
    AUTO int res;
    (void)prm;

    BF_BEGIN
    TASK_START(urgent_task, UrgentTask, NULL, URGENT_PRIORITY);
    TASK_START(busy_task, BusyTask, NULL, 0);
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    socket_listen(&listener, 5200, 0);
    for (;;) {
        socket_accept(&listener, &client, &res);
        if (res != EOK)
            continue;
        do {
            socket_recv(&client, data, ECHO_BYTES, &got, &res, NULL);
            socket_send(&client, data, got, &sent, &res, NULL);
        } while (got && got == sent);
        socket_close(&client);
    }
    BF_END
}

ROMANTIKI_MAIN(EchoTask, 1)
