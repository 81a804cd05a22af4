# SPDX-License-Identifier: BSD-2-Clause
"""What a test file has built. Files run side by side: one builds, the others wait."""
import fcntl
import functools
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIM = "build/host/weir-sim"


@functools.cache
def build(*targets):
    """Goals of make, once in this process. Raises where one does not build."""
    (ROOT / "build").mkdir(exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with open(ROOT / "build/programs.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "-s", *map(str, targets)], cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)


def host_flags():
    """What a program is compiled with that is linked to build/host/liball.a."""
    return subprocess.run(["make", "-s", "host-flags"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
