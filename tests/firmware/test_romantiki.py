# SPDX-License-Identifier: BSD-2-Clause
"""Romantiki's programs: the same source on the cooperative kernel in QEMU; over BSD sockets and POSIX threads on this machine; and over Weir's BSD sockets and
the threads of the preemptive kernel, CMSIS-RTOS2 and FreeRTOS in QEMU. (FreeRTOS with `make test FREERTOS=dir`, as in test_freertos.py.)"""
import contextlib
import os
import pathlib
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import ADDRESS, BOARDS, HOST, Machine, answered, command, exchange, free_udp_ports, read  # noqa: E402
from netns import until  # noqa: E402

ECHO, MANY, RESPOND, COUNT, TWINS = 5200, 5201, 5202, 5203, 5206
THREADS = "mps2-an385"   # the board with kernels that have threads
KERNELS = ("preempt", "rtos2", pytest.param("freertos", marks=pytest.mark.skipif(not os.environ.get("FREERTOS"), reason="FREERTOS names no folder with the kernel's sources")))


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
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                connection = socket.create_connection(("127.0.0.1", port), 60)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return connection
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise TimeoutError("the program does not listen")


    def udp(self, port):
        return "127.0.0.1", port


class Datagrams(Machine):
    """A board whose UDP ports are reached through QEMU's user-mode network."""
    def __init__(self, board, program, ports):
        super().__init__(board, (), program)
        self.udp_ports = dict(zip(ports, free_udp_ports(len(ports))))

    def words(self):
        forwards = "".join(f",hostfwd=udp:127.0.0.1:{here}-{ADDRESS}:{there}" for there, here in self.udp_ports.items())
        return command(self.board, f"user,net=10.0.0.0/24,host={HOST},dhcpstart={ADDRESS}{forwards}", self.program)

    def udp(self, port):
        return "127.0.0.1", self.udp_ports[port]


def on_board(kind, program):
    """The board and the firmware of a kind: a board with the cooperative kernel, or a kernel with threads."""
    return (kind, f"romantiki_{program}") if kind in BOARDS else (THREADS, f"romantiki_{program}_{kind}")


def started(kind, program, port):
    if kind == "bsd":
        return Host(program)
    board, image = on_board(kind, program)
    return Machine(board, ports=[port], program=image)


@pytest.fixture(scope="module", params=["lm3s6965evb", "paper_echo", "bsd", *KERNELS])
def echo(request):
    """paper_echo: the same program on that board with one connection, in the RAM that the paper has for it."""
    small = Machine("lm3s6965evb", ports=[ECHO], program="paper_echo") if request.param == "paper_echo" else None
    with small or started(request.param, "echo", ECHO) as server:
        if request.param != "bsd":
            server.until("tasks are running")
        assert until(lambda: answered(lambda: server.connect(ECHO)), 60)   # the task listens
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


@pytest.fixture(scope="module", params=["lm3s6965evb", "bsd", *KERNELS])
def sessions(request):
    with started(request.param, "sessions", MANY) as server:
        if request.param != "bsd":
            server.until("tasks are running")
        assert until(lambda: answered(lambda: server.connect(MANY)), 60)   # which is not counted
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
        deadline = time.monotonic() + 60
        while count(first) != 15:
            assert time.monotonic() < deadline
    for number in range(10):   # their places are free again
        with sessions.connect(MANY) as connection:
            assert ask(connection, b"later") == b"later"


@pytest.fixture(scope="module", params=["lm3s6965evb", "malta", "bsd", *KERNELS])
def twins(request):
    with started(request.param, "twins", TWINS) as server:
        if request.param != "bsd":
            server.until("tasks are running")
        assert until(lambda: answered(lambda: server.connect(TWINS)), 60)
        yield server


def test_two_tasks_of_one_function(twins):
    """Each counts its own answers, in AUTO variables, through a blocking function that both call."""
    with twins.connect(TWINS) as first, twins.connect(TWINS) as second:
        told = {first: [], second: []}
        for connection in (first, second, second, first, second, second, first):
            connection.sendall(b"?")
            told[connection].append(read(connection, 2))
    assert told[first] == [b"%d\n" % number for number in range(1, 4)] and told[second] == [b"%d\n" % number for number in range(1, 5)]


@pytest.fixture(scope="module", params=["lm3s6965evb", "mps2-an385", "bsd", *KERNELS])
def respond(request):
    """On the compact stack, on the small one, and over BSD sockets."""
    with Host("respond") if request.param == "bsd" else Datagrams(*on_board(request.param, "respond"), (RESPOND, COUNT)) as server:
        if request.param != "bsd":
            server.until("tasks are running")
        yield server


def answer(server, port, data, seconds=60):
    """UDP may lose what comes before the program, or while a datagram waits: asked again until there is an answer."""
    deadline = time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(0.5)
        datagrams.connect(server.udp(port))
        while time.monotonic() < deadline:
            try:
                datagrams.send(data)
                return datagrams.recv(2000)
            except (TimeoutError, ConnectionRefusedError):
                time.sleep(0.02)
    raise TimeoutError("no answer")


def test_datagrams_are_answered(respond):
    for length in (0, 1, 2, 255, 511, 512):
        data = (b"Romantiki answers. " * 30)[:length]
        assert answer(respond, RESPOND, data) == data.upper()
    # The other task's: an answer is counted once it is sent, which may be after it was read here.
    assert until(lambda: int(answer(respond, COUNT, b"?")) >= 6, 60)


def test_two_ask_by_turns(respond):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        assert answer(respond, RESPOND, b"there") == b"THERE"
        for asker in (one, other):
            asker.settimeout(0.5)
            asker.connect(respond.udp(RESPOND))

        def answered(asker, name, number):
            """Only who asked is answered; UDP may lose a datagram, and what was asked again is answered again, later."""
            asker.send(name + b" %d" % number)
            with contextlib.suppress(TimeoutError):
                answer = asker.recv(100)
                assert answer.startswith(name.upper() + b" ")
                return answer == name.upper() + b" %d" % number
        for number in range(20):
            for asker, name in ((one, b"one"), (other, b"other")):
                assert until(lambda: answered(asker, name, number), 60)
