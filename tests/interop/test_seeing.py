# SPDX-License-Identifier: BSD-2-Clause
"""What weir-host lets one see while it runs: the file of --trace, and packets through a pipe, as Wireshark reads them."""
import contextlib
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


@contextlib.contextmanager
def served(*options):
    """weir-host with such options: (the namespace of its client, what starts it)."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        linux = lab.namespace("linux")
        where, words = lab.link(linux, "weir0", LINUX)
        yield linux, lambda: where.start(HOST, *words, "--address", f"{WEIR}/24", *options)


def fetch(linux, count):
    got = subprocess.run(linux.enter() + ["curl", "-s", "--max-time", "60", f"http://{WEIR}/bytes/{count}"], capture_output=True, timeout=90).stdout
    assert len(got) == count


def test_a_trace_has_the_connections_that_were_served():
    with served("--trace", FOLDER / "host.json") as (linux, start):
        host = start()
        assert until(lambda: "up on" in host.output(), 60), host.output()
        fetch(linux, 100000)
        assert host.stop() == 0
    events = json.loads((FOLDER / "host.json").read_text())["traceEvents"]
    tracks = [event["args"]["name"] for event in events if event["ph"] == "M"]
    assert "weir-host" in tracks and any(name.startswith(f"{WEIR}:80 > {LINUX}:") for name in tracks), tracks
    assert "ESTABLISHED" in {event["name"] for event in events if event["ph"] == "B"}
    assert any(event["ph"] == "C" and event["args"].get("cwnd", 0) > 0 for event in events)
    frames = sum(event.get("args", {}).get("bytes", 0) for event in events if event.get("cat") == "frame" and event["name"] == "out")
    assert frames > 100000


def test_packets_come_through_a_pipe_while_the_host_runs():
    with served("--pcap", FOLDER / "pipe") as (linux, start):
        os.mkfifo(FOLDER / "pipe")
        reader = linux.start("tcpdump", "-n", "-l", "-r", FOLDER / "pipe", "tcp", "port", "80")
        host = start()
        assert until(lambda: "up on" in host.output(), 60), host.output()
        fetch(linux, 1000)
        assert until(lambda: f"{WEIR}.80 > {LINUX}" in reader.output(), 60), reader.output()
        assert host.poll() is None
        assert host.stop() == 0
