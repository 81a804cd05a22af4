/* SPDX-License-Identifier: BSD-2-Clause */
/* A process's calls (micro.h): arguments and results where a function has them, the number (enum system_call) in r12. */
    .syntax unified
    .cpu cortex-m3
    .thumb
    .macro system_call name, number
    .section .text.\name, "ax"
    .global \name
    .thumb_func
\name:
    mov r12, #\number
    svc 0
    bx lr
    .endm
    system_call micro_call, 0
    system_call micro_receive, 1
    system_call micro_reply, 2
    system_call micro_notify, 3
    system_call micro_now_us, 4
    system_call micro_interrupt_on, 5
    system_call micro_print, 6
    system_call micro_random, 7
    system_call micro_yield, 8
    system_call micro_exit, 9
    system_call micro_owns, 10
    system_call micro_self, 11
