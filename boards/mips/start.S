// SPDX-License-Identifier: BSD-2-Clause
// Start-up of a MIPS32 release 2 core (MD00090, chapters 6 and 9) behind a boot loader that has set up memory and caches: vectors, memory,
// main; and the way of every interrupt. Code and data lie in KUSEG, which one entry of the TLB maps to the memory of the same address;
// exceptions begin in KSEG0, whose addresses are 0x80000000 above, and jumps stay there.
    .set noreorder
    .set noat

#define INDEX $0
#define ENTRY_LO0 $2
#define ENTRY_LO1 $3
#define PAGE_MASK $5
#define WIRED $6
#define ENTRY_HI $10
#define STATUS $12
#define CAUSE $13
#define EPC $14
#define EBASE $15, 1
#define CONFIG1 $16, 1
#define ENTRY_CACHED 0x1f           // of the TLB: cached, may be written, valid, of all address spaces
#define STATUS_START 0x10400000     // CU0, BEV: interrupts off
#define STATUS_RUN 0                // no coprocessor but 0, and that in kernel mode only
// What a thread's registers are saved in: each at its number, EPC at that of zero, Status, Hi at those of k0 and k1, Lo behind.
#define FRAME 144
#define AT(n) (4 * (n))

    .section .vectors, "ax"
    .org 0x000                      // TLB: an address that is not mapped
    j   interrupt
    nop
    .org 0x180
    j   interrupt
    nop
    .org 0x200                      // where Cause.IV leads
    j   interrupt
    nop

    .text
    .global link_entry
    .ent link_entry
link_entry:
    li   $8, STATUS_START
    mtc0 $8, STATUS
    mtc0 $0, CAUSE                  // no software interrupt, IV off
    ehb
    la   $8, link_vectors
    lui  $9, 0x8000
    or   $8, $8, $9
    mtc0 $8, EBASE
    // The TLB: no entry matches anything, and then entry 0, for good, maps two pages of 64 MB.
    mfc0 $9, CONFIG1
    ext  $9, $9, 25, 6              // the last entry's number
    mtc0 $0, ENTRY_LO0
    mtc0 $0, ENTRY_LO1
    mtc0 $0, PAGE_MASK
    lui  $8, 0x8000
1:  mtc0 $8, ENTRY_HI
    mtc0 $9, INDEX
    ehb
    tlbwi
    addiu $8, $8, 0x2000
    bnez $9, 1b
    addiu $9, $9, -1
    li   $8, ENTRY_CACHED
    mtc0 $8, ENTRY_LO0
    li   $8, ENTRY_CACHED | 0x04000000 >> 6
    mtc0 $8, ENTRY_LO1
    li   $8, 0x07ffe000
    mtc0 $8, PAGE_MASK
    mtc0 $0, ENTRY_HI
    mtc0 $0, INDEX
    li   $8, 1
    mtc0 $8, WIRED
    ehb
    tlbwi
    ehb
    li   $8, STATUS_RUN
    mtc0 $8, STATUS
    ehb
    la   $28, _gp
    la   $29, link_stack_top - 16
    la   $8, link_bss
    la   $9, link_bss_end
1:  beq  $8, $9, 2f
    nop
    sw   $0, 0($8)
    b    1b
    addiu $8, $8, 4
2:  la   $25, main
    jalr $25
    nop
    .end link_entry
fault:
    b   fault
    nop

// Saves everything on the stack of what was interrupted, works on a stack of its own with interrupts off (EXL), and goes on with the frame
// that the handler returns.
    .global interrupt
    .ent interrupt
interrupt:
    addiu $29, $29, -FRAME
    sw   $1, AT(1)($29)
    sw   $2, AT(2)($29)
    sw   $3, AT(3)($29)
    sw   $4, AT(4)($29)
    sw   $5, AT(5)($29)
    sw   $6, AT(6)($29)
    sw   $7, AT(7)($29)
    sw   $8, AT(8)($29)
    sw   $9, AT(9)($29)
    sw   $10, AT(10)($29)
    sw   $11, AT(11)($29)
    sw   $12, AT(12)($29)
    sw   $13, AT(13)($29)
    sw   $14, AT(14)($29)
    sw   $15, AT(15)($29)
    sw   $16, AT(16)($29)
    sw   $17, AT(17)($29)
    sw   $18, AT(18)($29)
    sw   $19, AT(19)($29)
    sw   $20, AT(20)($29)
    sw   $21, AT(21)($29)
    sw   $22, AT(22)($29)
    sw   $23, AT(23)($29)
    sw   $24, AT(24)($29)
    sw   $25, AT(25)($29)
    sw   $28, AT(28)($29)
    sw   $30, AT(30)($29)
    sw   $31, AT(31)($29)
    mfhi $8
    mflo $9
    sw   $8, AT(27)($29)
    sw   $9, AT(32)($29)
    mfc0 $8, STATUS
    sw   $8, AT(26)($29)
    // Who was just about to wait shall not, since what it would wait for has come.
    mfc0 $8, EPC
    la   $9, mips_idle_begin
    subu $9, $8, $9
    sltiu $9, $9, mips_idle_end - mips_idle_begin
    beqz $9, 1f
    nop
    la   $8, mips_idle_end
1:  sw   $8, AT(0)($29)
    move $4, $29
    la   $28, _gp
    la   $29, link_irq_stack_top - 16
    jal  mips_exception
    nop
    move $4, $2
    .end interrupt

// Goes on with the frame in a0.
    .global mips_continue
    .ent mips_continue
mips_continue:
    move $29, $4
    di                              // for the start, which comes from no exception
    ehb
    lw   $8, AT(26)($29)
    ori  $8, $8, 2                  // EXL: until eret
    mtc0 $8, STATUS
    ehb
    lw   $8, AT(0)($29)
    mtc0 $8, EPC
    lw   $8, AT(27)($29)
    lw   $9, AT(32)($29)
    mthi $8
    mtlo $9
    lw   $1, AT(1)($29)
    lw   $2, AT(2)($29)
    lw   $3, AT(3)($29)
    lw   $4, AT(4)($29)
    lw   $5, AT(5)($29)
    lw   $6, AT(6)($29)
    lw   $7, AT(7)($29)
    lw   $8, AT(8)($29)
    lw   $9, AT(9)($29)
    lw   $10, AT(10)($29)
    lw   $11, AT(11)($29)
    lw   $12, AT(12)($29)
    lw   $13, AT(13)($29)
    lw   $14, AT(14)($29)
    lw   $15, AT(15)($29)
    lw   $16, AT(16)($29)
    lw   $17, AT(17)($29)
    lw   $18, AT(18)($29)
    lw   $19, AT(19)($29)
    lw   $20, AT(20)($29)
    lw   $21, AT(21)($29)
    lw   $22, AT(22)($29)
    lw   $23, AT(23)($29)
    lw   $24, AT(24)($29)
    lw   $25, AT(25)($29)
    lw   $28, AT(28)($29)
    lw   $30, AT(30)($29)
    lw   $31, AT(31)($29)
    addiu $29, $29, FRAME
    ehb
    eret
    .end mips_continue

// Interrupts on, and wait for one: not with them off, since older cores do not wake then. An interrupt before `wait` skips it (above).
    .global mips_idle
    .ent mips_idle
mips_idle:
    ei
mips_idle_begin:
    ehb
    wait
mips_idle_end:
    jr   $31
    nop
    .end mips_idle
