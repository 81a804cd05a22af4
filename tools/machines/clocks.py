# SPDX-License-Identifier: BSD-2-Clause
"""What time it is in a machine, for how many instructions the processor may go on, and how it sleeps. A clock has now_ns(), slice(due) and
sleep(files, due), where `due` is the seconds until the machine's next event; None: there is none."""
import select
import time

from cpu import SLICE
from peer import NEVER

S = 10**9
AHEAD_NS, BEHIND_NS = 10**6, 10**7


class WallClock:
    """The machine's time is ours; the processor is as fast as it can be."""
    lost_ns = 0

    def now_ns(self):
        return time.monotonic_ns()

    def slice(self, _):
        return SLICE

    def sleep(self, files, due):
        select.select(files, [], [], due)


class InstructionClock:
    """`rate` instructions a second, whatever they are, and nothing else takes time: no cache, no memory, no bus. `executed()` tells how many there were.
    The network is real, so the machine waits where it is ahead of our time. Where it falls behind it has time taken from it: `lost_ns`, in all."""

    def __init__(self, rate, executed):
        self.rate, self.executed = rate, executed
        self.slept_ns, self.lost_ns, self.began_ns = 0, 0, time.monotonic_ns()

    def now_ns(self):
        return self.slept_ns + self.executed() * S // self.rate

    def instructions(self, ns):
        """So many last so long, or a little longer: one at the least."""
        return max(1, -(-ns * self.rate // S))

    def until(self, due):
        return SLICE if due is None else min(SLICE, self.instructions(int(due * S) + 1))

    def slice(self, due):
        ahead = self.now_ns() + self.lost_ns - (time.monotonic_ns() - self.began_ns)
        if ahead > AHEAD_NS:
            time.sleep(ahead / S)
        elif ahead < -BEHIND_NS:
            self.lost_ns -= ahead
        return self.until(due)

    def sleep(self, files, due):
        """A moment that has come is not slept through: an alarm's may lie a fraction of a nanosecond ahead."""
        began = time.monotonic_ns()
        select.select(files, [], [], due)
        self.slept_ns += time.monotonic_ns() - began + 1


class PeerClock(InstructionClock):
    """The network is in the machine's time, too (peer.py): nobody waits for anybody, and every run is the same."""

    def __init__(self, rate, executed, peer):
        super().__init__(rate, executed)
        self.peer = peer
        peer.now_ns = self.now_ns

    def slice(self, due):
        return min(self.until(due), self.instructions(self.peer.next_ns() - self.now_ns()))

    def sleep(self, _, due):
        now = self.now_ns()
        self.slept_ns += self.peer.sleep_until(NEVER if due is None else now + int(due * S) + 1) - now
