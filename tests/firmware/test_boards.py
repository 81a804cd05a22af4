# SPDX-License-Identifier: BSD-2-Clause
"""Every board boots in QEMU and serves, over a link that needs no privileges (QEMU's user-mode network)."""
import pathlib
import random
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import BOARDS, Machine, exchange, read  # noqa: E402


@pytest.fixture(scope="module", params=BOARDS)
def machine(request):
    with Machine(request.param) as machine:
        machine.until("echo on port 7")
        yield machine


def test_one_byte(machine):
    with machine.connect(7) as connection:
        for byte in b"weir":
            connection.sendall(bytes([byte]))
            assert connection.recv(1) == bytes([byte])


def test_every_byte_comes_back(machine):
    data = random.Random(1).randbytes(300_000)
    with machine.connect(7) as connection:
        assert exchange(connection, data) == data


def test_connections_one_after_another(machine):
    for number in range(20):
        with machine.connect(7) as connection:
            assert exchange(connection, b"%d" % number) == b"%d" % number


def test_two_at_once(machine):
    with machine.connect(7) as first, machine.connect(7) as second:
        for connection in (first, second):
            connection.sendall(b"both")
        for connection in (second, first):
            assert read(connection, 4) == b"both"
