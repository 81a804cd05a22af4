# SPDX-License-Identifier: BSD-2-Clause
"""Processes on the preemptive kernel on a board in QEMU (examples/firmware/processes.c): the thesis's calls and BSD's as system calls, a socket
belongs to its process, and a process that ends or is killed leaves nothing."""
import pathlib
import random
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import Machine, exchange, read  # noqa: E402
from netns import until  # noqa: E402

KILLED, FAULTED, TERMINATED = -9, -11, -15


@pytest.fixture(scope="module", params=("mps2-an385", "xilinx-zynq-a9", "pc", "malta", "malta-el", "portux920t", "versatilepb"))
def machine(request):
    with Machine(request.param, ports=(7, 9), program="processes") as machine:
        machine.until("processes by port 9")
        yield machine
        assert "overflow" not in machine.console()


def tell(machine, letter):
    """The answer's three numbers."""
    with machine.connect(9) as connection:
        connection.sendall(letter.encode())
        with connection.makefile() as answer:
            return [int(answer.readline()) for _ in range(3)]


TIME_WAIT = 64 * 100   # bytes of what the instance remembers of connections that it ended first, for a minute


def settled(machine, wanted=None):
    """What is free when connections that end have ended: the most that is seen in two seconds, in which the question before may not have ended at one
    look or another; or `wanted`, as soon as that is so. Of the instance's pool, which holds what is remembered of connections, too, only so much."""
    last, most = time.monotonic() + (60 if wanted else 2), []
    while True:
        found = tell(machine, "m")
        if wanted and found[:2] == wanted[:2] and found[2] > wanted[2] - TIME_WAIT:
            return wanted
        most = max(most, found[:2])
        if time.monotonic() > last:
            return found if wanted else most + found[2:]
        time.sleep(0.05)


def served(machine):
    """A connection that the server answers; it listens anew a moment after it has begun or left one."""
    last = time.monotonic() + 60
    while time.monotonic() < last:
        connection = machine.connect(7, timeout=5)
        try:
            connection.sendall(b"?")
            if connection.recv(1) == b"?":
                return connection
        except OSError:
            pass
        connection.close()
        time.sleep(0.05)
    raise TimeoutError("the server does not answer")


def ended(connection):
    """Waits for the peer's end or reset."""
    connection.settimeout(60)
    try:
        return b"".join(iter(lambda: connection.recv(1), b"")) in (b"", b"!")   # one echo may have been late
    except ConnectionResetError:
        return True


def echoed(connection):
    """Whether a byte comes back in the time that the connection waits."""
    connection.sendall(b"!")
    try:
        return connection.recv(1) == b"!"
    except TimeoutError:
        return False


@pytest.fixture(scope="module")
def before(machine):
    return settled(machine)


@pytest.fixture(params=("s", "b"), ids=("flock", "bsd"))
def server(request, machine, before):
    assert tell(machine, request.param)[0] > 0
    yield machine
    assert settled(machine, before) == before   # bytes and sockets: as if there had been no process


def test_a_process_serves_by_system_calls(server):
    data = random.Random(7).randbytes(50_000)
    with served(server) as connection:
        assert exchange(connection, data) == data
    assert tell(server, "k")[0] == KILLED


def test_an_alarm_interrupts_a_call(server):
    before = tell(server, "a")[0]
    with served(server) as connection:
        assert until(lambda: tell(server, "a")[0] - before >= 3)   # tcprecv waits, and SIGALRM comes each 50 ms
        connection.sendall(b"still")
        assert read(connection, 5) == b"still"
    assert tell(server, "k")[0] == KILLED


def test_killed_in_a_call_the_peer_sees_the_end(server):
    with served(server) as connection:
        assert tell(server, "k")[0] == KILLED
        assert ended(connection)


def test_killed_while_it_computes(server):
    with served(server) as connection:
        tell(server, "c")
        connection.settimeout(1)
        assert until(lambda: not echoed(connection))   # the next alarm lets it begin; and so the end is a reset
        assert tell(server, "k")[0] == KILLED
        assert ended(connection)


def test_terminated(server):
    with served(server) as connection:
        assert tell(server, "t")[0] == TERMINATED
        assert ended(connection)


def test_it_returns_and_leaves_a_socket(server):
    with served(server) as connection:
        assert tell(server, "q")[0] == 3   # its status
        assert ended(connection)


def test_no_call_on_anothers_socket_succeeds(server):
    with served(server) as connection:
        assert tell(server, "n")[0] == 0
        connection.sendall(b"unharmed")
        assert read(connection, 8) == b"unharmed"
    assert tell(server, "k")[0] == KILLED


def test_one_that_does_what_it_may_not_ends_alone(server):
    with served(server) as connection:
        for _ in range(3):
            assert tell(server, "f")[0] == FAULTED
        assert tell(server, "p")[0] == (FAULTED if server.board in ("pc", "malta", "malta-el") else 4)   # ARM's processors ignore it
        connection.sendall(b"unharmed")
        assert read(connection, 8) == b"unharmed"
    assert tell(server, "k")[0] == KILLED


def test_again_and_again(machine, before):
    """Forty processes one after another, each with a connection when it is killed."""
    for _ in range(40):
        assert tell(machine, "s")[0] > 0
        with served(machine) as connection:
            assert tell(machine, "k")[0] == KILLED
            assert ended(connection)
    assert settled(machine, before) == before
