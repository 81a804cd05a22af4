# SPDX-License-Identifier: BSD-2-Clause
"""The microkernel on a board in QEMU: the stack, its driver and two applications are processes without privileges. One of the applications does
what it may not (examples/micro/rogue.c, a letter each): the kernel refuses it, or ends the process; all others go on."""
import contextlib
import os
import pathlib
import random
import socket
import sys
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import ADDRESS, HOST, ROOT, Machine, command, exchange, read  # noqa: E402
sys.path.insert(0, str(ROOT / "tests/interop"))
from patience import measured  # noqa: E402
from tcp_lab import Lab, inside, until  # noqa: E402

BOARD = "mps2-an385-micro"
REFUSED = {"p": -2, "q": -2, "m": -2, "u": -2, "e": -2, "c": -2, "n": -3, "y": -1, "i": -1}   # enum micro_result
FATAL = {"w": "writes to the stack's memory", "r": "reads another application's window", "d": "touches the driver's device",
         "k": "reads the kernel's memory", "x": "executes data", "s": "calls with another's memory as its stack", "v": "turns the MPU off"}


def boot(name):
    return Machine(BOARD, ports=(7, 9), log=ROOT / f"build/boards/{BOARD}/{name}.log")


def speak(connection, size=40_000, seed=2):
    data = random.Random(seed).randbytes(size)
    for at in range(0, size, 2000):
        connection.sendall(data[at:at + 2000])
        got = b""
        while len(got) < len(data[at:at + 2000]):
            some = connection.recv(65536)
            assert some
            got += some
        assert got == data[at:at + 2000]


@pytest.fixture(scope="module")
def machine():
    with boot("refusals") as machine:
        machine.until("echo on port 7")
        yield machine


@pytest.mark.parametrize("letter", REFUSED)
def test_a_bad_call_is_refused(machine, letter):
    with machine.connect(9) as rogue:
        rogue.sendall(letter.encode())
        assert int(read(rogue, 3)) == REFUSED[letter]
    assert "may not" not in machine.console()


@pytest.mark.parametrize("letter", FATAL, ids=lambda letter: FATAL[letter].replace(" ", "_"))
def test_who_touches_what_is_not_its_own_is_ended(letter):
    with boot(f"fatal-{letter}") as machine:
        machine.until("echo on port 7")
        with machine.connect(7) as before, machine.connect(9) as rogue:
            speak(before)
            rogue.sendall(b"?")
            assert read(rogue, 3) == b" 0\n"
            rogue.sendall(letter.encode())
            machine.until("micro: rogue did what it may not")
            assert rogue.recv(16) == b""   # its sockets are closed
            speak(before)                  # nobody else's are
            with machine.connect(7) as after:
                assert exchange(after, b"still there") == b"still there"
        with machine.connect(9) as nobody:
            try:
                assert nobody.recv(1) == b""
            except ConnectionError:
                pass


def test_who_ends_by_itself_has_its_sockets_closed():
    with boot("exit") as machine:
        machine.until("echo on port 7")
        with machine.connect(7) as echo, machine.connect(9) as rogue:
            rogue.sendall(b"z")
            assert rogue.recv(16) == b""
            speak(echo)


def test_a_client_that_lies_disturbs_nobody():
    """It writes anything into the memory that it shares with the server, and sends it anything."""
    with boot("lies") as machine:
        machine.until("echo on port 7")
        with machine.connect(7) as echo, machine.connect(9) as rogue:
            rogue.sendall(b"l")
            speak(echo, 200_000)
            with machine.connect(7) as after:
                speak(after)
        assert "stack did" not in machine.console() and "kernel did" not in machine.console()


def test_a_client_that_leaves_its_sockets_takes_nobody_elses():
    """It closes connections whose peers do not: more of them than there are sockets. All that are the echo server's are still to be had."""
    with boot("orphans") as machine, contextlib.ExitStack() as left:
        machine.until("echo on port 7")
        for _ in range(30):
            left.enter_context(machine.connect(9)).sendall(b"o")
        echoes = [left.enter_context(machine.connect(7)) for _ in range(4)]
        for number, echo in enumerate(echoes):
            speak(echo, 4000, number)


