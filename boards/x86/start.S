// SPDX-License-Identifier: BSD-2-Clause
// Start-up of a PC, as a boot loader of the Multiboot specification (version 0.6.96) leaves it: 32 bits, flat, interrupts off. Then segments
// of our own, cleared memory, a stack, main; and the entries of interrupts.
    .section .multiboot, "a"
    .align 4
    .long 0x1badb002, 0, -0x1badb002

    .text
    .global link_entry
link_entry:
    cli
    cld
    lgdt gdt_pointer
    ljmp $0x08, $1f
1:  mov $0x10, %eax
    mov %eax, %ss
    mov $0x23, %eax                 // data as in ring 3, so that nobody has to change it
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %fs
    mov %eax, %gs
    mov $link_stack_top, %esp
    mov $link_bss, %edi
    mov $link_bss_end, %ecx
    sub %edi, %ecx
    xor %eax, %eax
    rep stosb
    push %ebx                       // what the boot loader tells
    call x86_start
    call main
halt:
    cli
    hlt
    jmp halt

// A stub for each of the processor's exceptions and the interrupts above them: its number, then irq_entry.
    .set vector, 0
    .rept 64
    .align 16
    .if vector == 0
    .global x86_stubs
x86_stubs:
    .endif
    .if vector < 32
    push $vector
    jmp fault
    .elseif vector == 62
    push $vector
    jmp call_entry
    .else
    push $vector
    jmp irq_entry
    .endif
    .set vector, vector + 1
    .endr

    .weak call_entry                // a kernel's, where it has processes
call_entry:
// A process's fault comes by the entries' stack, whose top holds where the process's own is.
fault:
    .weak process_fault             // a kernel's
    mov $process_fault, %eax
    test %eax, %eax
    jz  1f
    cmp $x86_entry_stack, %esp
    jb  1f
    cmp $x86_entry_stack_end, %esp
    jae 1f
    mov x86_entry_stack_end - 8, %esp
    call *%eax
1:  call x86_fault
    jmp halt

// Without a kernel, which has an entry of its own: the registers that C may spoil are saved on the stack that was interrupted.
    .weak irq_entry
irq_entry:
    push %eax
    push %ecx
    push %edx
    pushl 12(%esp)
    cld
    call x86_interrupt
    add $4, %esp
    pop %edx
    pop %ecx
    pop %eax
    add $4, %esp
    iret

// Flat: code and data of ring 0, of ring 3, and the task state segment, which x86.c fills in.
    .data
    .align 8
    .global x86_gdt
x86_gdt:
gdt:
    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0x00cffa000000ffff, 0x00cff2000000ffff, 0
gdt_pointer:
    .word gdt_pointer - gdt - 1
    .long gdt
    .bss
    .align 8
    .global x86_entry_stack_end
x86_entry_stack:
    .skip 1024                      // room to tell a fault
x86_entry_stack_end:
    .section .note.GNU-stack, "", @progbits
