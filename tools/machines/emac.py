# SPDX-License-Identifier: BSD-2-Clause
"""The AT91RM9200's Ethernet MAC (Atmel data sheet 1768, chapter 36) and a PHY on its management bus (IEEE 802.3, clause 22). Frames come from a
link (link.py) into the ring in the machine's memory and leave from it. A frame arrives when a buffer is free, so that none is lost here. It has left when
its length is written or, in a machine whose time is its own, after its time on a wire of 100 Mbit/s."""
import struct

from cpu import Fault

CTL, CFG, SR, TAR, TCR, TSR, RBQP, RSR = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x14, 0x18, 0x20
ISR, IER, IDR, IMR, MAN = 0x24, 0x28, 0x2C, 0x30, 0x34
STATISTICS, HSH, HSL, SA1L, SA4H = range(0x40, 0x90, 4), 0x90, 0x94, 0x98, 0xB4
CTL_RE, CTL_TE, CTL_MPE = 4, 8, 16
CFG_CAF, CFG_NBC, CFG_MTI, CFG_BIG = 1 << 4, 1 << 5, 1 << 6, 1 << 8
SR_MDIO, SR_IDLE = 2, 4
TSR_IDLE, TSR_BNQ, TSR_COMP, TSR_CLEARABLE = 1 << 3, 1 << 4, 1 << 5, 0x67
RSR_REC = 2
RCOM, TBRE, TCOM, TIDLE, ALL = 1 << 1, 1 << 6, 1 << 7, 1 << 8, 0xFFF
OWNED, WRAP = 1, 2
BROADCAST_FRAME, MULTICAST_FRAME, SPECIFIC_FRAME = 1 << 31, 1 << 30, 1 << 26
FCS_BYTES, FRAME_LEAST = 4, 60
BETWEEN_BYTES, BYTE_NS = 8 + 12, 80   # preamble and gap; 100 Mbit/s


class Phy:
    """It has negotiated 100 Mbit/s full-duplex, with a partner that can all of 10 and 100, while the link is up."""
    CONTROL, STATUS, OFFERED, PARTNER = 0, 1, 4, 5
    LINK, NEGOTIATED = 1 << 2, 1 << 5

    def __init__(self, up):
        self.up = up
        self.registers = {self.CONTROL: 0x3100, self.STATUS: 0x782D, 2: 0x0181, 3: 0xB8A0, self.OFFERED: 0x01E1, self.PARTNER: 0x45E1}

    def read(self, index):
        lost = self.LINK | self.NEGOTIATED if index == self.STATUS and not self.up() else 0
        return self.registers.get(index, 0) & ~lost

    def write(self, index, value):
        if index not in (self.STATUS, 2, 3, self.PARTNER):
            self.registers[index] = value


