// SPDX-License-Identifier: BSD-2-Clause
// The listings of LyraOS's paper as they stand: alarm by add_timer (figure 9), sock_wake_async (figure 11), fd_set as
// an array of pointers (figure 7); wait queues as Linux 2.0 declares them. In virtual time.
#define LYRAOS_FD_POINTERS
#define lyraos_select pointers_select
#define lyraos_fd_find pointers_fd_find
#define lyraos_fd_add pointers_fd_add
#define lyraos_fd_remove pointers_fd_remove
#include "api/lyraos/select.c"

#include "component.h"

#include "api/lyraos/linux20.h"

#define JIFFY UINT64_C(10000)
enum { SLEEPER = 12, TIMERS = 15 };

static struct thread timers, sleeper;
static struct signals signals;
static char trace[32];

static void say(unsigned long letter) { trace[strlen(trace)] = (char)letter; }

// --- figure 9
// ---------------------------------------------------------------------------------------------------------------------
static void do_alarm(unsigned long data) { send_signal(data, SIGALRM); }

static int figure_9_alarm(int t)
{
    static struct timer_list tl;
    tl.expires = jiffies + t * 100;
    tl.data = self_thread_id();
    tl.function = do_alarm;
    add_timer(&tl);
    return 0;
}

// --- figure 11, with a queue as Linux 2.0 declares it
// ----------------------------------------------------------------------------------------
static struct wait_queue *queue = NULL;
static struct sock sock = {&queue};
static struct socket a_socket = {&sock};

static void sleeps(void *unused)
{
    struct wait_queue wait = {current, NULL};
    (void)unused;
    interruptible_sleep_on(&queue);
    say('i');
    sleep_on(sock.sleep);
    say('s');
    add_wait_queue(&queue, &wait);
    schedule();
    remove_wait_queue(&queue, &wait);
    say('w');
}

static struct timer_list again;
static void rearms(unsigned long letter)
{
    say(letter);
    if (letter < 'r') {
        again.data++;
        again.expires = jiffies + 1;
        add_timer(&again);
    }
}

static void timers_come_in_order(void)
{
    struct timer_list a = {.expires = jiffies + 3, .data = 'a', .function = say},
                      b = {.expires = jiffies + 2, .data = 'b', .function = say};
    struct timer_list c = {.expires = jiffies + 3, .data = 'c', .function = say},
                      d = {.expires = jiffies - 5, .data = 'd', .function = say};
    const uint64_t began_us = now_us;
    add_timer(&a);
    add_timer(&b);
    add_timer(&c);
    add_timer(&d);
    good &= del_timer(&c) == 1 && del_timer(&c) == 0;
    b.expires = jiffies + 4;
    add_timer(&b);  // later than it was
    (void)thread_sleep_until(began_us + 10 * JIFFY);
    good &= !strcmp(trace, "dab") && del_timer(&a) == 0;
    again = (struct timer_list){.expires = jiffies + 1, .data = 'p', .function = rearms};
    add_timer(&again);
    (void)thread_sleep_until(now_us + 10 * JIFFY);
    good &= !strcmp(trace, "dabpqr");
    memset(trace, 0, sizeof trace);
}

static void the_alarm_ends_a_wait(void)
{
    struct wait_queue *nobody = NULL;
    const uint64_t began_us = now_us;
    signals_init(&signals, thread_self());
    good &= figure_9_alarm(2) == 0;
    interruptible_sleep_on(&nobody);
    good &= now_us - began_us >= 199 * JIFFY && now_us - began_us <= 201 * JIFFY && signal_take(&signals) == SIGALRM &&
            !nobody;
}

static void a_socket_wakes_its_sleepers(void)
{
    const struct thread_config config = {"sleeper", sleeps, NULL, stacks[4], STACK_BYTES, SLEEPER};
    good &= sock_wake_async(NULL, 0) == -1;
    good &= thread_create(&sleeper, &config) && queue && !strcmp(trace, "");
    good &= sock_wake_async(&a_socket, 0) == 0 && !strcmp(trace, "i");
    thread_wakeup(&sleeper);  // it is in sleep_on now, which this does not end
    good &= !strcmp(trace, "i");
    good &= sock_wake_async(&a_socket, 1) == 0 && !strcmp(trace, "is");
    good &= sock_wake_async(&a_socket, 2) == 0 && !strcmp(trace, "isw") && !queue;
}

static void sets_hold_pointers(void)
{
    fd_set set;
    void *const socket_7 = (void *)(intptr_t)7;
    FD_ZERO(&set);
    FD_SET(socket_7, &set);
    FD_SET(9, &set);
    FD_SET(7, &set);  // it is in there
    good &= set.nr == 2 && set.fd[0] == socket_7 && FD_ISSET(socket_7, &set) && FD_ISSET(9, &set) && !FD_ISSET(8, &set);
    FD_CLR(socket_7, &set);
    good &= set.nr == 1 && !FD_ISSET(7, &set) && set.fd[0] == (void *)(intptr_t)9;
    good &= select(0, &set, NULL, NULL, &(struct timeval){0, 0}) == -1;  // there is no such socket
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    FD_ZERO(&set);
    FD_SET((void *)(intptr_t)s, &set);
    good &= s >= 0 && select(0, NULL, &set, NULL, &(struct timeval){0, 0}) == 1 && FD_ISSET(s, &set);
    FD_ZERO(&set);
    FD_SET(s, &set);
    good &= select(0, &set, NULL, NULL, &(struct timeval){0, 0}) == 0 && set.nr == 0 && closesocket(s) == 0;
}

static void scenario(void)
{
    const struct thread_config timing = {"timers", lyraos_timers, NULL, stacks[3], STACK_BYTES, TIMERS};
    good &= thread_create(&timers, &timing);
    sets_hold_pointers();
    timers_come_in_order();
    the_alarm_ends_a_wait();
    a_socket_wakes_its_sleepers();
    thread_delete(&timers);
}

static void the_listings_of_the_paper_work(void **state)
{
    (void)state;
    component_run(scenario, 1234567);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_listings_of_the_paper_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
