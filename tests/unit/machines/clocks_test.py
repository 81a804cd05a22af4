# SPDX-License-Identifier: BSD-2-Clause
"""Clocks of a machine model: what time instructions make, and how far the processor may go on; times of ours and the peer are set by hand."""
import collections
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools/machines"))
import clocks  # noqa: E402
from clocks import InstructionClock, PeerClock  # noqa: E402
from cpu import SLICE, Fault  # noqa: E402
from peer import NEVER, Peer  # noqa: E402

MS = 10**6


@pytest.fixture
def ours(monkeypatch):
    """Our time, which passes by sleeping alone."""
    ours = [5 * clocks.S]

    def sleep(seconds):
        ours[0] += round(seconds * clocks.S)
    monkeypatch.setattr(clocks.time, "monotonic_ns", lambda: ours[0])
    monkeypatch.setattr(clocks.time, "sleep", sleep)
    monkeypatch.setattr(clocks.select, "select", lambda _, __, ___, due: sleep(due))
    return ours


def test_time_is_instructions_at_any_rate(ours):
    executed = [0]
    for rate in (1, 3_100_007, 180_000_000):
        clock = InstructionClock(rate, lambda: executed[0])
        executed[0] = rate * 7
        assert clock.now_ns() == 7 * clocks.S
        assert clock.instructions(clocks.S) == rate and clock.instructions(0) == 1


def test_a_slice_ends_at_the_next_event(ours):
    clock = InstructionClock(1_000_000, lambda: 0)
    assert clock.slice(None) == SLICE == clock.slice(1)
    assert clock.slice(0.0005) == 501   # not before it
    assert clock.slice(0) == 1


def test_it_waits_for_our_time_and_what_it_cannot_keep_up_with_is_lost(ours):
    executed = [5000]
    clock = InstructionClock(1_000_000, lambda: executed[0])
    began = ours[0]
    clock.slice(None)
    assert ours[0] - began == 5 * MS and clock.lost_ns == 0
    ours[0] += 9 * MS   # a little, which it catches up with
    clock.slice(None)
    assert clock.lost_ns == 0
    ours[0] += 91 * MS
    clock.slice(None)
    assert clock.lost_ns == 100 * MS
    began = ours[0]
    clock.sleep([], 0.25)
    assert ours[0] - began == 250 * MS and clock.now_ns() == 255 * MS + 1


class Script(Peer):
    """A peer whose network says what is written down: for each exchange (until when it is asked to run, what is sent, what it answers)."""

    def __init__(self, *script):
        self.ahead_ns, self.sent, self.arrived, self.due_ns, self.reached_ns = 20_000, [], collections.deque(), 0, 0
        self.script = list(script)

    def exchange(self, until_ns):
        until, sent, self.due_ns, self.reached_ns, frames = self.script.pop(0)
        assert until_ns == until and self.sent == sent
        self.sent = []
        self.arrived.extend(frames)


def at(peer, instructions=0):
    executed = [instructions]
    return executed, PeerClock(1_000_000_000, lambda: executed[0], peer)


def test_the_processor_goes_on_until_the_network_could_bring_something(ours):
    peer = Script((20_000, [], 50_000, 20_000, []), (70_000, [(60_000, b"a")], NEVER, 65_000, [(65_000, b"b")]))
    executed, clock = at(peer)
    assert clock.slice(None) == SLICE
    executed[0] = 49_000
    assert clock.slice(None) == 1000   # the network has an event then
    executed[0] = 40_000
    peer.send(b"a")
    executed[0] = 50_000
    assert clock.slice(None) == SLICE
    executed[0] = 64_000
    assert clock.slice(None) == 1000 and peer.receive() is None
    executed[0] = 65_000
    assert peer.receive() == b"b" and not peer.script


def test_it_sleeps_until_its_own_event_or_a_frame(ours):
    peer = Script((1_000_001, [], 2_000_000, 1_000_001, []), (NEVER, [], NEVER, 3_000_000, [(3_000_000, b"c")]))
    _, clock = at(peer)
    clock.sleep([], 0.001)
    assert clock.now_ns() == 1_000_001
    clock.sleep([], None)
    assert clock.now_ns() == 3_000_000 and peer.receive() == b"c"


def test_who_waits_for_nothing_is_told(ours):
    _, clock = at(Script((NEVER, [], NEVER, 0, [])))
    with pytest.raises(Fault, match="wait for each other for ever"):
        clock.sleep([], None)
