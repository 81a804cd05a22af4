// SPDX-License-Identifier: BSD-2-Clause
// Many sessions served by one task: it selects among sockets that do not block. What it echoes is counted by a second
// task, of a higher priority, that waits for a semaphore; the line "?" is answered with the count. One source: tasks of
// the cooperative kernel on a board, or
// (-DROMANTIKI_BSD) POSIX threads and BSD sockets. A client that does not read its answers is let go.
#include "romantiki/romantiki.h"

#define PORT 5201
#define SESSIONS 3
#define LINE_BYTES 256

DEF_LST_SOCKET(listener, SESSIONS);
DEF_STRM_SOCKET(sessions[SESSIONS]);
DEF_SEMAPHORE(echoed);  // one for each message
DEF_SEMAPHORE(guard);   // of the count
DEF_TASK(counter_task);
static bool taken[SESSIONS];
static unsigned char line[LINE_BYTES];
static unsigned messages;

BFD CounterTask(void *prm)
{
    AUTO int res;
    (void)prm;

    BF_BEGIN
    for (;;) {
        SEM_WAIT(&echoed, NULL, &res);
        SEM_WAIT(&guard, NULL, &res);
        messages++;
        SEM_POST(&guard);
    }
    BF_END
}

// `number` and a line's end; their length.
static unsigned write_number(unsigned char *to, unsigned number)
{
    unsigned char digits[10];
    unsigned count = 0, length = 0;
    do
        digits[count++] = (unsigned char)('0' + number % 10);
    while (number /= 10);
    while (count)
        to[length++] = digits[--count];
    to[length++] = '\n';
    return length;
}

// What session `i` sent is answered; a session that ended is closed.
BFD ServeSession(unsigned i)
{
    AUTO unsigned rxed_len, txed_len;
    AUTO int res;

    BF_BEGIN
    socket_recv(&sessions[i], line, LINE_BYTES, &rxed_len, &res, NULL);
    if (res == EWAIT) {
        BF_RETURN;
    }
    if (rxed_len && line[0] == '?') {
        SEM_WAIT(&guard, NULL, &res);
        rxed_len = write_number(line, messages);
        SEM_POST(&guard);
    } else if (rxed_len) {
        SEM_POST(&echoed);
    }
    txed_len = 0;
    if (rxed_len) {
        socket_send(&sessions[i], line, rxed_len, &txed_len, &res, NULL);
    }
    if (!rxed_len || txed_len != rxed_len) {
        socket_close(&sessions[i]);
        taken[i] = false;
    }
    BF_END
}

// What select is to look at: the open sessions, and the listener while there is room for one more. The number of
// sockets.
static unsigned choose(struct romantiki_socket **list, unsigned *free_one)
{
    unsigned count = 0;
    *free_one = SESSIONS;
    for (unsigned i = 0; i < SESSIONS; i++) {
        if (taken[i])
            list[count++] = &sessions[i];
        else
            *free_one = i;
    }
    if (*free_one < SESSIONS)
        list[count++] = &listener;
    return count;
}

BFD SessionsTask(void *prm)
{
    static struct romantiki_socket *list[SESSIONS + 1];
    AUTO unsigned count, free_one, ready, i;
    AUTO int res;
    (void)prm;

    BF_BEGIN
    SEM_POST(&guard);
    TASK_START(counter_task, CounterTask, NULL, 2);
    LST_SOCKET(listener, SOCK_MODE(SOCK_NONBLOCKING));
    for (i = 0; i < SESSIONS; i++)
        STRM_SOCKET(sessions[i], SOCK_MODE(SOCK_NONBLOCKING), NULL, 0);
    socket_listen(&listener, PORT, 0);
    for (;;) {
        count = choose(list, &free_one);
        socket_select(list, count, &ready, NULL);
        for (i = 0; i < count; i++) {
            if (!(ready & 1u << i))
                continue;
            if (list[i] != &listener) {
                BF_CALL(ServeSession((unsigned)(list[i] - sessions)));
                continue;
            }
            socket_accept(&listener, &sessions[free_one], &res);
            taken[free_one] = res == EOK;
        }
    }
    BF_END
}

ROMANTIKI_MAIN(SessionsTask, 1)
