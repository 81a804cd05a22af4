# SPDX-License-Identifier: BSD-2-Clause
"""A program to Embedded Xinu's calls plays real-time streams on malta, in both byte orders. Linux's TCP sends; the laboratory's link between loses 5 % each way."""
import concurrent.futures
import json
import re
import socket
import struct
import sys
import time

import pytest

from netns import ROOT, Lab, until

sys.path.insert(0, str(ROOT / "tools"))
from boards import ADDRESS, BOARDS, HOST, elf, free_udp_ports  # noqa: E402

PLACES = ("malta", "malta-el")
MODES = {"skip, update": 4, "weir": 5}   # enum weir_realtime_mode
PORT, FRAME, PERIOD_S, FRAMES = 5004, 1024, 0.1, 40
# The playout delay: a busy machine has so long. The source falls silent for longer, so that frames come late for certain.
FIRST_S, PAUSE_BEFORE, PAUSE_S = 1.0, 10, 1.4
TOLD = re.compile(r"xinu: (skip, update|weir): (\d+) played, (\d+) told as missing, (\d+) missing untold, (\d+) out of order, (\d+) spoilt: the stream (ended|did not end)")


class Board:
    """A board behind the link, in a namespace with Linux before it."""

    def __init__(self, lab, name):
        net = self.net = lab.namespace(name)
        here, there = free_udp_ports(2)
        self.link = net.start(ROOT / "build/host/weir-link", "lab0", f"udp:{here}:{there}", "--delay", 10, "--loss", 5, "--back_loss", 5, "--seed", 7,
                              "--spare_arp", 1, "--spare_handshake", 1)
        assert until(lambda: "ready" in self.link.output()), self.link.output()
        net.address("lab0", f"{HOST}/24")
        card = f"socket,udp=127.0.0.1:{here},localaddr=127.0.0.1:{there}"
        self.machine = net.start("timeout", "600", *BOARDS[name].machine, "-nographic", "-monitor", "none", "-serial", "stdio", "-kernel", elf(name, "xinu_player"),
                                 "-nic", f"{card},model=pcnet", "-nic", "user,model=pcnet")   # the program has a second interface, which stays down

    def send(self, mode):
        """A stream by the clock, which begins when the board's does. In Weir's mode there is silence before a frame, and what was held up follows at once."""
        self.net.join()   # a socket that this thread makes is in the board's namespace
        with socket.create_connection((ADDRESS, PORT), 60) as source:
            source.settimeout(60)
            source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            source.sendall(struct.pack("!5I", MODES[mode], FRAME, int(PERIOD_S * 1e6), int(FIRST_S * 1e6), FRAMES))
            assert source.recv(1) == b"g"
            begun = time.monotonic()
            for number in range(FRAMES):
                silent_until = PAUSE_BEFORE * PERIOD_S + PAUSE_S if mode == "weir" and number >= PAUSE_BEFORE else 0
                time.sleep(max(0, begun + max(number * PERIOD_S, silent_until) - time.monotonic()))
                source.sendall(struct.pack("!I", number) + bytes(number * 31 + i * 7 & 255 for i in range(4, FRAME)))


def begin(board):
    assert until(lambda: "waiting for sources" in board.machine.output(), 120), board.machine.output()


def ended(board):
    return len(TOLD.findall(board.machine.output())) == len(MODES)


@pytest.fixture(scope="module")
def played():
    """What the consoles tell, and the links: all streams run at the same time."""
    with Lab() as lab:
        try:
            boards = {name: Board(lab, name) for name in PLACES}
        except RuntimeError as error:
            pytest.skip(f"no TAP here: {error}")
        for board in boards.values():
            begin(board)
        with concurrent.futures.ThreadPoolExecutor(len(PLACES) * len(MODES)) as threads:
            for sent in [threads.submit(board.send, mode) for board in boards.values() for mode in MODES]:
                sent.result()
        for board in boards.values():
            assert until(lambda: ended(board), 60), board.machine.output()
            board.link.stop(60)   # which tells what it lost
        yield {name: ({told[0]: (*map(int, told[1:6]), told[6]) for told in TOLD.findall(board.machine.output())}, json.loads(board.link.output().splitlines()[-1]))
               for name, board in boards.items()}


@pytest.mark.parametrize("board", PLACES)
@pytest.mark.parametrize("mode", MODES)
def test_frames_come_in_order_and_what_is_missing_is_told(played, board, mode):
    streams, ways = played[board]
    count, missing, untold, out_of_order, spoilt, _ = streams[mode]
    assert untold == out_of_order == spoilt == 0
    assert count + missing >= FRAMES and count >= FRAMES // 4
    assert all(way["lost"] > 0 for way in ways)   # the link did lose some


@pytest.mark.parametrize("board", PLACES)
def test_late_frames_are_passed_over_and_the_end_is_the_end(played, board):
    count, missing, *_, end = played[board][0]["weir"]
    assert missing >= 1 and count < FRAMES and end == "ended"
