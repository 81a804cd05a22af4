# SPDX-License-Identifier: BSD-2-Clause
"""The shell of weir-host, from Linux's nc."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
FOLDER = ROOT / "build/labs/shell"
LINUX, WEIR = "10.92.0.1", "10.92.0.2"


def test_a_session():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        linux = lab.namespace("linux")
        where, words = lab.link(linux, "weir0", LINUX)
        host = where.start(HOST, *words, "--address", f"{WEIR}/24", "--shell", "2323")
        assert until(lambda: "up on" in host.output(), 30), host.output()
        said = subprocess.run(linux.enter() + ["nc", "-N", "-w", "30", WEIR, "2323"], input=f"ifconfig\nroute\nneigh\nnetstat\nping {LINUX} 2\nnetstat -s\nstats\n",
                              capture_output=True, text=True, timeout=60).stdout
        for part in ("10.92.0.0/24 dev ", " metric 0 connected\n", f"address {WEIR}/24", f"{WEIR}:2323", f"64 bytes from {LINUX}: seq ", "2 sent, 2 received", "passive connections established", "version "):
            assert part in said, said
        assert re.search(rf"{LINUX} dev \w+ [0-9a-f:]{{17}} [A-Z]+\n", said), said
        assert "ESTABLISHED" in said or "CLOSE" in said   # nc has said everything by then, or not
        assert said.count("weir> ") == 8


def test_nothing_listens_unless_asked():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with Lab(FOLDER) as lab:
        linux = lab.namespace("linux")
        where, words = lab.link(linux, "weir0", LINUX)
        host = where.start(HOST, *words, "--address", f"{WEIR}/24")
        assert until(lambda: "up on" in host.output(), 30), host.output()
        for port in ("23", "2323"):
            assert subprocess.run(linux.enter() + ["nc", "-z", "-w", "30", WEIR, port], timeout=60).returncode == 1
