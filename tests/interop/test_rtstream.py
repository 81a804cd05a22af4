# SPDX-License-Identifier: BSD-2-Clause
"""weir-host as source and player of real media, over a link that loses: a tone as WAV, and a video-like stream of constant rate."""
import csv
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import wave

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402
from patience import measured  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
FOLDER = ROOT / "build/labs/rtstream"
A, B, PORT = "10.90.0.1", "10.90.0.2", 5004
SECONDS, FRAME = 6, 160


@pytest.fixture(scope="module")
def tone():
    """440 Hz, 8 kHz, 8 bits; its bytes without the header."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    samples = bytes(int(128 + 100 * math.sin(2 * math.pi * 440 * n / 8000)) for n in range(8000 * SECONDS))
    with wave.open(str(FOLDER / "tone.wav"), "wb") as out:
        out.setparams((1, 1, 8000, 0, "NONE", ""))
        out.writeframes(samples)
    return samples


@pytest.fixture(scope="module")
def video():
    data = random.Random(5).randbytes(2048 * 12)
    (FOLDER / "video").write_bytes(data)
    return data


@pytest.fixture()
def ends():
    with Lab(FOLDER / "lab") as lab:
        a, b = lab.namespace("a"), lab.namespace("b")
        lab.veth(a, "eth0", b, "eth0")
        yield a, b


def words(address, command, loss, seed):
    # The impairments are those of the packets that come in and go out at this end: at one end only, or they would count twice.
    impaired = ["--loss", str(loss), "--delay", "10", "--seed", str(seed)] if loss is not None else []
    return [HOST, "--packet", "eth0", "--no-offload", "--address", f"{address}/24", *impaired, "--run", command]


def play(ends, source, player, loss=5, seed=11, rtp=False):
    a, b = ends
    out, log = FOLDER / "played", FOLDER / "played.csv"
    command = f"play {A} {PORT} {player} out={out} log={log}"
    if rtp:
        playing = b.popen(*words(B, command, loss, seed), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        ping = (HOST, "--packet", "eth0", "--address", f"{A}/24", "--run", f"ping -c 1 {B}")
        assert until(lambda: "1 received" in a.run(*ping, check=False), 60)
        a.run(*words(A, source, None, 0), timeout=60)
        text = playing.communicate(timeout=60)[0]
    else:
        streaming = a.start(*words(A, source, None, 0))
        assert until(lambda: "listening" in streaming.output(), 60), streaming.output()
        text = b.run(*words(B, command, loss, seed), timeout=60)
        streaming.stop()
    found = json.loads(text[text.index("{"):text.rindex("}") + 1])
    rows = list(csv.DictReader(open(log)))
    assert [int(row["frame"]) for row in rows] == list(range(found["frames"]))
    assert sum(row["verdict"] == "met" for row in rows) == found["met"]
    return found, out.read_bytes(), rows


def check(media, played, rows, size, silence=b"\0"):
    """What was handed out is what was sent; what was skipped is silence."""
    for row in rows:
        at = int(row["frame"]) * size
        expected = silence * size if row["verdict"] == "skipped" else media[at:at + size].ljust(size, b"\0")
        assert played[at:at + size] == expected, row


@measured
def test_a_tone_over_a_bad_link(ends, tone):
    found, played, rows = play(ends, f"stream {FOLDER / 'tone.wav'} {PORT} within=100", "within=100")
    assert found["frames"] == 8000 * SECONDS // FRAME and found["met_percent"] >= 98
    check(tone, played, rows, FRAME)


@measured
def test_a_video_over_a_bad_link(ends, video):
    found, played, rows = play(ends, f"stream {FOLDER / 'video'} {PORT} frame=2048 period=250 within=500 stored=1",
                               "frame=2048 period=250 within=250 buffer=4096 stored=1")
    assert found["frames"] == 12 and found["met"] >= 11
    check(video, played, rows, 2048)


@measured
def test_a_source_stays_until_its_player_has_all(ends, video):
    """All is written at once, but read by the clock: the last frames are still in the source's queue then."""
    found, played, rows = play(ends, f"stream {FOLDER / 'video'} {PORT} frame=2048 period=500 within=500 stored=1",
                               "frame=2048 period=500 within=0 buffer=4096 stored=1", loss=0)
    assert found["frames"] == found["met"] == 12
    check(video, played, rows, 2048)


@pytest.mark.parametrize("over,least", (("rtp", 85), ("red", 97), ("udp", 85)))
@measured
def test_a_tone_over_datagrams(ends, tone, over, least):
    frames = 8000 * SECONDS // FRAME
    found, played, rows = play(ends, f"stream {FOLDER / 'tone.wav'} {PORT} to={B} over={over}", f"over={over} within=100 frames={frames - 5}", rtp=True)
    assert found["met_percent"] >= least
    # Frame 0 is the first that was heard; the tone is the same again after five frames.
    heard = next(row for row in rows if row["verdict"] == "met")
    at = int(heard["frame"]) * FRAME
    first = next(number for number in range(5) if tone[at + number * FRAME:][:FRAME] == played[at:at + FRAME])
    check(tone[first * FRAME:], played, rows[:frames - 10], FRAME)
    assert found["jitter_ticks"] < 400       # 50 ms: the packets of a busy machine


def test_the_plot(ends, tone):
    found, _, _ = play(ends, f"stream {FOLDER / 'tone.wav'} {PORT} within=100", "within=100 frames=100")
    picture = FOLDER / "played.svg"
    subprocess.run([sys.executable, ROOT / "tools/plot_deadlines.py", FOLDER / "played.csv", picture], check=True)
    text = picture.read_text()
    assert text.startswith("<svg") and text.count("<circle") == found["frames"] == 100
