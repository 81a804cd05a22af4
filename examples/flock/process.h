// SPDX-License-Identifier: BSD-2-Clause
// What a process of these examples has beside its sockets. Text comes out whole, never mixed with another process's.
#ifndef EXAMPLES_FLOCK_PROCESS_H
#define EXAMPLES_FLOCK_PROCESS_H

void print(const char *text);
void print_number(const char *before, unsigned number, const char *behind);

#endif
