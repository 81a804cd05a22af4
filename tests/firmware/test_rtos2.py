# SPDX-License-Identifier: BSD-2-Clause
"""CMSIS-RTOS2 over the preemptive kernel on a board in QEMU: its own test program, and the stack over it."""
import pathlib
import random
import re
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import Machine, exchange, read  # noqa: E402

LEAST_CHECKS = 50


def test_what_the_interface_promises():
    with Machine("mps2-an385", ports=(), program="rtos2_test") as machine:
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


def test_every_byte_comes_back(echo):
    data = random.Random(9).randbytes(200_000)
    with echo.connect(7) as connection:
        assert exchange(connection, data) == data


def test_three_at_once(echo):
    connections = [echo.connect(7) for _ in range(3)]
    for number, connection in enumerate(connections):
        connection.sendall(bytes([number]) * 100)
    for number, connection in reversed(list(enumerate(connections))):
        assert read(connection, 100) == bytes([number]) * 100
        connection.close()


def test_connections_one_after_another(echo):
    for number in range(20):
        with echo.connect(7) as connection:
            assert exchange(connection, b"%d" % number) == b"%d" % number
