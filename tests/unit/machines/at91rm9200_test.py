# SPDX-License-Identifier: BSD-2-Clause
"""The machine model of tools/machines, each part alone by its registers, and the processor by a few instructions: what firmware relies on, and
that misuse is a Fault. Times are the model's own clock, set by hand."""
import pathlib
import struct
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/machines"))
import at91rm9200  # noqa: E402
import emac  # noqa: E402
from at91rm9200 import Aic, SystemTimer  # noqa: E402
from cpu import Cpu, Fault  # noqa: E402
from unicorn import UC_PROT_ALL  # noqa: E402
from unicorn.arm_const import UC_ARM_REG_CPSR, UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_SP  # noqa: E402

BASE, MAC = 0x20000000, bytes.fromhex("025765697208")


# --- interrupt controller ---


@pytest.fixture
def aic():
    aic = Aic()
    for source, priority in ((1, 3), (24, 3), (5, 6)):
        aic.write(Aic.SMR + 4 * source, priority)
        aic.write(Aic.SVR + 4 * source, 0x1000 * source)
    aic.write(Aic.SPU, 0xDEAD)
    aic.write(Aic.IECR, 1 << 1 | 1 << 24 | 1 << 5)
    return aic


def test_the_lowest_source_of_a_priority_comes_first_and_its_like_waits_for_its_end(aic):
    aic.set_line(24, True)
    aic.set_line(1, True)
    assert aic.read(Aic.IVR) == 0x1000 and aic.read(Aic.ISR) == 1
    assert not aic.line()
    aic.set_line(1, False)
    aic.write(Aic.EOICR, 0)
    assert aic.line() and aic.read(Aic.IVR) == 24 * 0x1000


def test_a_higher_priority_interrupts(aic):
    aic.set_line(1, True)
    aic.read(Aic.IVR)
    aic.set_line(5, True)
    assert aic.line() and aic.read(Aic.IVR) == 0x5000
    aic.write(Aic.EOICR, 0)
    assert aic.read(Aic.ISR) == 1


def test_an_interrupt_that_has_gone_is_spurious_and_has_its_end_too(aic):
    aic.set_line(1, True)
    aic.set_line(1, False)
    assert aic.read(Aic.IVR) == 0xDEAD
    aic.write(Aic.EOICR, 0)
    aic.set_line(1, True)
    assert aic.line()
    aic.write(Aic.IDCR, 1 << 1)
    assert not aic.line()


def test_what_is_never_ended_is_a_fault(aic):
    for _ in range(Aic.NESTED_MAX):
        aic.read(Aic.IVR)
    with pytest.raises(Fault):
        aic.read(Aic.IVR)


# --- system timer ---


@pytest.fixture
def timer(monkeypatch):
    lines, clock = [], [100.0]
    monkeypatch.setattr(at91rm9200.time, "monotonic", lambda: clock[0])
    timer = SystemTimer(lines.append)
    timer.lines, timer.clock = lines, clock
    timer.write(SystemTimer.RTMR, 1)
    return timer


def test_the_counter_counts_the_slow_clock_and_goes_round(timer):
    timer.clock[0] += 1
    assert timer.read(SystemTimer.CRTR) == 32768
    timer.clock[0] += 31
    assert timer.read(SystemTimer.CRTR) == 0


def test_the_alarm_comes_when_the_counter_is_there_and_not_before(timer):
    timer.write(SystemTimer.RTAR, 3277)
    timer.write(SystemTimer.IER, SystemTimer.ALMS)
    timer.clock[0] += 0.1
    timer.update()
    assert not timer.lines[-1] and 0 < timer.due() < 0.001
    timer.clock[0] += 0.001
    timer.update()
    assert timer.lines[-1]
    assert timer.read(SystemTimer.SR) == SystemTimer.ALMS and not timer.lines[-1]
    assert timer.read(SystemTimer.SR) == 0


def test_an_alarm_for_now_comes_a_round_later(timer):
    timer.clock[0] += 1
    timer.write(SystemTimer.IER, SystemTimer.ALMS)
    timer.write(SystemTimer.RTAR, 32768)
    timer.update()
    assert not timer.lines[-1] and 31 < timer.due() <= 32


