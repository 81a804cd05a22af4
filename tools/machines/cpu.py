# SPDX-License-Identifier: BSD-2-Clause
"""An ARMv4T processor with its MMU, by Unicorn, for machines that QEMU does not have. Unicorn executes instructions; exceptions, interrupts and
sleep are made here. Its model of an ARM925T stands for the ARM920T: both are ARMv4T, so that an instruction of a later architecture is
undefined, and caches change nothing that the program sees in either."""
import ctypes
import pathlib
import struct

from unicorn import UC_ARCH_ARM, UC_HOOK_BLOCK, UC_HOOK_CODE, UC_HOOK_INSN_INVALID, UC_HOOK_INTR, UC_HOOK_MEM_INVALID, UC_MODE_ARM, Uc, UcError
from unicorn.arm_const import UC_ARM_REG_CPSR, UC_ARM_REG_LR, UC_ARM_REG_PC, UC_ARM_REG_SPSR, UC_CPU_ARM_TI925T
from unicorn.unicorn_py3.unicorn import uclib

MODE, THUMB, IRQS_OFF = 0x1F, 0x20, 0x80
USER, IRQ, SUPERVISOR, ABORT, UNDEFINED = 0x10, 0x12, 0x13, 0x17, 0x1B
NOWHERE = 0xFFFFFFFE   # until where Unicorn runs: no instruction is there
# Instructions until events are looked for. Counting them is also what makes Unicorn know where it is when a register's access stops it.
SLICE = 2000
COUNTER = pathlib.Path(__file__).resolve().parents[2] / "build/host/instruction_count.so"   # of count.c

STORE_MASK, STORE = 0x0D300000, 0x05000000   # str: with an offset (P), and the base register left as it is (W)

# msr to the status register's control field, by register and by value (any condition): what may bring interrupts on.
MSR = ((0x0FB100F0, 0x01210000), (0x0FB10000, 0x03210000))

# Unicorn's numbers of exceptions (those of QEMU): mode, vector, and what lies between the instruction that Unicorn shows and lr.
EXCEPTIONS = {1: (UNDEFINED, 0x04, 4), 2: (SUPERVISOR, 0x08, 0), 3: (ABORT, 0x0C, 4), 4: (ABORT, 0x10, 8)}
NAMES = {1: "an undefined instruction", 2: "a system call", 3: "a prefetch abort", 4: "a data abort"}


class Fault(Exception):
    """The program did what the machine does not have."""


