// SPDX-License-Identifier: BSD-2-Clause
// steer_frame for Linux: a socket filter that gives the number of the queue. A load beyond the frame's end ends it with
// 0, as what is too short is the first member's.
#define _GNU_SOURCE  // syscall
#include <errno.h>
#include <string.h>

#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "steer.h"

enum { R0, R6 = 6, ADDRESSES, HEADER, PORTS };  // registers: what is loaded, the packet, and ours

// clang-format off
#define LOAD(size, at) {.code = BPF_LD | BPF_ABS | (size), .imm = (at)}
#define LOAD_BEHIND(size, at) {.code = BPF_LD | BPF_IND | (size), .src_reg = HEADER, .imm = (at)}
#define SET(to, from) {.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from)}
#define SET_NUMBER(to, number) {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = (to), .imm = (int)(number)}
#define XOR(to, from) {.code = BPF_ALU64 | BPF_XOR | BPF_X, .dst_reg = (to), .src_reg = (from)}
#define OPERATE(operation, to, number) {.code = BPF_ALU | (operation) | BPF_K, .dst_reg = (to), .imm = (int)(number)}
#define IF(comparison, number, instructions) \
    {.code = BPF_JMP | (comparison) | BPF_K, .dst_reg = R0, .imm = (number), .off = (instructions)}
#define SKIP(instructions) {.code = BPF_JMP | BPF_JA, .off = (instructions)}
#define END {.code = BPF_JMP | BPF_EXIT}
// clang-format on

int steer_program(uint32_t members)
{
    const struct bpf_insn code[] = {
        SET(R6, 1),
        LOAD(BPF_H, 12),
        IF(BPF_JEQ, 0x0800, 3),   // IPv4
        IF(BPF_JEQ, 0x86dd, 20),  // IPv6
        SET_NUMBER(R0, 0),
        END,
        // IPv4 that is no fragment, TCP or UDP
        LOAD(BPF_H, 20),
        IF(BPF_JSET, 0x3fff, -4),
        LOAD(BPF_B, 23),
        IF(BPF_JEQ, 6, 1),
        IF(BPF_JNE, 17, -7),
        LOAD(BPF_W, 26),
        SET(ADDRESSES, R0),
        LOAD(BPF_W, 30),
        XOR(ADDRESSES, R0),
        LOAD(BPF_B, 14),
        OPERATE(BPF_AND, R0, 15),
        OPERATE(BPF_LSH, R0, 2),
        SET(HEADER, R0),
        LOAD_BEHIND(BPF_H, 14),
        SET(PORTS, R0),
        LOAD_BEHIND(BPF_H, 16),
        XOR(PORTS, R0),
        SKIP(23),
        // IPv6 with TCP or UDP at once
        LOAD(BPF_B, 20),
        IF(BPF_JEQ, 6, 1),
        IF(BPF_JNE, 17, -23),
        LOAD(BPF_W, 22),
        SET(ADDRESSES, R0),
        LOAD(BPF_W, 26),
        XOR(ADDRESSES, R0),
        LOAD(BPF_W, 30),
        XOR(ADDRESSES, R0),
        LOAD(BPF_W, 34),
        XOR(ADDRESSES, R0),
        LOAD(BPF_W, 38),
        XOR(ADDRESSES, R0),
        LOAD(BPF_W, 42),
        XOR(ADDRESSES, R0),
        LOAD(BPF_W, 46),
        XOR(ADDRESSES, R0),
        LOAD(BPF_W, 50),
        XOR(ADDRESSES, R0),
        LOAD(BPF_H, 54),
        SET(PORTS, R0),
        LOAD(BPF_H, 56),
        XOR(PORTS, R0),
        XOR(ADDRESSES, PORTS),
        OPERATE(BPF_MUL, ADDRESSES, 0x9e3779b1u),
        OPERATE(BPF_RSH, ADDRESSES, 16),
        OPERATE(BPF_MOD, ADDRESSES, members),
        SET(R0, ADDRESSES),
        END,
    };
    union bpf_attr about;
    memset(&about, 0, sizeof about);
    about.prog_type = BPF_PROG_TYPE_SOCKET_FILTER;
    about.insn_cnt = sizeof code / sizeof code[0];
    about.insns = (uintptr_t)code;
    about.license = (uintptr_t) "BSD";
    const int program = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &about, sizeof about);
    return program < 0 ? -errno : program;
}
