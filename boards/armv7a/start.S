// SPDX-License-Identifier: BSD-2-Clause
// Start-up of a Cortex-A: the other cores sleep, vectors, a stack for interrupts and one for all else, memory, main.
    .syntax unified
    .arm
    .section .vectors, "ax"
    .global link_entry
link_entry:
vectors:
    b   reset
    b   fault_entry
    b   svc_entry
    b   fault_entry
    b   fault_entry
    b   fault
    b   irq_entry
    b   fault

    .text
reset:
    cpsid aif
    mrc p15, 0, r0, c0, c0, 5       // MPIDR: the number of this core
    ands r0, r0, #3
    bne other
    ldr r0, =vectors
    mcr p15, 0, r0, c12, c0, 0      // VBAR
    cps #0x12                       // IRQ mode
    ldr sp, =link_irq_stack_top
    cps #0x1f                       // system mode
    ldr sp, =link_stack_top
    ldr r0, =link_bss
    ldr r1, =link_bss_end
    mov r2, #0
1:  cmp r0, r1
    strlo r2, [r0], #4
    blo 1b
    mrc p15, 0, r0, c1, c0, 2       // CPACR: the compiler may use the vector unit
    orr r0, r0, #0xf00000
    mcr p15, 0, r0, c1, c0, 2
    isb
    mov r0, #0x40000000
    vmsr fpexc, r0
    bl  mmu_start
    cpsie i
    bl  main
    .weak svc_entry                 // a kernel's
    .weak fault_entry
svc_entry:
fault_entry:
fault:
    b   fault
other:
    wfi
    b   other

// Without a kernel, which has an entry of its own: what is interrupted runs in system mode, whose registers are saved here.
    .weak irq_entry
irq_entry:
    sub lr, lr, #4
    push {r0-r3, r12, lr}
    vpush {d0-d7}
    vpush {d16-d31}
    vmrs r0, fpscr
    push {r0, r1}
    bl  interrupt_handler
    pop {r0, r1}
    vmsr fpscr, r0
    vpop {d16-d31}
    vpop {d0-d7}
    ldm sp!, {r0-r3, r12, pc}^
