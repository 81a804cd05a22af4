# SPDX-License-Identifier: BSD-2-Clause
"""The stack as a server process of this machine (examples/micro): clients and the driver are processes of their own, which are killed, sit
there, or lie. The server is the one with sanitizers."""
import array
import mmap
import os
import random
import signal
import socket
import struct
import threading
import time

import pytest
from tcp_lab import LINUX, ROOT, WEIR, Lab, in_background, inside, until

PROGRAMS = ROOT / "build/host/micro"
SERVER = ROOT / "build/asan/micro/weir-server"
PORT = 7


class Site:
    """Linux, a cable, and at its other end a driver, the server, and an echo server."""

    def __init__(self, lab):
        self.lab = lab
        self.linux, self.where = lab.namespace("linux"), lab.namespace("weir")
        lab.veth(self.linux, "link0", self.where, "eth0", offloads=False)
        self.linux.address("link0", f"{LINUX}/24")
        self.path = lab.folder / "socket"
        self.server = self.where.start(SERVER, self.path, f"{WEIR}/24")
        assert until(lambda: "up" in self.server.output()), self.server.output()
        self.driver = self.drive()
        self.echo = self.where.start(PROGRAMS / "weir-echo", self.path, PORT)
        assert until(lambda: "listening" in self.echo.output()), self.echo.output()
        self.connect().close()   # the driver is there, too: who calls earlier has no route

    def drive(self):
        return self.where.start(PROGRAMS / "weir-driver", self.path, "eth0", "--packet")

    def client(self, *words, port=9000):
        return self.where.start(PROGRAMS / "weir-client", self.path, LINUX, port, *words)

    def connect(self, seconds=60):
        with inside(self.linux):
            return socket.create_connection((WEIR, PORT), seconds)

    def listen(self, port=9000):
        with inside(self.linux):
            listener = socket.create_server((LINUX, port))
        listener.settimeout(60)
        return listener


@pytest.fixture
def site():
    with Lab() as lab:
        made = Site(lab)
        yield made
        assert made.server.poll() is None, made.server.output()
        made.server.terminate()
        assert made.server.wait(60) == 0, made.server.output()   # also of what the sanitizers found
        assert "ERROR" not in made.server.output() and "runtime error" not in made.server.output(), made.server.output()


def receive(sock, size):
    got = b""
    while len(got) < size:
        some = sock.recv(65536)
        assert some, f"ended after {len(got)} of {size}"
        got += some
    return got


def talk(sock, size, seed=1):
    data = random.Random(seed).randbytes(size)
    received = in_background(receive, sock, size)
    sock.sendall(data)
    assert received(60) == data


