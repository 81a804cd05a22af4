# SPDX-License-Identifier: BSD-2-Clause
"""The player of real-time streams on boards: this machine's TCP is the source. And the source: this machine's TCP is the player."""
import pathlib
import re
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
sys.path.insert(0, str(ROOT / "tests"))
from boards import Machine  # noqa: E402
from patience import measured  # noqa: E402


@pytest.fixture(scope="module", params=("mps2-an385", "xilinx-zynq-a9"))
def machine(request):
    with Machine(request.param, ports=(5004, 5005), program="player") as machine:
        machine.until("waiting for sources")
        yield machine


def send(machine, port, size, period, count, pause_before=-1, pause=0.0):
    """Frames by the clock; before one of them nothing for a while, and it and those missed are sent late. The board listens anew a moment after it has
    told a stream's end: who comes in between is refused, which shows at one of the first frames, and comes again."""
    deadline = time.monotonic() + 60
    while True:
        number = 0
        try:
            with machine.connect(port) as source:
                begun = time.monotonic()
                for number in range(count):
                    if number == pause_before:
                        time.sleep(pause)
                    time.sleep(max(0, begun + number * period - time.monotonic()))
                    source.sendall(bytes([number & 255]) * size)
                return
        except ConnectionError:
            if number > 2 or time.monotonic() > deadline:
                raise


def verdict(machine, name, seen):
    """What the console says at the end of the next stream."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        found = re.findall(rf"{name} ended: (\d+) in time, (\d+) late, (\d+) skipped", machine.console())
        if len(found) > seen:
            return tuple(map(int, found[seen]))
        time.sleep(0.1)
    raise AssertionError(machine.console())


def ended(machine, name):
    return machine.console().count(f"{name} ended")


@measured
def test_a_voice(machine):
    seen = ended(machine, "voice")
    send(machine, 5004, 160, 0.02, 150)
    met, late, skipped = verdict(machine, "voice", seen)
    assert met + late + skipped == 150 and met >= 140       # a busy machine may be late itself
    assert re.search(r"voice: \d+ in time", machine.console())


def test_the_plot(machine):
    """Of what the console showed."""
    seen = ended(machine, "voice")
    send(machine, 5004, 160, 0.02, 60)
    verdict(machine, "voice", seen)
    picture = machine.log.with_suffix(".svg")
    subprocess.run([sys.executable, ROOT / "tools/plot_deadlines.py", machine.log, picture, "voice"], check=True)
    assert picture.read_text().count("<circle") == 60


@measured
def test_a_source_that_falters(machine):
    seen = ended(machine, "voice")
    send(machine, 5004, 160, 0.02, 100, pause_before=50, pause=0.5)
    met, late, skipped = verdict(machine, "voice", seen)
    assert 15 <= skipped + late <= 40 and met >= 60


@measured
def test_a_video(machine):
    seen = ended(machine, "video")
    send(machine, 5005, 2048, 0.25, 12)
    met, late, skipped = verdict(machine, "video", seen)
    assert met + late + skipped == 12 and met >= 11


@pytest.fixture(scope="module", params=("arm-virt", "xilinx-zynq-a9"))
def source(request):
    with Machine(request.param, ports=(5004, 5005), program="source") as machine:
        machine.until("waiting for players")
        yield machine


def frames(player, size, count):
    """What came, and when."""
    for _ in range(count):
        data = b""
        while len(data) < size:
            more = player.recv(size - len(data))
            assert more, "the stream ended"
            data += more
        yield time.monotonic(), data


@measured
def test_a_tone_from_a_board(source):
    with source.connect(5004) as player:
        found = list(frames(player, 160, 100))
    tone = b"".join(data for _, data in found)
    assert tone == tone[:20] * (len(tone) // 20) and len(set(tone)) > 10
    assert 1.5 <= found[-1][0] - found[0][0] <= 4      # 99 periods of 20 ms, and a busy machine
    source.until("voice broke off")                    # the player left: the next one finds it again
    with source.connect(5004) as player:
        assert next(frames(player, 160, 1))[1] == tone[:160]


def test_pictures_from_a_board(source):
    with source.connect(5005) as player:
        found = [data for _, data in frames(player, 2048, 6)]
    assert [int.from_bytes(data[:4], "big") for data in found] == list(range(6))
    assert all(data[4:] == bytes((number * 31 + i * 7) & 255 for i in range(4, 2048)) for number, data in enumerate(found))
