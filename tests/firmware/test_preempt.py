# SPDX-License-Identifier: BSD-2-Clause
"""The preemptive kernel on a board in QEMU, with blocking BSD sockets: four connections, each with a thread of its own; beside them, in
busy_echo, a thread of the lowest priority that never stops computing."""
import pathlib
import random
import socket
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import Machine, exchange  # noqa: E402

CONNECTIONS = 4
LEAST_STACK_LEFT = 64   # bytes


@pytest.fixture(scope="module", params=(("mps2-an385", "small_echo"), ("mps2-an385", "busy_echo"), ("xilinx-zynq-a9", "busy_echo"), ("arm-virt", "busy_echo"), ("pc", "busy_echo"), ("pc-ne2k", "driver_echo"), ("malta", "busy_echo"), ("malta-el", "busy_echo")), ids="/".join)
def machine(request):
    with Machine(request.param[0], ports=(7, 9), program=request.param[1]) as machine:
        machine.until("echo on port 7")
        yield machine
        assert "overflow" not in machine.console()


@pytest.fixture(scope="module", params=("mps2-an385", "xilinx-zynq-a9", "arm-virt", "pc", "malta", "malta-el"))
def busy(request):
    log = pathlib.Path(__file__).resolve().parents[2] / f"build/boards/{request.param}/busy_echo.2.log"
    with Machine(request.param, ports=(7, 9), program="busy_echo", log=log) as machine:
        machine.until("echo on port 7")
        yield machine


def report(machine):
    """What port 9 tells: name → numbers."""
    with machine.connect(9) as connection:
        text = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    found = {}
    for line in text.splitlines():
        name, number = line.split()
        found.setdefault(name, []).append(int(number))
    return found


def test_every_byte_comes_back(machine):
    data = random.Random(4).randbytes(300_000)
    with machine.connect(7) as connection:
        assert exchange(connection, data) == data


def test_four_at_once(machine):
    texts = [random.Random(number).randbytes(50_000) for number in range(CONNECTIONS)]
    connections = [machine.connect(7) for _ in texts]
    for number, connection in enumerate(connections):   # all four are served, none has ended
        connection.sendall(bytes([number]))
    assert [connection.recv(1) for connection in connections] == [bytes([number]) for number in range(CONNECTIONS)]
    got = [b""] * CONNECTIONS

    def one(number):
        got[number] = exchange(connections[number], texts[number])
        connections[number].close()
    threads = [threading.Thread(target=one, args=(number,)) for number in range(CONNECTIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == texts


def test_connections_one_after_another(machine):
    for number in range(20):
        with machine.connect(7) as connection:
            assert exchange(connection, b"%d" % number) == b"%d" % number


def test_a_reset_connection_makes_room(machine):
    """SO_LINGER 0 closes with a reset: each thread must come back from it. More of them than there are threads."""
    for number in range(2 * CONNECTIONS):
        connection = machine.connect(7)
        connection.sendall(b"x" * 1000)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()
    # The last resets may still wait in QEMU's network or in the backlog: a connection that finds no room then is refused, and asks again.
    deadline = time.monotonic() + 60
    while True:
        with machine.connect(7) as connection:
            try:
                answer = exchange(connection, b"still there")
            except OSError:
                answer = b""
        if answer or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    assert answer == b"still there"


def test_a_busy_thread_of_low_priority_stops_nothing(busy):
    before = report(busy)["busy"][0]
    with busy.connect(7) as connection:
        for number in range(200):
            connection.sendall(bytes([number]))
            assert connection.recv(1) == bytes([number])
    assert report(busy)["busy"][0] != before   # it did compute


def test_stacks_suffice(busy):
    data = random.Random(5).randbytes(100_000)
    with busy.connect(7) as connection:
        assert exchange(connection, data) == data
    told = report(busy)
    assert len(told["stack.echo"]) == CONNECTIONS
    assert min(told["stack.echo"] + told["stack.io"]) >= LEAST_STACK_LEFT


def test_the_processor_sleeps(busy):
    """The I/O thread goes to sleep after its work, and is not woken by a tick: a few turns a second."""
    first = report(busy)
    assert threading.Event().wait(1.0) is False
    second = report(busy)
    assert second["turns"][0] - first["turns"][0] < 100
