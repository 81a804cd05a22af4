# SPDX-License-Identifier: BSD-2-Clause
"""What weir-sim and tools/sim.py make of their numbers: Jain's index, and the chart of a trace."""
import json
import math
import subprocess
import sys

import pytest

from building import ROOT, SIM, build

sys.path.insert(0, str(ROOT / "tools"))
import sim as front  # noqa: E402


def run(*words):
    build(SIM)
    return json.loads(subprocess.run([SIM, *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def test_a_run_without_a_duration_has_numbers():
    """0 Mbit/s, in JSON that can be read."""
    said = run("--seconds", "0")
    assert said["mbit"] == 0 and said["flows"][0]["mbit"] == 0


def test_jains_index():
    """(Σx)² / (n Σx²): 1 where all get the same, 1/n where one has everything."""
    assert run("--seconds", "2")["jain"] == 1
    assert run("--flows", "4", "--bytes", "100000")["jain"] == 1
    assert run("--flows", "4", "--seconds", "2", "--start", "2")["jain"] == 0.25   # the others have not begun
    uneven = run("--flows", "3", "--seconds", "10", "--start", "4")
    got = [flow["received"] for flow in uneven["flows"]]
    assert uneven["jain"] == pytest.approx(sum(got) ** 2 / (3 * sum(x * x for x in got)), abs=6e-5)
    assert 0.34 < uneven["jain"] < 0.9


TRACE = """time_s,cwnd,ssthresh,inflight,srtt_us,min_rtt_us,pacing_rate,delivery_rate,queue_bytes,acked,received,retransmits,timeouts,recovery
0.001000,14480,0,1448,21000,20500,5,6,700,1,0,0,0,0
0.002000,15928,9000,2896,22000,20250,7,8,800,1449,1448,1,2,3
"""


def test_a_trace_is_drawn(tmp_path, monkeypatch):
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "matplotlib"))
    (tmp_path / "trace.csv").write_text(TRACE)
    front.plot(type("options", (), {"trace": str(tmp_path / "trace.csv"), "out": None}))
    assert (tmp_path / "trace.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    from matplotlib import pyplot
    drawn = [(axis.get_ylabel(), {line.get_label(): list(line.get_ydata()) for line in axis.lines}) for axis in pyplot.gcf().axes]
    times = {tuple(line.get_xdata()) for axis in pyplot.gcf().axes for line in axis.lines}
    pyplot.close()
    assert times == {(0.001, 0.002)}
    assert math.isnan(drawn[1][1]["ssthresh"].pop(0))   # no limit yet: nothing to draw
    assert drawn == [("bytes", {"acked": [1, 1449], "received": [0, 1448]}),
                     ("bytes", {"cwnd": [14480, 15928], "ssthresh": [9000], "inflight": [1448, 2896]}),
                     ("ms", {"srtt_us": [21, 22], "min_rtt_us": [20.5, 20.25]}),
                     ("bytes", {"queue_bytes": [700, 800]})]


def test_a_part_of_the_grid_is_chosen_by_what_there_is():
    assert front.chosen("", front.LOSSES, "loss") == list(front.LOSSES) and front.chosen("1,0.1", front.LOSSES, "loss") == [0.1, 1]
    with pytest.raises(front.Failed, match="there is no loss 3, 1.0; there are 0, 0.1, 1, 2, 5, 10, 15"):
        front.chosen("1,3,1.0", front.LOSSES, "loss")