class Emac:
    """`memory` is the machine's SDRAM (a memoryview) from `base` on; `raise_line(high)` its interrupt; `ready()` says whether its clock and
    its pins are what they must be. `now_ns()`: the machine's own time; None: a frame is at once where it goes."""

    def __init__(self, link, memory, base, raise_line, ready, phy_address=0, now_ns=None):
        self.link, self.memory, self.base, self.raise_line, self.ready = link, memory, base, raise_line, ready
        self.phy, self.phy_address = Phy(link.up), phy_address
        self.ctl, self.cfg, self.tar, self.tsr, self.rbqp, self.rsr = 0, 0x800, None, TSR_IDLE | TSR_BNQ, 0, 0
        self.isr, self.imr, self.man = 0, ALL, 0   # a set bit of IMR disables its interrupt, unlike other peripherals'
        self.descriptor = 0
        self.hash, self.specific, self.compared = [0, 0], [[0, 0] for _ in range(4)], set()
        self.waiting = None   # a frame for which no buffer was free
        self.now_ns, self.leaving = now_ns, None   # on the wire: when its end is out, and the frame

    def raise_(self, bits):
        self.isr |= bits
        self.update()

    def update(self):
        self.raise_line(self.isr & ~self.imr != 0)

    def bytes_at(self, address, length):
        at = address - self.base
        if at < 0 or at + length > len(self.memory):
            raise Fault(f"EMAC: {length} bytes at {address:08x}, where no memory is")
        return self.memory[at:at + length]

    # --- in ---

    def reasons(self, frame):
        """Why the frame is taken, as its descriptor shows it; None: it is not."""
        if frame[:6] == b"\xff" * 6:
            return None if self.cfg & CFG_NBC else BROADCAST_FRAME
        low, high = struct.unpack("<IH", frame[:6])
        found = sum(SPECIFIC_FRAME >> i for i in self.compared if self.specific[i] == [low, high])
        if frame[0] & 1 and self.cfg & CFG_MTI:
            address = int.from_bytes(frame[:6], "little")
            index = sum(((address & sum(1 << bit for bit in range(n, 48, 6))).bit_count() & 1) << n for n in range(6))
            found |= MULTICAST_FRAME if self.hash[index // 32] >> index % 32 & 1 else 0
        return found if found or self.cfg & CFG_CAF else None

    def receiving(self):
        return bool(self.ctl & CTL_RE)

    def receive(self):
        """Takes what the link has while buffers are free. False: a frame waits for a buffer."""
        while self.receiving():
            frame = self.waiting or self.link.receive()
            self.waiting = None
            if frame is None:
                return True
            if len(frame) < FRAME_LEAST:   # a TAP or a socket does not fill short frames up, as a sender on a cable does
                frame += bytes(FRAME_LEAST - len(frame))
            reasons = self.reasons(frame)
            if reasons is None or len(frame) + FCS_BYTES > (1522 if self.cfg & CFG_BIG else 1518):
                continue
            if not self.store(frame, reasons):
                self.waiting = frame
                return False
        return True

    def store(self, frame, reasons):
        at = self.rbqp + 8 * self.descriptor
        words = self.bytes_at(at, 8)
        word = struct.unpack("<I", words[:4])[0]
        if word & OWNED:
            return False
        self.bytes_at(word & ~3, len(frame) + FCS_BYTES)[:] = frame + bytes(FCS_BYTES)
        words[:] = struct.pack("<II", word | OWNED, reasons | len(frame) + FCS_BYTES)
        self.descriptor = 0 if word & WRAP else self.descriptor + 1
        self.rsr |= RSR_REC
        self.raise_(RCOM)
        return True

    # --- out ---

    def transmit(self, length):
        if not self.ctl & CTL_TE or self.tar is None or not self.ready():
            raise Fault("EMAC: a frame is sent with the transmitter, its clock or its pins off, or without an address")
        if self.leaving:
            raise Fault("EMAC: a frame is sent while another leaves")
        frame, self.tar = bytes(self.bytes_at(self.tar, length)), None
        if not self.now_ns:
            self.left(frame)
            return
        self.leaving = self.now_ns() + (max(length, FRAME_LEAST) + FCS_BYTES + BETWEEN_BYTES) * BYTE_NS, frame
        self.tsr &= ~TSR_IDLE

    def left(self, frame):
        self.link.send(frame)
        self.tsr |= TSR_COMP | TSR_IDLE
        self.raise_(TCOM | TBRE | TIDLE)

    def due(self):
        """Seconds until a frame has left; None: none leaves."""
        return max(0, self.leaving[0] - self.now_ns()) / 1e9 if self.leaving else None

    def update_wire(self):
        if self.leaving and self.now_ns() >= self.leaving[0]:
            frame, self.leaving = self.leaving[1], None
            self.left(frame)

    # --- the PHY ---

    def manage(self, value):
        phy, index, reads = value >> 23 & 31, value >> 18 & 31, value >> 28 == 6
        if not self.ctl & CTL_MPE or value >> 16 & 3 != 2 or value >> 28 not in (5, 6):
            raise Fault(f"EMAC: a management frame {value:08x} that no PHY understands, or with the port off")
        here = phy == self.phy_address and self.ready()
        self.man = value & 0xFFFF0000 | (self.phy.read(index) if here else 0xFFFF) if reads else value
        if here and not reads:
            self.phy.write(index, value & 0xFFFF)

    # --- registers ---

    def read(self, offset):
        if offset == ISR:
            found, self.isr = self.isr, 0
            self.update()
            return found
        if offset in STATISTICS:
            return 0
        if SA1L <= offset <= SA4H:
            return self.specific[(offset - SA1L) // 8][(offset - SA1L) // 4 % 2]
        found = {CTL: self.ctl, CFG: self.cfg, SR: SR_MDIO | SR_IDLE, TAR: self.tar or 0, TCR: 0, TSR: self.tsr, RBQP: self.rbqp + 8 * self.descriptor,
                 RSR: self.rsr, IMR: self.imr, MAN: self.man, HSH: self.hash[1], HSL: self.hash[0]}.get(offset)
        if found is None:
            raise Fault(f"EMAC: read of {offset:02x}")
        return found

    def write(self, offset, value):
        if SA1L <= offset <= SA4H:   # the low half switches the comparison off, the high one on again
            i, high = (offset - SA1L) // 8, (offset - SA1L) // 4 % 2
            self.specific[i][high] = value & (0xFFFF if high else 0xFFFFFFFF)
            self.compared = self.compared | {i} if high else self.compared - {i}
        elif offset == CTL:
            self.ctl = value & ~0x60
        elif offset == CFG:
            self.cfg = value
        elif offset == TAR:
            self.tar = value
        elif offset == TCR:
            self.transmit(value & 0x7FF)
        elif offset == TSR:
            self.tsr &= ~(value & TSR_CLEARABLE)
        elif offset == RBQP:
            self.rbqp, self.descriptor = value, 0
        elif offset == RSR:
            self.rsr &= ~value
        elif offset in (IER, IDR):
            self.imr = self.imr & ~value if offset == IER else self.imr | value & ALL
            self.update()
        elif offset == MAN:
            self.manage(value)
        elif offset in (HSH, HSL):
            self.hash[offset == HSH] = value
        else:
            raise Fault(f"EMAC: write of {value:x} to {offset:02x}")
