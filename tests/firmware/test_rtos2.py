# SPDX-License-Identifier: BSD-2-Clause
"""CMSIS-RTOS2 over the preemptive kernel on a board in QEMU: its own test program, and the stack over it."""
import pathlib
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import Machine  # noqa: E402
from echo_tests import *  # noqa: E402,F403

LEAST_CHECKS = 50


def test_what_the_interface_promises():
    """In virtual time, in which an instruction takes 32 ns: the program tells delays and order from ticks."""
    with Machine("mps2-an385", ports=(), program="rtos2_test", extra=("-icount", "shift=5,sleep=off")) as machine:
        machine.until("checks, ")
        machine.until(" failed\n")
        told = machine.console()
    checks, failed = map(int, re.search(r"(\d+) checks, (\d+) failed", told).groups())
    assert failed == 0, told
    assert checks >= LEAST_CHECKS


@pytest.fixture(scope="module")
def echo():
    with Machine("mps2-an385", program="rtos2_echo") as machine:
        machine.until("echo on port 7")
        yield machine
        assert "overflow" not in machine.console()
