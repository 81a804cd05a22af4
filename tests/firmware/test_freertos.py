# SPDX-License-Identifier: BSD-2-Clause
"""The stack over FreeRTOS, on a board in QEMU: `make test FREERTOS=dir` with the kernel's sources in dir. Without, only that the port compiles."""
import os
import pathlib
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import Machine  # noqa: E402
from building import make  # noqa: E402
from echo_tests import *  # noqa: E402,F403
from patience import measured  # noqa: E402

FREERTOS = os.environ.get("FREERTOS", "")


def test_the_port_compiles_against_the_public_interface():
    objects = [f"build/boards/mps2-an385/stand_in/{name}.o" for name in ("ports/freertos/freertos_port", "examples/freertos/freertos_echo")]
    assert "warning" not in make(*objects)


@pytest.fixture(scope="module")
def echo():
    """The echo server on the real kernel, whose own assertions and stack checks are on."""
    if not FREERTOS:
        pytest.skip("FREERTOS names no folder with the kernel's sources")
    with Machine("mps2-an385", program="freertos_echo") as machine:
        machine.until("echo on port 7")
        yield machine
        assert "freertos:" not in machine.console()


@measured
def test_a_quiet_second_is_slept_through(echo):
    """A task waits in recv; the kernel's tick goes on, and the answer comes at once afterwards."""
    with echo.connect(7) as connection:
        connection.sendall(b"a")
        assert connection.recv(1) == b"a"
        time.sleep(1.0)
        began = time.monotonic()
        connection.sendall(b"b")
        assert connection.recv(1) == b"b" and time.monotonic() - began < 0.5
