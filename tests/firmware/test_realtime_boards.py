# SPDX-License-Identifier: BSD-2-Clause
"""The real-time work's benchmark between two boards, for seconds: the modelled Xinu and Weir's player, and the laboratory's link over QEMU's
datagram sockets (bench/realtime/boards_part.py)."""
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench"), str(ROOT / "bench/realtime")]
import boards_part  # noqa: E402
from patience import measured  # noqa: E402

FRAMES = 24


@measured
def test_the_modes():
    """Without loss all but the machine's own delays is determined: one frame in three is missed by skipping alone, all but two by waiting."""
    runs = {mode: boards_part.Run(mode, loss, 1, FRAMES, ROOT / "build/labs/realtime-boards") for mode, loss in
            (("regular", 0), ("skip", 0), ("skip_update", 0), ("weir", 10))}
    try:
        for run in runs.values():
            run.start()
        while not all(run.ended() for run in runs.values()):
            time.sleep(0.1)
        found = {mode: run.take() for mode, run in runs.items()}
    finally:
        for run in runs.values():
            run.close()
    assert all(found.values()), {mode: result or run.output("player") for (mode, result), run in zip(found.items(), runs.values())}
    assert all(result["beats"] == FRAMES and not result["wrong"] for result in found.values())
    assert found["regular"]["in_time"] <= 3
    assert 14 <= found["skip"]["in_time"] <= 17 and found["skip"]["backtracked"] >= 6
    assert found["skip_update"]["in_time"] >= 22
    assert found["weir"]["in_time"] >= 22 and found["weir"]["round_trip_us"] >= 20000
