# SPDX-License-Identifier: BSD-2-Clause
"""What weir-host lets one see while it runs: the file of --trace."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
FOLDER = ROOT / "build/labs/seeing"
LINUX, WEIR = "10.93.0.1", "10.93.0.2"


def test_a_trace_has_the_connections_that_were_served():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        linux = lab.namespace("linux")
        where, words = lab.link(linux, "weir0", LINUX)
        host = where.start(HOST, *words, "--address", f"{WEIR}/24", "--trace", FOLDER / "host.json")
        assert until(lambda: "up on" in host.output(), 30), host.output()
        got = subprocess.run(linux.enter() + ["curl", "-s", "--max-time", "60", f"http://{WEIR}/bytes/100000"], capture_output=True, timeout=90).stdout
        assert len(got) == 100000
        assert host.stop(60) == 0
    events = json.loads((FOLDER / "host.json").read_text())["traceEvents"]
    tracks = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert "weir-host" in tracks and any(name.startswith(f"{WEIR}:80 > {LINUX}:") for name in tracks), tracks
    assert "ESTABLISHED" in {event["name"] for event in events if event["ph"] == "B"}
    assert any(event["ph"] == "C" and event["args"].get("cwnd", 0) > 0 for event in events)
    frames = sum(event.get("args", {}).get("bytes", 0) for event in events if event.get("cat") == "frame" and event["name"] == "out")
    assert frames > 100000