# --- Ethernet ---


class Wire:
    def __init__(self):
        self.arriving, self.sent, self.plugged = [], [], True

    def up(self):
        return self.plugged

    def receive(self):
        return self.arriving.pop(0) if self.arriving else None

    def send(self, frame):
        self.sent.append(frame)


@pytest.fixture
def mac():
    wire, memory, lines, good = Wire(), memoryview(bytearray(65536)), [], [True]
    mac = emac.Emac(wire, memory, BASE, lines.append, lambda: good[0])
    mac.lines, mac.good = lines, good
    memory[:16] = struct.pack("<4I", BASE + 4096, 0, BASE + 8192 | emac.WRAP, 0)   # a ring of two
    mac.write(emac.SA1L, int.from_bytes(MAC[:4], "little"))
    mac.write(emac.SA1L + 4, int.from_bytes(MAC[4:], "little"))
    mac.write(emac.RBQP, BASE)
    mac.write(emac.CTL, emac.CTL_RE | emac.CTL_TE | emac.CTL_MPE)
    mac.write(emac.IER, emac.RCOM | emac.TCOM)
    return mac


def test_a_frame_arrives_with_its_length_and_an_interrupt(mac):
    mac.link.arriving = [MAC + bytes(94), b"\xff" * 6 + bytes(10), b"\x02" * 6 + bytes(94)]
    assert mac.receive()
    words = struct.unpack("<4I", mac.memory[:16])
    assert words[0] == BASE + 4096 | emac.OWNED and words[1] == emac.SPECIFIC_FRAME | 104
    assert words[2] & emac.OWNED and words[3] == emac.BROADCAST_FRAME | 64   # filled up to the least; another's frame is not taken
    assert mac.lines[-1]
    assert mac.read(emac.ISR) == emac.RCOM and not mac.lines[-1]


def test_without_a_buffer_a_frame_waits(mac):
    mac.link.arriving = [MAC + bytes([number]) * 94 for number in range(3)]
    assert not mac.receive()
    mac.memory[:4] = struct.pack("<I", BASE + 4096)   # the program gives the first one back
    assert mac.receive()
    assert mac.memory[4096 + 6] == 2


def test_multicast_is_taken_by_its_hash(mac):
    group = bytes.fromhex("01005e0000fb")
    mac.link.arriving = [group + bytes(94)]
    mac.receive()
    assert not mac.memory[0] & emac.OWNED
    mac.write(emac.CFG, emac.CFG_MTI)
    mac.write(emac.HSL, 0xFFFFFFFF)
    mac.write(emac.HSH, 0xFFFFFFFF)
    mac.link.arriving = [group + bytes(94)]
    mac.receive()
    assert mac.memory[0] & emac.OWNED


def test_a_frame_leaves_and_misuse_is_a_fault(mac):
    mac.memory[4096:4096 + 60] = bytes(range(60))
    mac.write(emac.TAR, BASE + 4096)
    mac.write(emac.TCR, 60)
    assert mac.link.sent == [bytes(range(60))] and mac.read(emac.TSR) & emac.TSR_COMP and mac.lines[-1]
    with pytest.raises(Fault):   # its address is written anew for each
        mac.write(emac.TCR, 60)
    mac.write(emac.TAR, BASE + 65536)
    with pytest.raises(Fault):
        mac.write(emac.TCR, 60)
    mac.good[0] = False   # its clock, or its pins
    mac.write(emac.TAR, BASE)
    with pytest.raises(Fault):
        mac.write(emac.TCR, 60)


def phy_read(mac, phy, index):
    mac.write(emac.MAN, 0x60020000 | phy << 23 | index << 18)
    return mac.read(emac.MAN) & 0xFFFF


