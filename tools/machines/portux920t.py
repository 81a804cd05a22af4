#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A model of the Portux 920T that boots firmware as U-Boot's `go` does: ARM920T, 64 MB of SDRAM, the AT91RM9200's peripherals, a PHY, and a link
at the cable's other end. The console is standard output.
usage: portux920t.py --nic WORDS [--rate N] image.elf

WORDS: as QEMU's -nic has them, see link.py. --rate: the processor executes so many instructions a second of the machine's time (clocks.py); without it is
as fast as it can be. With --nic peer,… the network is in the machine's time (peer.py), and the machine ends when its peer has done what it was to."""
import argparse
import ctypes
import signal
import socket
import struct
import sys

from at91rm9200 import Aic, DebugUnit, ParallelIo, PowerManagement, SystemTimer
from clocks import InstructionClock, PeerClock, WallClock
from cpu import Cpu, Fault
from emac import Emac
from link import open_link
from peer import Finished, Peer
from unicorn import UC_PROT_ALL

SDRAM, SDRAM_BYTES = 0x20000000, 64 << 20
EMAC, EMAC_BYTES = 0xFFFBC000, 0x4000
SYSTEM, SYSTEM_BYTES = 0xFFFFF000, 0x1000   # interrupt controller and what lies above it
SOURCE_SYSTEM, SOURCE_EMAC = 1, 24
EMAC_PINS_A, EMAC_PINS_B = 0x0001FF80, 0x000FF000
LOADED, EXECUTABLE = 1, 1   # of an ELF segment: type, flag


class Portux:
    def __init__(self, nic, image, rate=None):
        self.memory = ctypes.create_string_buffer(SDRAM_BYTES)
        view = memoryview(self.memory).cast("B")
        self.cpu, self.aic = Cpu(lambda: self.aic.line()), Aic()
        self.cpu.uc.mem_map_ptr(SDRAM, SDRAM_BYTES, UC_PROT_ALL, ctypes.addressof(self.memory))
        self.link = open_link(nic)
        self.clock = self.make_clock(rate)
        self.timer = SystemTimer(lambda high: self.set_line(SOURCE_SYSTEM, high), lambda: self.clock.now_ns() / 1e9)
        self.power, self.ports = PowerManagement(self.sleep), [ParallelIo() for _ in range(4)]
        self.emac = Emac(self.link, view, SDRAM, lambda high: self.set_line(SOURCE_EMAC, high), self.emac_ready,
                         now_ns=self.clock.now_ns if rate else None)
        self.parts = {0xF000: self.aic, 0xF100: self.aic, 0xF200: DebugUnit(), 0xF400: self.ports[0], 0xF600: self.ports[1], 0xF800: self.ports[2],
                      0xFA00: self.ports[3], 0xFC00: self.power, 0xFD00: self.timer}
        self.cpu.device(SYSTEM, SYSTEM_BYTES, self.read_system, self.write_system)
        self.cpu.device(EMAC, EMAC_BYTES, self.emac.read, self.write_emac)
        self.cpu.pc = self.load(image.read(), view)
        self.over, (self.woken, self.wakes) = False, socket.socketpair()

    def make_clock(self, rate):
        if isinstance(self.link, Peer):
            if not rate:
                raise Fault("a peer wants to know the processor's rate")
            return PeerClock(rate, self.cpu.counted(), self.link)
        return InstructionClock(rate, self.cpu.counted()) if rate else WallClock()

    def load(self, image, view):
        """Puts an ELF file's segments where it wants them; returns where it begins."""
        if image[:6] != b"\x7fELF\1\1":
            raise Fault("no ELF file of 32 bits, little-endian")
        entry, table = struct.unpack_from("<II", image, 24)
        size, count = struct.unpack_from("<HH", image, 42)
        for number in range(count):
            kind, offset, _, address, in_file, _, flags, _ = struct.unpack_from("<8I", image, table + number * size)
            if kind != LOADED:
                continue
            view[address - SDRAM:address - SDRAM + in_file] = image[offset:offset + in_file]
            if flags & EXECUTABLE:
                self.cpu.watch_unmasking(address, image[offset:offset + in_file])
        return entry

    def set_line(self, source, high):
        self.aic.set_line(source, high)

    def emac_ready(self):
        return bool(self.power.clocks >> SOURCE_EMAC & 1 and self.ports[0].given(EMAC_PINS_A, False) and self.ports[1].given(EMAC_PINS_B, True))

    def part(self, offset):
        base = (SYSTEM + offset) & 0xFF00
        found = self.parts.get(base)
        if not found:
            raise Fault(f"no peripheral at {SYSTEM + offset:08x}")
        return found, (SYSTEM + offset - (0xFFFF0000 | (0xF000 if found is self.aic else base)))

    def read_system(self, offset):
        part, at = self.part(offset)
        return part.read(at)

    def write_system(self, offset, value):
        part, at = self.part(offset)
        part.write(at, value)
        self.stop_for_interrupt()

    def write_emac(self, offset, value):
        self.emac.write(offset, value)
        self.stop_for_interrupt()

    def stop_for_interrupt(self):
        """What a register's write raises or unmasks is taken at once."""
        if self.aic.line() and not self.cpu.masked():
            self.cpu.stop()

    def sleep(self):
        self.cpu.idle = True
        self.cpu.stop()

    def end_on(self, number):
        """A signal ends the machine between two slices; it also ends the processor's sleep."""
        self.wakes.setblocking(False)
        signal.set_wakeup_fd(self.wakes.fileno())

        def end(*_):
            self.over = True
        signal.signal(number, end)

    def due(self):
        """Seconds until something happens in the machine by itself; None: nothing will."""
        return min((due for due in (self.timer.due(), self.emac.due()) if due is not None), default=None)

    def run(self):
        """Events, and slices of the processor between them."""
        while not self.over:
            self.timer.update()
            self.emac.update_wire()
            free = self.emac.receive()
            if self.aic.line():
                self.cpu.idle = False   # also if the processor does not take it
            if self.cpu.idle:
                self.clock.sleep([self.woken] + [self.link] * (free and self.emac.receiving()), self.due())
            else:
                self.cpu.run(self.clock.slice(self.due()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nic", required=True)
    parser.add_argument("image", type=argparse.FileType("rb"))
    parser.add_argument("--rate", type=int)
    words = parser.parse_args()
    if words.rate is not None and words.rate <= 0:
        parser.error("the processor's rate is positive")
    try:
        machine = Portux(words.nic, words.image, words.rate)
    except Fault as fault:
        sys.exit(f"portux920t: {fault}")
    machine.end_on(signal.SIGTERM)
    try:
        machine.run()
    except Finished:
        pass
    except Fault as fault:
        sys.exit(f"portux920t: {fault}")
    finally:
        machine.link.close()
        if lost := machine.clock.lost_ns:
            print(f"portux920t: the processor was {lost / 1e9:.3f} s slower than its rate, in all", file=sys.stderr)


if __name__ == "__main__":
    main()
