# SPDX-License-Identifier: BSD-2-Clause
"""A link whose other end is in the machine's own time: lab/machine_peer.c, a host of the simulator and the link to it. Named as
`peer,way=send,bytes=5242880,delay=0.02,…`: what the board does, and the program's settings. Its frames take `delay` before they enter the simulated
link, so the network runs so far ahead of the machine, and neither is ever told of something that should have happened already."""
import collections
import contextlib
import pathlib
import struct
import subprocess

from cpu import Fault

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "build/host/weir-machine-peer"
NEVER = (1 << 64) - 1


class Finished(Exception):
    """The peer has done all that it was to do."""


class Peer:
    def __init__(self, words):
        words = dict(words)
        if "way" not in words or "delay" not in words:
            raise Fault("a peer has a way (send or receive) and a delay")
        self.ahead_ns = round(float(words["delay"]) * 1e6)
        settings = [part for name, value in words.items() if name != "way" for part in (f"--{name}", value)]
        self.program = subprocess.Popen([PROGRAM, words["way"], *settings], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sent, self.arrived = [], collections.deque()
        self.due_ns, self.reached_ns = 0, 0
        self.now_ns = None   # the machine's clock sets it

    def read(self, form):
        data = self.program.stdout.read(struct.calcsize(form))
        if len(data) < struct.calcsize(form):
            self.program.wait()
            raise Fault("the peer has ended")
        return struct.unpack(form, data)

    def exchange(self, until_ns):
        """What the machine has sent goes to the network, which runs on until that moment or until a frame arrives."""
        said = struct.pack("<QI", until_ns, len(self.sent)) + b"".join(struct.pack("<QI", at, len(frame)) + frame for at, frame in self.sent)
        self.sent = []
        try:
            self.program.stdin.write(said)
            self.program.stdin.flush()
        except OSError:
            pass   # it has ended, as read() finds
        self.due_ns, self.reached_ns, done, count = self.read("<QQII")
        for _ in range(count):
            at, length = self.read("<QI")
            self.arrived.append((at, self.program.stdout.read(length)))
        if done:
            raise Fault("the peer has failed") if self.program.wait() else Finished

    def coming_ns(self):
        """When the next frame arrives that has not yet, of those that are known of."""
        now = self.now_ns()
        return next((at for at, _ in self.arrived if at > now), NEVER)

    def next_ns(self):
        """As far as the processor may go on: nothing happens until then that could bring it a frame, or one arrives. Now: one has arrived."""
        now = self.now_ns()
        while (known := min(max(self.due_ns, self.reached_ns), self.sent[0][0] if self.sent else NEVER, self.coming_ns())) <= now:
            before = len(self.arrived)
            self.exchange(now + self.ahead_ns)
            if len(self.arrived) > before and self.arrived[before][0] <= now:
                return now
        return known

    def sleep_until(self, until_ns):
        """When the machine wakes: then, or because a frame arrives."""
        before = len(self.arrived)
        while len(self.arrived) == before and self.coming_ns() == NEVER and self.reached_ns < until_ns:
            self.exchange(until_ns)
            if len(self.arrived) == before and self.due_ns == until_ns == NEVER:
                raise Fault("the machine and its peer wait for each other for ever")
        arrived = self.arrived[before][0] if len(self.arrived) > before else self.coming_ns()
        return max(self.now_ns(), min(until_ns, arrived))

    # --- as a link ---

    def up(self):
        return True

    def receive(self):
        return self.arrived.popleft()[1] if self.arrived and self.arrived[0][0] <= self.now_ns() else None

    def send(self, frame):
        self.sent.append((self.now_ns() + self.ahead_ns, frame))

    def close(self):
        with contextlib.suppress(BrokenPipeError):   # it has ended with something unread
            self.program.stdin.close()
        self.program.stdout.close()
        self.program.wait()
