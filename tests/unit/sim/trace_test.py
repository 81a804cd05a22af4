# SPDX-License-Identifier: BSD-2-Clause
"""weir-sim --trace FILE.json: JSON as Perfetto reads it, with what happened in a run that is known."""
import json
import subprocess

import pytest

from building import ROOT, SIM, build


def simulate(path):
    words = ["--trace", path, "--rate", "10", "--delay", "20", "--loss", "0.5", "--seconds", "5", "--seed", "3"]
    return subprocess.run([ROOT / SIM, *words], capture_output=True, text=True)


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    build(SIM)
    path = tmp_path_factory.mktemp("trace") / "run.json"
    result = json.loads(simulate(path).stdout)
    found = json.loads(path.read_text())
    assert found["otherData"]["lost"] == "0"
    return result, found["traceEvents"]


def named(events, phase):
    return [event for event in events if event["ph"] == phase]


def test_every_event_has_its_fields_and_times_of_the_run(events):
    for event in events[1]:
        assert {"ph", "pid", "tid", "ts", "name"} <= event.keys() and event["ph"] in "MBEiC"
        assert 0 <= event["ts"] <= 5_000_000
    tracks = {}
    for event in events[1]:
        if event["ph"] in "BEi":
            assert event["ts"] >= tracks.get((event["pid"], event["tid"]), 0)
            tracks[event["pid"], event["tid"]] = event["ts"]
    names = {(event["pid"], event["tid"]) for event in named(events[1], "M")}
    assert tracks.keys() <= names   # each has a name


def test_both_hosts_and_their_connection_are_there(events):
    names = [event["args"]["name"] for event in named(events[1], "M")]
    assert names.count("a") == names.count("b") == 1
    assert "10.0.0.1:20000 > 10.0.0.2:5000" in names and "10.0.0.2:5000 > 10.0.0.1:20000" in names
    states = [event["name"] for event in named(events[1], "B") if event["pid"] == 1]
    assert states[:2] == ["SYN-SENT", "ESTABLISHED"]


def test_what_the_result_counts_is_in_the_trace(events):
    flow = events[0]["flows"][0]
    told = [event["name"] for event in named(events[1], "i") if event["pid"] == 1 and event.get("cat") == "congestion"]
    assert told.count("timeout") == flow["timeouts"] and told.count("loss") > 0
    windows = [event["args"] for event in named(events[1], "C") if event["name"].startswith("window 10.0.0.1")]
    assert min(window["cwnd"] for window in windows) < flow["cwnd"] < max(window["cwnd"] for window in windows)   # a mean
    assert any(window["in flight"] > 0 for window in windows)
    trips = [event["args"]["srtt us"] for event in named(events[1], "C") if event["name"].startswith("round trip 10.0.0.1")]
    assert max(trips) > 40_000   # twice the delay of a way


def test_a_file_that_cannot_be_written_is_told(tmp_path):
    done = simulate(tmp_path / "nowhere/run.json")
    assert done.returncode == 2 and "nowhere/run.json: No such file" in done.stderr