def test_a_client_that_calls_without_end_waits_for_its_replies():
    with boot("calls") as machine:
        machine.until("echo on port 7")
        with machine.connect(7) as echo, machine.connect(9) as rogue:
            def calls():
                rogue.sendall(b"f")
                speak(echo)
                made = int.from_bytes(read(rogue, 4), "little")
                assert made < 4200, made   # WEIR_CFG_MICRO_CALLS, and MICRO_CALLS_AT_ONCE
                return made
            assert until(lambda: calls() > 2000, 60)   # in a second in which this machine let the board compute


def test_a_client_that_never_stops_computing_holds_up_nobody():
    """It is as urgent as the stack and the echo server: they share the processor in slices."""
    with boot("hog") as machine:
        machine.until("echo on port 7")
        with machine.connect(7) as echo, machine.connect(9) as rogue:
            rogue.sendall(b"h")
            speak(echo)


def test_a_connection_that_is_not_read_holds_up_nobody(machine):
    with machine.connect(7) as slow, machine.connect(7) as quick:
        slow.setblocking(False)
        try:
            for _ in range(2000):
                slow.send(bytes(65536))
        except BlockingIOError:
            pass
        speak(quick)


def acknowledged(connection):
    """All that was sent (tcpi_unacked of struct tcp_info)."""
    return not int.from_bytes(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)[24:28], sys.byteorder)


class Board:
    """The thread of QEMU that carries out the board's instructions: the busiest, as long as nothing floods the others."""

    def __init__(self, process):
        pid = process.pid
        while children := pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            pid = children[0]
        self.stat = max(pathlib.Path(f"/proc/{pid}/task").glob("*/stat"), key=processor_seconds)

    def share(self, action):
        """What `action` returns, and which share of a processor of this machine the board had meanwhile."""
        before, began = processor_seconds(self.stat), time.monotonic()
        result = action()
        return result, (processor_seconds(self.stat) - before) / (time.monotonic() - began)


def processor_seconds(stat):
    user, system = stat.read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@measured
def test_a_flood_of_frames_leaves_applications_their_turns():
    """A thread of Linux sends datagrams as fast as it can; an application counts how far it comes in a second. What the flood takes of this machine's
    processors is not the board's: rounds are of the time in which the board computes."""
    with Lab() as lab:
        linux = lab.namespace("linux")
        if not lab.tap(linux, "weir0"):
            pytest.skip("no right to make a tap")
        linux.address("weir0", f"{HOST}/24")
        machine = linux.start(*command(BOARD, "tap,ifname=weir0,script=no,downscript=no"))
        assert until(lambda: "port 7" in machine.output(), 60), machine.output()
        with inside(linux):
            rogue, echo = socket.create_connection((ADDRESS, 9), 60), socket.create_connection((ADDRESS, 7), 60)
            datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        flooding, sent = threading.Event(), [0]

        def flood():
            while flooding.is_set():
                datagrams.sendto(b"x" * 18, (ADDRESS, 5))
                sent[0] += 1

        def flooded_rounds():
            """The second that is counted lies within the flood; the answer may have to be repeated when it is over."""
            rogue.sendall(b"b")
            assert until(lambda: acknowledged(rogue), 60)
            flooding.set()
            thread = threading.Thread(target=flood, daemon=True)
            thread.start()
            _, share = board.share(lambda: time.sleep(1))
            time.sleep(1)
            flooding.clear()
            thread.join()
            return int.from_bytes(read(rogue, 4), "little") / share

        def rounds():
            rogue.sendall(b"b")
            return int.from_bytes(read(rogue, 4), "little")

        def undisturbed_rounds():
            count, share = board.share(rounds)
            return count / share
        rounds()
        board = Board(machine)   # which has computed for a second
        alone = min(undisturbed_rounds() for _ in range(2))   # this machine has other work, too
        flooded = max(flooded_rounds() for _ in range(3))
        assert sent[0] > 10_000
        assert flooded > alone / 3, (alone, flooded, sent[0])
        speak(echo)   # and all is well afterwards
