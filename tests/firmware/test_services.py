# SPDX-License-Identifier: BSD-2-Clause
"""The small services on boards with virtio-net, without a kernel: chargen sends, discard takes, the status page tells."""
import http.client
import json
import pathlib
import random
import socket
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import Machine, exchange  # noqa: E402


@pytest.fixture(scope="module", params=("arm-virt", "pc"))
def machine(request):
    with Machine(request.param, ports=(7, 9, 19, 80), program="services") as machine:
        machine.until("http 80")
        yield machine


def get(machine, path):
    connection = http.client.HTTPConnection("127.0.0.1", machine.ports[80], timeout=60)
    connection.request("GET", path)
    return connection.getresponse().read()


def test_echo(machine):
    data = random.Random(7).randbytes(3_000_000)
    with machine.connect(7) as connection:
        assert exchange(connection, data) == data


def test_chargen(machine):
    with machine.connect(19) as connection:
        got = connection.makefile("rb").read(20_000)
    lines = got.split(b"\r\n")
    assert all(len(line) == 72 for line in lines[:-1]) and len(set(lines[:95])) == 95
    assert lines[1] == lines[0][1:] + bytes([lines[0][-1] + 1])


def test_discard(machine):
    with machine.connect(9) as connection:
        connection.sendall(bytes(2_000_000))
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(1) == b""


def test_pattern(machine):
    size = 1_000_003
    assert get(machine, f"/bytes/{size}") == (bytes(range(251)) * (size // 251 + 1))[:size]


def test_status(machine):
    status = json.loads(get(machine, "/status.json"))
    assert "eth0" in json.dumps(status)
    assert b"<html" in get(machine, "/").lower()
