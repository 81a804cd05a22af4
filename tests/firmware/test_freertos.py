# SPDX-License-Identifier: BSD-2-Clause
"""The stack over FreeRTOS, on a board in QEMU: `make test FREERTOS=dir` with the kernel's sources in dir. Without, only that the port compiles."""
import os
import pathlib
import random
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import Machine, exchange  # noqa: E402

FREERTOS = os.environ.get("FREERTOS", "")


def test_the_port_compiles_against_the_public_interface():
    objects = [f"build/boards/mps2-an385/stand_in/{name}.o" for name in ("ports/freertos/freertos_port", "examples/freertos/freertos_echo")]
    built = subprocess.run(["make", "-s", *objects], cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0 and "warning" not in built.stderr, built.stderr


@pytest.mark.skipif(not FREERTOS, reason="FREERTOS names no folder with the kernel's sources")
def test_echo_on_the_real_kernel():
    with Machine("mps2-an385", program="freertos_echo") as machine:
        machine.until("echo on port 7")
        data = random.Random(10).randbytes(100_000)
        for _ in range(3):
            with machine.connect(7) as connection:
                assert exchange(connection, data) == data
