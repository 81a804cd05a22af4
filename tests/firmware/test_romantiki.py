# SPDX-License-Identifier: BSD-2-Clause
"""Romantiki's programs: the same source on the cooperative kernel in QEMU, and over BSD sockets and POSIX threads on this machine."""
import pathlib
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import Machine, exchange, read  # noqa: E402

ECHO, MANY = 5200, 5201


class Host:
    """A program built over BSD sockets."""
    def __init__(self, program):
        self.process = subprocess.Popen([ROOT / f"build/host/romantiki/{program}"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def connect(self, port):
        for _ in range(100):
            try:
                connection = socket.create_connection(("127.0.0.1", port), 20)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise TimeoutError("the program does not listen")


def started(kind, program, port):
    if kind == "bsd":
        return Host(program)
    machine = Machine("lm3s6965evb", ports=[port], program=f"romantiki_{program}")
    return machine


@pytest.fixture(params=["lm3s6965evb", "bsd"])
def echo(request):
    with started(request.param, "echo", ECHO) as server:
        if request.param != "bsd":
            server.until("tasks are running")
        yield server


def test_the_listing_echoes(echo):
    with echo.connect(ECHO) as connection:
        for length in (1, 2, 255, 256, 511, 512):
            data = bytes(range(256)) * 2
            connection.sendall(data[:length])
            assert read(connection, length) == data[:length]


def test_every_byte_comes_back(echo):
    data = bytes(value * 7 % 251 for value in range(100_000))
    with echo.connect(ECHO) as connection:
        assert exchange(connection, data) == data


def test_connections_are_given_back(echo):
    """The listing never closes what it accepted; the library does, so that more come than there are sockets."""
    for number in range(40):
        with echo.connect(ECHO) as connection:
            assert exchange(connection, b"%d" % number) == b"%d" % number


def test_a_reset_does_not_end_the_server(echo):
    with echo.connect(ECHO) as connection:
        connection.sendall(b"x")
        assert connection.recv(1) == b"x"
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    with echo.connect(ECHO) as connection:
        assert exchange(connection, b"again") == b"again"


@pytest.fixture(params=["lm3s6965evb", "bsd"])
def sessions(request):
    with started(request.param, "sessions", MANY) as server:
        if request.param != "bsd":
            server.until("tasks are running")
        yield server


def ask(connection, data):
    connection.sendall(data)
    return read(connection, len(data))


def count(connection):
    connection.sendall(b"?")
    return int(connection.makefile().readline())


def test_one_task_serves_many_sessions(sessions):
    """Three at once, none waiting for another; a second task counts what they said, behind semaphores."""
    with sessions.connect(MANY) as first, sessions.connect(MANY) as second, sessions.connect(MANY) as third:
        for number in range(5):
            for connection in (third, first, second):
                text = b"%d says %d" % (connection.fileno(), number)
                assert ask(connection, text) == text
        deadline = time.monotonic() + 10
        while count(first) != 15:
            assert time.monotonic() < deadline
    for number in range(10):   # their places are free again
        with sessions.connect(MANY) as connection:
            assert ask(connection, b"later") == b"later"
