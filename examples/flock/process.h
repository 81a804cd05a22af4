// SPDX-License-Identifier: BSD-2-Clause
// What a process of these examples has beside its sockets, and the programs of an image. Text comes out whole, never
// mixed with another process's.
#ifndef EXAMPLES_FLOCK_PROCESS_H
#define EXAMPLES_FLOCK_PROCESS_H

void print(const char *text);
void print_number(const char *before, unsigned number, const char *behind);
// Memory that is not the calling process's.
void *foreign_memory(void);

#define PROGRAMS_MAX 4
struct program {
    const char *name;
    int (*run)(void);  // a process; 0: well
};
extern const struct program programs[PROGRAMS_MAX];  // those that end stand first, behind the last are zeros

#endif