class Cpu:
    """`interrupt()`: whether the interrupt line is high. `idle` is set by the machine when the program stops the processor's clock."""

    def __init__(self, interrupt):
        self.uc = Uc(UC_ARCH_ARM, UC_MODE_ARM)
        self.uc.ctl_set_cpu_model(UC_CPU_ARM_TI925T)
        self.interrupt, self.idle, self.pc = interrupt, False, 0
        self.exception, self.error = 0, None
        self.uc.hook_add(UC_HOOK_INTR, self.on_exception)
        self.uc.hook_add(UC_HOOK_INSN_INVALID, self.on_undefined)
        self.uc.hook_add(UC_HOOK_MEM_INVALID, self.on_missing)
        self.stopped = False

    def device(self, base, size, read, write):
        """Registers: read(offset) and write(offset, value) of words. What they raise ends the machine."""
        def guarded(function, *words):
            try:
                return function(*words)
            except Exception as error:   # Unicorn's callbacks let none through
                self.error = error
                self.uc.emu_stop()
                return 0

        def only_words(offset, bytes_):
            if bytes_ != 4 or offset % 4:
                raise Fault(f"{bytes_} bytes of the register {base + offset:08x}")

        def on_read(_, offset, bytes_, __):
            return guarded(lambda: only_words(offset, bytes_) or read(offset))

        def on_write(_, offset, bytes_, value, __):
            guarded(lambda: only_words(offset, bytes_) or write(offset, value))
        self.uc.mmio_map(base, size, on_read, None, on_write, None)

    def stop(self):
        """From a device, whose register is being written: the processor comes back at once, behind that instruction, to take an interrupt or to
        sleep. An instruction that also moves its base register has not done so yet: after it the slice goes on."""
        pc = self.uc.reg_read(UC_ARM_REG_PC)
        instruction = int.from_bytes(self.uc.mem_read(pc, 4), "little")
        if not self.stopped and instruction & STORE_MASK == STORE:
            self.stopped = True
            self.uc.emu_stop()

    def counted(self):
        """From now on instructions are counted; returns what tells how many there were, to the one that uses a device right now. (By native code: a
        callback of Python's for each would take a hundred times as long.)"""
        self.counter, count, hook = ctypes.CDLL(COUNTER), ctypes.c_uint64(0), ctypes.c_size_t(0)
        error = uclib.uc_hook_add(self.uc._uch, ctypes.byref(hook), UC_HOOK_CODE, ctypes.cast(self.counter.count_instruction, ctypes.c_void_p),
                                  ctypes.cast(ctypes.byref(count), ctypes.c_void_p), ctypes.c_uint64(1), ctypes.c_uint64(0))
        if error:
            raise UcError(error)
        return lambda: count.value

    def watch_unmasking(self, base, code):
        """A program may let interrupts in for an instruction or two: each place behind an msr in `code`, which lies at `base`, is looked at."""
        for number, (instruction,) in enumerate(struct.iter_unpack("<I", code[:len(code) & ~3])):
            if any(instruction & mask == value for mask, value in MSR):
                behind = base + 4 * number + 4
                self.uc.hook_add(UC_HOOK_BLOCK, self.on_unmasking, begin=behind, end=behind)

    def on_unmasking(self, uc, *_):
        if self.interrupt() and not self.masked():
            uc.emu_stop()

    # --- exceptions ---

    def on_exception(self, uc, number, _):
        self.exception = number
        uc.emu_stop()

    def on_undefined(self, uc, _):
        self.exception = 1
        uc.emu_stop()
        return False

    def on_missing(self, uc, access, address, size, value, _):
        self.error = self.error or Fault(f"an access to {address:08x}, where nothing is, near {uc.reg_read(UC_ARM_REG_PC):08x}")
        return False

    def enter(self, mode, vector, lr):
        """As the processor takes an exception: the status goes to the mode's own register, interrupts are off."""
        status = self.uc.reg_read(UC_ARM_REG_CPSR)
        self.uc.reg_write(UC_ARM_REG_CPSR, status & ~(MODE | THUMB) | mode | IRQS_OFF)
        self.uc.reg_write(UC_ARM_REG_SPSR, status)
        self.uc.reg_write(UC_ARM_REG_LR, lr)
        self.pc = vector

    def masked(self):
        return bool(self.uc.reg_read(UC_ARM_REG_CPSR) & IRQS_OFF)

    def take_exception(self):
        number, self.exception = self.exception, 0
        if number not in EXCEPTIONS:
            raise Fault(f"exception {number} at {self.pc:08x}")
        mode, vector, beyond = EXCEPTIONS[number]
        status = self.uc.reg_read(UC_ARM_REG_CPSR)
        if number != 2 and status & MODE != USER:   # the program would stay where it is for ever
            raise Fault(f"{NAMES[number]} at {self.pc:08x} in mode {status & MODE:02x}")
        self.enter(mode, vector, self.pc + beyond)

    def run(self, most=SLICE):
        """Runs so many instructions at most: until an event, an exception, or sleep."""
        if self.interrupt() and not self.masked():
            self.enter(IRQ, 0x18, self.pc + 4)
        self.stopped = False
        try:
            self.uc.emu_start(self.pc, NOWHERE, count=most)
        except UcError as error:
            if not self.exception and not self.error:
                self.error = Fault(f"{error} near {self.uc.reg_read(UC_ARM_REG_PC):08x}")
        self.pc = self.uc.reg_read(UC_ARM_REG_PC) + (4 if self.stopped else 0)
        if self.error:
            raise self.error
        if self.exception:
            self.take_exception()
