# SPDX-License-Identifier: BSD-2-Clause
"""build/host/weir-sim and weir-script, for the tests of this folder, which run side by side: one builds, the others wait."""
import fcntl
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = "build/host/weir-sim"


def build(program=PROGRAM):
    (ROOT / "build").mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with open(ROOT / "build/programs.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", program], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
