# SPDX-License-Identifier: BSD-2-Clause
"""A conversation as the script sees it, and what its numbers are on the wire. The peer's sequence numbers are the same in both; ours are
moved by the difference of the initial ones."""

PERIOD = 65521
TABLE = bytes((i * 167 + (i >> 8) * 13 + 5) & 255 for i in range(PERIOD)) * 2


def pattern(offset, size):
    """The bytes of an endless stream from `offset` on: data that was moved shows."""
    found = bytearray()
    while size > len(found):
        at = (offset + len(found)) % PERIOD
        found += TABLE[at:at + min(PERIOD, size - len(found))]
    return bytes(found)


class Flow:
    def __init__(self, kind, local=None, remote=None, fd=None):
        self.kind = kind                # "new", "listener", "passive", "active", "datagram", "none"
        self.local, self.remote = local, remote     # ports
        self.fd = fd                    # the script's
        self.closed = False             # by the script
        self.offset = None              # wire less script, of our sequence numbers
        self.first = None               # script's number of our first byte
        self.irs = None                 # the peer's initial sequence number
        self.fin = None                 # what acknowledges its FIN
        self.written, self.pending = bytearray(), b""
        self.taken, self.check_reads = 0, True
        self.stamps, self.first_stamp = {}, None    # script's TS val: ours; (script's, ours)
        self.datagrams = []

    def to_wire(self, seq):
        return (seq + (self.offset or 0)) % 2**32

    def to_script(self, seq):
        return (seq - (self.offset or 0)) % 2**32

    def peer_bytes(self, seq, size):
        return pattern((seq - (self.irs or 0) - 1) % 2**32, size)

    def our_bytes(self, seq, size):
        """What must be in a segment of ours; None: that was never written."""
        at = (seq - self.first) % 2**32 if self.first is not None else 0
        data = self.written + self.pending
        return bytes(data[at:at + size]) if at + size <= len(data) else None

    def echo_to_wire(self, echo):
        if echo in self.stamps:
            return self.stamps[echo]
        if self.first_stamp:
            return (echo - self.first_stamp[0] + self.first_stamp[1]) % 2**32
        return echo

    def learn(self, live, expected):
        """The first SYN of ours fixes the difference; timestamps are remembered for their echo."""
        if self.offset is None and live.flags & 2:
            self.offset = (live.seq - expected.seq) % 2**32
            self.first = (expected.seq + 1) % 2**32
        ours = next((o for o in live.options if o[0] == "TS"), None)
        theirs = next((o for o in expected.options or () if o[0] == "TS" and o[1] is not None), None)
        if ours and theirs:
            self.stamps[theirs[1]] = ours[1]
            if not self.first_stamp:
                self.first_stamp = (theirs[1], ours[1])
