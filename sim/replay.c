// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "replay.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_BYTES 8192u

// One is written while the other counts: a signal may come at any time.
static char commands[2][COMMAND_BYTES];
static const char *volatile command = commands[0];

const char *replay_command(void) { return command; }

void replay_set(const char *format, ...)
{
    char *const other = commands[command == commands[0]];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(other, COMMAND_BYTES, format, arguments);
    va_end(arguments);
    command = other;
}

static void put(const char *text)
{
    size_t length = strlen(text);
    while (length) {
        const ssize_t written = write(STDERR_FILENO, text, length);
        if (written <= 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

// Calls only what may be called from a handler.
static void tell(void)
{
    if (!*command)
        return;
    put("\nto replay: ");
    put(command);
    put("\n");
}

static void tell_signal(int number)
{
    const char digits[] = {(char)('0' + number / 10), (char)('0' + number % 10), 0};
    put("\nended by signal ");
    put(number < 10 ? digits + 1 : digits);
    tell();
    raise(number);  // the handler is gone (SA_RESETHAND): it comes when this one returns, and ends the process
}

// A sanitizer that ends the process calls back. Where it is a library of its own, as GCC's for undefined behaviour is
// beside that for addresses, it is another's callback that is set, but it tells of each report; none is survived
// (-fno-sanitize-recover).
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));
void __ubsan_on_report(void);
void __ubsan_on_report(void) { tell(); }

// A sanitizer reports some of the signals itself: those stay its own.
static void watch_signal(int number)
{
    struct sigaction action = {.sa_handler = tell_signal, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND}, before;
    if (sigaction(number, NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
        sigaction(number, &action, NULL);
}

void replay_watch(void)
{
    static char stack[65536];  // an overflow of the usual one is a signal, too
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t before;
    if (sigaltstack(NULL, &before) == 0 && before.ss_flags & SS_DISABLE)
        sigaltstack(&other, NULL);
    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(tell);
    watch_signal(SIGABRT);
    watch_signal(SIGSEGV);
    watch_signal(SIGBUS);
    watch_signal(SIGFPE);
    watch_signal(SIGILL);
}
