# SPDX-License-Identifier: BSD-2-Clause
"""Tracing on a board: what it told on its console, as the file that Perfetto reads."""
import json
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
from boards import ADDRESS, Machine, exchange  # noqa: E402
from building import build  # noqa: E402
from configuration import version  # noqa: E402


def converted(log):
    done = subprocess.run([ROOT / "tools/board_trace.py", log], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def until_states(machine, *states, seconds=60):
    """The trace, as soon as a connection has had these states."""
    end = time.monotonic() + seconds
    while True:
        trace = converted(machine.log)
        found = [event["name"] for event in trace["traceEvents"] if event.get("cat") == "state"]
        if set(states) <= set(found):
            return trace
        assert time.monotonic() < end, machine.console()
        time.sleep(0.1)


def test_a_connections_life_opens_in_perfetto():
    build("build/boards/mps2-an385/traced_echo.elf")
    with Machine("mps2-an385", program="traced_echo") as machine:
        machine.until("traced")
        with machine.connect(7) as connection:
            assert exchange(connection, b"x" * 10000) == b"x" * 10000
        trace = until_states(machine, "ESTABLISHED", "CLOSE-WAIT", "CLOSED")
    events = trace["traceEvents"]
    names = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert any(name.startswith(f"{ADDRESS}:7 > ") for name in names), names
    depth = {}
    for event in events:
        assert {"ph", "pid", "tid", "ts", "name"} <= event.keys() and event["ts"] >= 0
        depth[event["tid"]] = depth.get(event["tid"], 0) + {"B": 1, "E": -1}.get(event["ph"], 0)
        assert 0 <= depth[event["tid"]] <= 1   # states follow each other
    assert any(event["ph"] == "C" and event["args"]["cwnd"] > 0 for event in events)
    assert trace["otherData"] == {"weir": version(), "lost": "0"}   # whose names the events' are, and that none is missing


def test_lines_that_were_cut_are_passed_over(tmp_path):
    (tmp_path / "log").write_text("boot\ntrace-version 9.8\ntrace 5 state a:1 b:2 10 ESTABLISHED\ntrace 7 sta\ntrace-lost 3\ntrace 9 timer a:1 b:2 0 zero-window probe\ntrace")
    trace = converted(tmp_path / "log")
    assert [(event["ph"], event["ts"], event["name"]) for event in trace["traceEvents"]] == [
        ("M", 0, "thread_name"), ("B", 0, "ESTABLISHED"), ("C", 0, "window a:1 > b:2"), ("i", 4, "zero-window probe")]
    assert trace["otherData"] == {"weir": "9.8", "lost": "3"}


def test_a_console_that_is_not_there_is_told(tmp_path):
    done = subprocess.run([ROOT / "tools/board_trace.py", tmp_path / "none"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"board_trace.py: {tmp_path}/none cannot be read: No such file or directory\n"
    assert subprocess.run([ROOT / "tools/board_trace.py"], capture_output=True).returncode == 2
