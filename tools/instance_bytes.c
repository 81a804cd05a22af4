// SPDX-License-Identifier: BSD-2-Clause
// Prints what weir_size() says with default limits, run by qemu-arm: a Linux program without a C library, made with a
// firmware's options.
#include "weir/instance.h"
static void out(unsigned long n)
{
    char text[12], *p = text + sizeof text;
    *--p = '\n';
    do {
        *--p = (char)('0' + n % 10);
    } while (n /= 10);
    register long r0 __asm__("r0") = 1;
    register const char *r1 __asm__("r1") = p;
    register long r2 __asm__("r2") = text + sizeof text - p;
    register long r7 __asm__("r7") = 4;
    __asm__ volatile("svc 0" : "+r"(r0) : "r"(r1), "r"(r2), "r"(r7) : "memory");
}
void _start(void)
{
    const struct weir_config config = {0};
    out(weir_size(&config));
    register long r0 __asm__("r0") = 0;
    register long r7 __asm__("r7") = 1;
    __asm__ volatile("svc 0" : : "r"(r0), "r"(r7));
}