def test_in_a_machine_with_its_own_time_a_frame_takes_its_time_on_the_wire(mac):
    now = [1000]
    mac.now_ns = lambda: now[0]
    mac.write(emac.TAR, BASE + 4096)
    mac.write(emac.TCR, 1514)
    took = (1514 + 4 + 20) * 80   # FCS, preamble and gap; 100 Mbit/s
    assert mac.due() == pytest.approx(took / 1e9) and not mac.link.sent and not mac.read(emac.TSR) & emac.TSR_IDLE
    mac.write(emac.TAR, BASE + 4096)
    with pytest.raises(Fault, match="while another leaves"):
        mac.write(emac.TCR, 1514)
    now[0] += took - 1
    mac.update_wire()
    assert not mac.link.sent
    now[0] += 1
    mac.update_wire()
    assert len(mac.link.sent[0]) == 1514 and mac.due() is None and mac.read(emac.TSR) & emac.TSR_COMP and mac.lines[-1]


def test_the_phy_answers_at_its_address_and_sees_the_cable(mac):
    assert phy_read(mac, 1, 1) == 0xFFFF
    up = emac.Phy.LINK | emac.Phy.NEGOTIATED
    assert phy_read(mac, 0, 1) & up == up
    mac.link.plugged = False
    assert phy_read(mac, 0, 1) & up == 0
    with pytest.raises(Fault):
        mac.write(emac.MAN, 0x20000000)


# --- the processor ---


def processor(*words, line=lambda: False):
    cpu = Cpu(line)
    cpu.uc.mem_map(0, 0x10000, UC_PROT_ALL)
    for vector in range(0, 0x20, 4):
        cpu.uc.mem_write(vector, struct.pack("<I", 0xEAFFFFFE))   # stays there
    code = struct.pack(f"<{len(words)}I", *words)
    cpu.uc.mem_write(0x100, code)
    cpu.watch_unmasking(0x100, code)
    cpu.pc = 0x100
    return cpu


STAY = 0xEAFFFFFE


def test_an_instruction_of_armv5_is_undefined(tmp_path):
    with pytest.raises(Fault, match="an undefined instruction at 00000104"):
        processor(0xE3A00007, 0xE12FFF30, STAY).run()   # mov r0, #7; blx r0


def test_an_interrupt_is_taken_where_it_is_let_in_for_one_instruction():
    """msr cpsr_c, #0x1f; msr cpsr_c, #0x9f: masked before and behind."""
    waits = [False]
    cpu = processor(0xE3A0001F, 0xE321F01F, 0xE321F09F, STAY, line=lambda: waits[0])
    cpu.uc.reg_write(UC_ARM_REG_CPSR, 0x9F)
    waits[0] = True
    cpu.run()
    assert cpu.pc == 0x108 and not cpu.masked()
    cpu.run()
    assert cpu.pc == 0x18 and cpu.uc.reg_read(UC_ARM_REG_CPSR) & 0x9F == 0x92   # IRQ mode, interrupts off


def test_a_device_sees_each_access_once_and_stops_the_processor_behind_it():
    seen = []
    # ldr r1, [pc, #20]; str r0, [r1]; mov r0, #1; str r0, [r1]; ldr r0, [r1, #4]; stay
    cpu = processor(0xE59F1010, 0xE5810000, 0xE3A00001, 0xE5810000, 0xE5910004, STAY, 0xF0000000)

    def write(offset, value):
        seen.append((offset, value))
        cpu.stop()
    cpu.device(0xF0000000, 0x1000, lambda offset: 0x55, write)
    cpu.run()
    assert seen == [(0, 0)] and cpu.pc == 0x108
    cpu.run()
    assert seen == [(0, 0), (0, 1)] and cpu.pc == 0x110
    cpu.run()
    assert cpu.uc.reg_read(UC_ARM_REG_R0) == 0x55 and len(seen) == 2
    assert cpu.uc.reg_read(UC_ARM_REG_R1) == 0xF0000000


def test_modes_have_stack_pointers_of_their_own():
    cpu = processor(STAY)
    cpu.uc.reg_write(UC_ARM_REG_CPSR, 0x1F)
    cpu.uc.reg_write(UC_ARM_REG_SP, 0x8000)
    cpu.enter(0x12, 0x18, 0x104)
    cpu.uc.reg_write(UC_ARM_REG_SP, 0x9000)
    cpu.uc.reg_write(UC_ARM_REG_CPSR, 0x1F)
    assert cpu.uc.reg_read(UC_ARM_REG_SP) == 0x8000
