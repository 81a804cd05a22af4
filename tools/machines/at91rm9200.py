# SPDX-License-Identifier: BSD-2-Clause
"""The AT91RM9200's system peripherals as a program sees them (Atmel data sheet 1768): interrupt controller, system timer, debug unit, parallel
I/O and power management. Every class has the registers of one: read(offset) and write(offset, value). A register that is not there, or that
the program may not use so, is a Fault."""
import sys
import time

from cpu import Fault

SLOW_HZ = 32768


class Aic:
    """Advanced interrupt controller (chapter 22). Sources here are levels, `lines` a bit each."""
    SMR, SVR, IVR, ISR, IPR, IMR, CISR = 0x000, 0x080, 0x100, 0x108, 0x10C, 0x110, 0x114
    IECR, IDCR, ICCR, ISCR, EOICR, SPU, DCR = 0x120, 0x124, 0x128, 0x12C, 0x130, 0x134, 0x138
    NESTED_MAX, SPURIOUS_PRIORITY = 8, -1

    def __init__(self):
        self.modes, self.vectors, self.spurious = [0] * 32, [0] * 32, 0
        self.lines, self.enabled = 0, 0
        self.stack = []   # (priority, source) of the interrupts that are being handled

    def set_line(self, source, high):
        self.lines = self.lines & ~(1 << source) | high << source

    def next(self):
        """The source of the highest priority that waits, the lowest number among equals; None: none above what is being handled."""
        waiting = [(self.modes[source] & 7, -source) for source in range(32) if self.lines & self.enabled & 1 << source]
        if not waiting or self.stack and max(waiting)[0] <= self.stack[-1][0]:
            return None
        return -max(waiting)[1]

    def line(self):
        return self.lines & self.enabled != 0 and self.next() is not None

    def take(self):
        """Reading IVR: the vector, and the priority goes onto the stack, also of an interrupt that has gone meanwhile."""
        source = self.next()
        if len(self.stack) == self.NESTED_MAX:
            raise Fault("AIC: more interrupts are begun than can nest")
        self.stack.append((self.modes[source] & 7, source) if source is not None else (self.stack[-1][0] if self.stack else self.SPURIOUS_PRIORITY, 0))
        return self.spurious if source is None else self.vectors[source]

    def read(self, offset):
        if offset < self.SVR:
            return self.modes[offset // 4]
        if offset < self.IVR:
            return self.vectors[(offset - self.SVR) // 4]
        if offset == self.IVR:
            return self.take()
        found = {self.ISR: self.stack[-1][1] if self.stack else 0, self.IPR: self.lines, self.IMR: self.enabled,
                 self.CISR: 2 * self.line(), self.SPU: self.spurious, self.DCR: 0}.get(offset)
        if found is None:
            raise Fault(f"AIC: read of {offset:03x}")
        return found

    def write(self, offset, value):
        if offset < self.SVR:
            if value & 0x20 or value & ~0x67:
                raise Fault(f"AIC: mode {value:x}: the model has levels only")
            self.modes[offset // 4] = value
        elif offset < self.IVR:
            self.vectors[(offset - self.SVR) // 4] = value
        elif offset == self.IECR:
            self.enabled |= value
        elif offset == self.IDCR:
            self.enabled &= ~value
        elif offset == self.EOICR:
            self.stack[-1:] = []   # of an empty stack nothing is taken, as boot code relies on
        elif offset == self.SPU:
            self.spurious = value
        elif offset not in (self.ICCR, self.DCR) or offset == self.DCR and value:
            raise Fault(f"AIC: write of {value:x} to {offset:03x}")


class SystemTimer:
    """System timer (chapter 24): the real-time counter of 20 bits and its alarm. The period and watchdog counters stand still."""
    WDRST, RTMR, SR, IER, IDR, IMR, RTAR, CRTR = 0x00, 0x0C, 0x10, 0x14, 0x18, 0x1C, 0x20, 0x24
    ALMS, ROUND = 8, 1 << 20

    def __init__(self, raise_line, now=None):
        """`now()`: seconds of the machine's time; None: of ours."""
        self.raise_line, self.now = raise_line, now or (lambda: time.monotonic())
        self.prescaler, self.status, self.mask, self.alarm = 0x8000, 0, 0, 0
        self.began, self.alarm_at = self.now(), None

    def ticks(self):
        return int((self.now() - self.began) * SLOW_HZ / (self.prescaler or 0x10000))

    def due(self):
        """Seconds until the alarm; None: nobody waits for it."""
        if not self.mask & self.ALMS or self.alarm_at is None:
            return None
        return max(0.0, self.alarm_at * (self.prescaler or 0x10000) / SLOW_HZ - (self.now() - self.began))

    def arm(self):
        """The alarm comes when the counter is at its value the next time: not at once, should it be there already."""
        now = self.ticks()
        self.alarm_at = now + ((self.alarm - now) % self.ROUND or self.ROUND)

    def update(self):
        if self.alarm_at is not None and self.ticks() >= self.alarm_at:
            self.alarm_at += self.ROUND
            self.status |= self.ALMS
        self.raise_line(self.status & self.mask != 0)

    def read(self, offset):
        self.update()
        if offset == self.SR:
            status, self.status = self.status, 0
            self.raise_line(False)
            return status
        found = {self.RTMR: self.prescaler, self.IMR: self.mask, self.RTAR: self.alarm, self.CRTR: self.ticks() % self.ROUND}.get(offset)
        if found is None:
            raise Fault(f"ST: read of {offset:02x}")
        return found

    def write(self, offset, value):
        if offset == self.RTMR:
            self.prescaler, self.began = value & 0xFFFF, self.now()
            self.arm()
        elif offset == self.RTAR:
            self.update()
            self.alarm = value & self.ROUND - 1
            self.arm()
        elif offset == self.IER:
            self.mask |= value
        elif offset == self.IDR:
            self.mask &= ~value
        elif offset != self.WDRST:
            raise Fault(f"ST: write of {value:x} to {offset:02x}")
        self.update()


class DebugUnit:
    """Debug unit (chapter 27): its transmitter is this program's standard output. It is always ready."""
    CR, MR, IDR, IMR, SR, THR, BRGR, CIDR = 0x00, 0x04, 0x0C, 0x10, 0x14, 0x1C, 0x20, 0x40
    RSTTX, TXEN, TXDIS, TXRDY, TXEMPTY = 1 << 3, 1 << 6, 1 << 7, 1 << 1, 1 << 9
    AT91RM9200 = 0x09290781

    def __init__(self):
        self.enabled = False

    def read(self, offset):
        found = {self.SR: self.enabled * (self.TXRDY | self.TXEMPTY), self.IMR: 0, self.CIDR: self.AT91RM9200}.get(offset)
        if found is None:
            raise Fault(f"DBGU: read of {offset:02x}")
        return found

    def write(self, offset, value):
        if offset == self.CR:
            self.enabled = bool(value & self.TXEN) or self.enabled and not value & (self.TXDIS | self.RSTTX)
        elif offset == self.THR and self.enabled:
            sys.stdout.buffer.write(bytes([value & 0xFF]))
            sys.stdout.buffer.flush()
        elif offset not in (self.IDR, self.MR, self.BRGR):
            raise Fault(f"DBGU: write of {value:x} to {offset:02x}")


class ParallelIo:
    """One port of the parallel I/O controller (chapter 28): which pins are a peripheral's, and which one's."""
    PDR, ASR, BSR = 0x04, 0x70, 0x74

    def __init__(self):
        self.peripheral, self.second = 0, 0

    def given(self, pins, second):
        """Whether all these pins are the first peripheral's, or the second's."""
        return self.peripheral & pins == pins and (self.second if second else ~self.second) & pins == pins

    def read(self, offset):
        raise Fault(f"PIO: read of {offset:02x}")

    def write(self, offset, value):
        if offset == self.PDR:
            self.peripheral |= value
        elif offset == self.ASR:
            self.second &= ~value
        elif offset == self.BSR:
            self.second |= value
        else:
            raise Fault(f"PIO: write of {value:x} to {offset:02x}")


class PowerManagement:
    """Power management controller (chapter 25): the processor's clock stops until an interrupt, peripherals' clocks are on or off."""
    SCER, SCDR, SCSR, PCER, PCDR, PCSR = 0x00, 0x04, 0x08, 0x10, 0x14, 0x18
    PROCESSOR = 1

    def __init__(self, sleep):
        self.sleep, self.clocks = sleep, 0

    def read(self, offset):
        found = {self.SCSR: self.PROCESSOR, self.PCSR: self.clocks}.get(offset)
        if found is None:
            raise Fault(f"PMC: read of {offset:02x}")
        return found

    def write(self, offset, value):
        if offset == self.SCDR and value == self.PROCESSOR:
            self.sleep()
        elif offset == self.PCER:
            self.clocks |= value
        elif offset == self.PCDR:
            self.clocks &= ~value
        else:
            raise Fault(f"PMC: write of {value:x} to {offset:02x}")