def serve(listener, connections):
    """Linux's echo server, for so many connections; returns their sockets as they come."""
    came = []

    def one(sock):
        try:
            while data := sock.recv(65536):
                sock.sendall(data)
        except OSError:
            pass

    def accept():
        for _ in range(connections):
            sock, _ = listener.accept()
            came.append(sock)
            threading.Thread(target=one, args=(sock,), daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return came


def test_an_echo_server_in_a_process_of_its_own(site):
    with site.connect() as sock:
        talk(sock, 3_000_000)
    connections = [site.connect() for _ in range(4)]
    for number, sock in enumerate(connections):
        talk(sock, 100_000, number)
        sock.close()


def test_two_clients_one_killed(site):
    serve(site.listen(), 3)
    listener = site.listen(9001)
    held, victim = site.client(200_000, "hold"), site.client(10, "hold", port=9001)
    sock, _ = listener.accept()
    sock.settimeout(60)
    sock.sendall(receive(sock, 10))
    assert until(lambda: "done" in held.output() and "done" in victim.output(), 60), held.output() + victim.output()
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    assert sock.recv(1) == b""   # its socket was closed
    assert held.poll() is None
    with site.connect() as other:
        talk(other, 200_000)
    again = site.client(200_000)   # and its place is free
    assert again.wait(60) == 0, again.output()


def test_places_of_the_dead_are_used_again(site):
    listener = site.listen()
    for _ in range(40):   # more than there are sessions
        client = site.client(1, "hold")
        sock, _ = listener.accept()
        sock.settimeout(60)
        receive(sock, 1)
        client.send_signal(signal.SIGKILL)
        client.wait()
        assert sock.recv(1) == b""
        sock.close()
    with site.connect() as sock:
        talk(sock, 100_000)


def test_a_client_that_stops_holds_up_nobody(site):
    """One client's peer reads nothing, so that its rings are full; another is stopped in the middle."""
    listener = site.listen()
    full = site.client(0, "fill")
    unread, _ = listener.accept()
    assert until(lambda: "done" in full.output(), 60), full.output()
    with site.connect() as stuck, site.connect() as other:
        talk(stuck, 10_000)
        site.echo.send_signal(signal.SIGSTOP)
        stuck.setblocking(False)
        try:
            for _ in range(1000):
                stuck.send(bytes(65536))
        except BlockingIOError:
            pass
        serve(listener, 1)
        quick = site.client(1_000_000)
        assert quick.wait(60) == 0, quick.output()
        site.echo.send_signal(signal.SIGCONT)
        talk(other, 100_000)
    unread.close()


def test_the_driver_dies_and_another_comes(site):
    with site.connect() as sock:
        talk(sock, 100_000)
        site.driver.send_signal(signal.SIGKILL)
        site.driver.wait()
        site.driver = site.drive()
        talk(sock, 100_000)


class Liar:
    """A client that speaks the server's language, but not the truth."""

    def __init__(self, path, role=1):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(60)
        self.socket.connect(str(path))
        self.socket.send(bytes([role]))
        packet, descriptors, _, _ = socket.recv_fds(self.socket, 8, 1)
        self.bytes, self.descriptor = struct.unpack("Q", packet)[0], descriptors[0]
        self.memory = mmap.mmap(self.descriptor, self.bytes)

    def close(self):
        self.memory.close()
        os.close(self.descriptor)
        self.socket.close()


def test_a_client_that_lies_reaches_nothing(site):
    rng = random.Random(5)
    operations = [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, rng.randrange(2**31)]
    with site.connect() as sock:
        for _ in range(8):
            liar = Liar(site.path)
            with pytest.raises(OSError):
                os.ftruncate(liar.descriptor, 0)   # the memory stays under the server
            for _ in range(300):
                for _ in range(rng.randrange(4)):
                    at = rng.randrange(liar.bytes - 8) if rng.random() < 0.3 else rng.randrange(16 + 16 * 36)
                    liar.memory[at:at + 4] = struct.pack("I", rng.choice([rng.randrange(2**32), rng.randrange(200_000)]))
                message = struct.pack("iiiiIHHII", rng.choice(operations), rng.randrange(17), rng.randrange(3), rng.randrange(4), 0x0a5a0001, rng.choice([PORT, 9000]), 0, 0, 0)
                liar.socket.send(message if rng.random() < 0.7 else b"!")
            liar.memory[0:liar.bytes] = rng.randbytes(liar.bytes)
            liar.socket.send(b"!")
            talk(sock, 50_000)
            liar.close()
        talk(sock, 500_000)


def message(operation, channel, *argument):
    return struct.pack("ii24s", operation, channel, struct.pack(f"{len(argument)}i", *argument))


def message_to(operation, channel, address, port):
    """A struct micro_message with an endpoint, as builds of both families have it."""
    return struct.pack("ii12s4sH6x", operation, channel, b"\0" * 10 + b"\xff\xff", socket.inet_aton(address), port)


class Caller(Liar):
    def call(self, *words):
        return self.ask(message(*words))

    def ask(self, packet):
        self.socket.send(packet)
        while len(reply := self.socket.recv(64)) < 32:   # a notification
            pass
        return struct.unpack_from("i", reply)[0]


OPEN, CONNECT, CLOSE = 0, 4, 6   # enum micro_operation
IN_PROGRESS = -10                # enum weir_error


def test_a_client_may_only_call_so_often(site):
    """It waits for its replies, nobody else does."""
    with site.connect() as sock:
        caller = Caller(site.path)
        calls, stop = [0], threading.Event()

        def call_on():
            while not stop.is_set():
                caller.call(CLOSE, 15)
                calls[0] += 1
        began = time.monotonic()
        thread = threading.Thread(target=call_on)
        thread.start()
        talk(sock, 2_000_000)
        while time.monotonic() - began < 2:
            time.sleep(0.01)
        stop.set()
        thread.join()
        took = time.monotonic() - began
        caller.close()
        assert 64 < calls[0] <= 4000 * took + 65, (calls, took)
    # More are not read, and who goes meanwhile is gone.
    caller = Caller(site.path)
    for _ in range(70):
        caller.socket.send(message(CLOSE, 15))
    caller.close()
    with site.connect() as sock:
        talk(sock, 100_000)


def test_a_client_only_leaves_so_much_behind(site):
    """It opens connections, says something and closes; their peer acknowledges it all and never closes. Its oldest give way to its newest."""
    listener, came = site.listen(), []
    caller = Caller(site.path)
    for _ in range(100):
        channel = caller.call(OPEN, 0, 0)
        assert channel >= 0
        assert caller.ask(message_to(CONNECT, channel, LINUX, 9000)) == IN_PROGRESS
        came.append(listener.accept()[0])
        assert caller.call(CLOSE, channel) == 0

    def alive():
        return sum(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0] != 7 for sock in came)   # TCP_CLOSE: it was reset
    assert until(lambda: alive() <= 2 * 16, 60), alive()   # twice its channels
    assert alive() > 0
    with site.connect() as sock:
        talk(sock, 100_000)
    caller.close()


def test_who_breaks_the_rules_is_shown_out(site):
    for packet in (b"\x00", b"\x02", b"\x07", b"abc", b"x" * 33):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
            stranger.settimeout(60)
            stranger.connect(str(site.path))
            stranger.send(packet)   # b"\x02": there is a driver already
            try:
                assert stranger.recv(64) == b"", packet
            except ConnectionResetError:
                pass
    for packet in (b"ab", b"x" * 31, b"x" * 33, array.array("I", range(100)).tobytes()):
        liar = Liar(site.path)
        liar.socket.send(packet)
        try:
            assert liar.socket.recv(64) == b"", packet
        except ConnectionResetError:
            pass
        liar.close()
    # Replies are not waited for: who does not take them goes.
    liar = Liar(site.path)
    liar.socket.settimeout(60)
    with pytest.raises(OSError):
        for _ in range(100_000):
            liar.socket.send(bytes(32))
    with site.connect() as sock:
        talk(sock, 50_000)


def test_a_driver_that_lies_reaches_nothing(site):
    rng = random.Random(6)
    site.driver.send_signal(signal.SIGKILL)
    site.driver.wait()
    liar = Liar(site.path, role=2)
    liar.socket.send(b"!")
    for _ in range(3000):
        at = rng.randrange(48) if rng.random() < 0.5 else rng.randrange(liar.bytes - 4)
        liar.memory[at:at + 4] = struct.pack("I", rng.choice([rng.randrange(2**32), rng.randrange(100)]))
        liar.socket.send(b"!")
    liar.memory[0:liar.bytes] = rng.randbytes(liar.bytes)
    liar.socket.send(b"!")
    liar.close()
    site.driver = site.drive()
    with site.connect() as sock:
        talk(sock, 100_000)
