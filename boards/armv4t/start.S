// SPDX-License-Identifier: BSD-2-Clause
// Start-up of an ARM920T or ARM926EJ-S, whatever state a boot loader left it in: caches and MMU off and empty, vectors, a
// stack for interrupts and one for all else, memory, main.
    .syntax unified
    .arm
    .section .vectors, "ax"
    .global link_entry
link_entry:
    ldr pc, =reset                  // from the first megabyte, where the MMU shows them, to where the code is linked
    ldr pc, =fault_entry
    ldr pc, =svc_entry
    ldr pc, =fault_entry
    ldr pc, =fault_entry
    ldr pc, =fault
    ldr pc, =irq_entry
    ldr pc, =fault
    .ltorg

    .text
reset:
    msr cpsr_c, #0xd3               // supervisor mode, no interrupts
    mrc p15, 0, r0, c1, c0, 0
    bic r0, r0, #0x1000             // instruction cache
    bic r0, r0, #0x2300             // vectors at 0; protection bits R and S as mmu_start sets them
    bic r0, r0, #0x000d             // data cache, write buffer, MMU
    mcr p15, 0, r0, c1, c0, 0
    mov r0, #0
    mcr p15, 0, r0, c7, c7, 0       // nothing is left in the caches and the TLBs. (U-Boot's data cache is off.)
    mcr p15, 0, r0, c8, c7, 0
    mcr p15, 0, r0, c7, c10, 4      // the write buffer is empty
    msr cpsr_c, #0xd2               // IRQ mode
    ldr sp, =link_irq_stack_top
    msr cpsr_c, #0xdf               // system mode
    ldr sp, =link_stack_top
    ldr r0, =link_bss
    ldr r1, =link_bss_end
    mov r2, #0
1:  cmp r0, r1
    strlo r2, [r0], #4
    blo 1b
    bl  mmu_start
    msr cpsr_c, #0x5f               // interrupts on; fast ones are not used
    bl  main
    .weak svc_entry                 // a kernel's
    .weak fault_entry
svc_entry:
fault_entry:
fault:
    b   fault

// Without a kernel, which has an entry of its own: what is interrupted runs in system mode, whose registers are saved here.
    .weak irq_entry
irq_entry:
    sub lr, lr, #4
    push {r0-r3, r12, lr}
    bl  interrupt_handler
    ldm sp!, {r0-r3, r12, pc}^
