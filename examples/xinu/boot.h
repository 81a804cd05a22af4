// SPDX-License-Identifier: BSD-2-Clause
// What Xinu's start does before its first thread: kernel, stack, interfaces, devices. A program has xinu_main instead
// of main.
#ifndef EXAMPLES_XINU_BOOT_H
#define EXAMPLES_XINU_BOOT_H

#include <stdbool.h>

void xinu_main(void);                                 // the program; the first thread
bool start_thread(void (*entry)(int), int argument);  // another one; false: there are no more
void sleep_ms(unsigned ms);                           // Xinu's sleep
void print(const char *text);                         // on the console
void print_address(const unsigned char address[4]);

#endif
