# SPDX-License-Identifier: BSD-2-Clause
"""Programs that are linked, without changing a line, to the preemptive kernel with the stack in it and to the microkernel with the stack as a process
(examples/either, docs/microkernel.md): on the board in QEMU against Linux behind a TAP. BSD's calls with select, with poll and a connect that does not
block; the thesis's calls; and one that names memory that is not its own."""
import pathlib
import re
import socket
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "tests/interop")]
from boards import ADDRESS, HOST, command, exchange, read  # noqa: E402
from netns import Lab, until  # noqa: E402
from tcp_lab import inside  # noqa: E402

FORMS = {"monolithic": "mps2-an385", "microkernel": "mps2-an385-micro"}
WEB = "130.149.17.21"   # as in the thesis's figure
PAGE = b"a page of FlockOS\n"


def accept_all(listener, serve):
    """Serves each connection in a thread of its own, until the listener is closed."""
    def one(connection):
        with connection:
            serve(connection)

    def accept():
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(connection,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()


def echo(connection):
    try:
        while data := connection.recv(65536):
            connection.sendall(data)
    except OSError:
        pass


def web(connection):
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        more = connection.recv(4096)
        assert more, request
        request += more
    assert request.startswith(b"GET / HTTP/1.1\r\n")
    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + PAGE)


def echo_datagrams(endpoint):
    """Until it is closed."""
    def serve():
        try:
            while True:
                endpoint.sendto(*endpoint.recvfrom(2048))
        except OSError:
            pass
    threading.Thread(target=serve, daemon=True).start()


@pytest.fixture(scope="module", params=FORMS)
def machine(request):
    with Lab() as lab:
        linux = lab.namespace("linux")
        if not lab.tap(linux, "weir0"):
            pytest.skip("no right to make a tap")
        linux.address("weir0", f"{HOST}/24")
        linux.address("lo", f"{WEB}/32")
        with inside(linux):
            listeners = [socket.create_server((HOST, 9000)), socket.create_server((WEB, 80)), socket.socket(type=socket.SOCK_DGRAM)]
        listeners[2].bind((HOST, 9000))
        echo_datagrams(listeners[2])
        accept_all(listeners[0], echo)
        accept_all(listeners[1], web)
        board = FORMS[request.param]
        machine = linux.start(*command(board, "tap,ifname=weir0,script=no,downscript=no", "programs"))
        machine.namespace = linux
        yield machine
        assert "overflow" not in machine.output() and "may not" not in machine.output(), machine.output()
        for listener in listeners:
            listener.close()


def shows(machine, text):
    assert until(lambda: text in machine.output(), 60), machine.output()


def ended_well(machine, name):
    """The whole line: the console shows it character by character."""
    assert until(lambda: re.search(rf"{name} ended with .*\n", machine.output()), 60), machine.output()
    return f"{name} ended with 0" in machine.output()


def connect(machine, port):
    with inside(machine.namespace):
        return socket.create_connection((ADDRESS, port), 60)


def test_a_client_by_poll_and_a_connect_that_does_not_block(machine):
    assert ended_well(machine, "poll") and "poll: 40000 bytes came back" in machine.output(), machine.output()


def test_what_comes_back_of_datagrams_is_told_once(machine):
    assert ended_well(machine, "poll") and "datagrams: refused, told once, answered" in machine.output(), machine.output()


def test_the_theses_http_client(machine):
    assert ended_well(machine, "http") and PAGE.decode() in machine.output().replace("\r", ""), machine.output()


def test_an_echo_server_by_select(machine):
    shows(machine, "echo by select on port 7")
    connections = [connect(machine, 7) for _ in range(3)]
    for number, connection in enumerate(connections):
        data = bytes((number + at) % 251 for at in range(5000))
        assert exchange(connection, data) == data
        connection.close()
    with connect(machine, 7) as another:
        assert exchange(another, b"again") == b"again"


def test_pointers_that_are_not_the_processes_are_refused(machine):
    shows(machine, "pointers on port 8")
    for _ in range(2):
        with connect(machine, 8) as connection, connect(machine, 7) as other:
            connection.sendall(b"?")
            made, refused, first = read(connection, 3)
            assert (refused, first) == (made, 0) and made > 50, (made, refused, first)
            assert exchange(other, b"unharmed") == b"unharmed"
