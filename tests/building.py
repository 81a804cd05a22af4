# SPDX-License-Identifier: BSD-2-Clause
"""What a test file has built. Files run side by side: one builds, the others wait."""
import contextlib
import fcntl
import functools
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
SIM = "build/host/weir-sim"
OF_ANOTHER_MAKE = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")   # which started the tests


@contextlib.contextmanager
def alone():
    """Nobody else builds meanwhile."""
    (ROOT / "build").mkdir(exist_ok=True)
    with open(ROOT / "build/programs.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def make(*targets):
    """What make says, its errors with it. Raises where a goal does not build."""
    environment = {name: value for name, value in os.environ.items() if name not in OF_ANOTHER_MAKE}
    with alone():
        done = subprocess.run(["make", "-s", *map(str, targets)], cwd=ROOT, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, f"make {' '.join(map(str, targets))}: {done.stdout[-3000:]}"
    return done.stdout


@functools.cache
def build(*targets):
    """Goals of make, once in this process."""
    make(*targets)


def host_flags():
    """What a program is compiled with that is linked to build/host/liball.a."""
    return make("host-flags").split()
