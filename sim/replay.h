// SPDX-License-Identifier: BSD-2-Clause
// The command that repeats what runs now, told however it ends: the text is made beforehand, so that a handler of
// signals needs only write it. A process has one, as it has one set of handlers: this is for programs, not for
// networks.
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

// From here on a signal that ends the process (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, and so assert) and a
// sanitizer's report are followed by the command, on standard error. The process ends by the signal, as without. Call
// it once.
void replay_watch(void);
// What runs now. Of a longer text the beginning counts.
void replay_set(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *replay_command(void);  // "": replay_set was not called

#endif
