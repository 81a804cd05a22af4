// SPDX-License-Identifier: BSD-2-Clause
// alarm ends what a thread waits in: LyraOS's calls and its wait queues over the preemptive kernel, in virtual time.
#include <errno.h>

#include "component.h"

#include "api/lyraos/alarm.h"
#include "api/lyraos/wait.h"

#define SECOND UINT64_C(1000000)

static struct signals signals;
static struct wait_queue_entry *queue;
static int seen;

static void on_alarm(int signal) { seen += signal; }

static int last_errno(void) { return (int)thread_self()->user; }
static bool took(uint64_t since_us, uint64_t us) { return now_us >= since_us + us && now_us < since_us + us + 10000; }

static void scenario(void)
{
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(9)};
    char byte;
    good &= alarm(1) == 0;  // gets no signals yet
    signals_init(&signals, thread_self());
    signal_set(&signals, SIGALRM, on_alarm);
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    good &= s >= 0 && bind(s, (const struct sockaddr *)&local, sizeof local) == 0;

    uint64_t began_us = now_us;
    good &= alarm(2) == 0;
    good &= recv(s, &byte, 1, 0) == -1 && last_errno() == EINTR && took(began_us, 2 * SECOND);
    good &= signal_deliver() == 1 && seen == SIGALRM;

    fd_set set;
    FD_ZERO(&set);
    FD_SET(s, &set);
    began_us = now_us;
    good &= alarm(5) == 0 && alarm(3) == 5;
    good &= select(0, &set, NULL, NULL, NULL) == -1 && last_errno() == EINTR && took(began_us, 3 * SECOND);
    good &= signal_deliver() == 1 && seen == 2 * SIGALRM;

    began_us = now_us;
    good &= alarm(1) == 0;
    interruptible_sleep_on(&queue);
    good &= took(began_us, SECOND) && !queue && signal_deliver() == 1;

    // Taken back: the socket's own time ends the wait.
    struct timeval time = {4, 0};
    good &= alarm(2) == 0 && alarm(0) == 2;
    began_us = now_us;
    good &= select(0, &set, NULL, NULL, &time) == 0 && took(began_us, 4 * SECOND) && signal_deliver() == 0;
    good &= closesocket(s) == 0;
}

static void alarms_end_waits(void **state)
{
    (void)state;
    component_run(scenario, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alarms_end_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
