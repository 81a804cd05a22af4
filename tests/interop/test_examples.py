# SPDX-License-Identifier: BSD-2-Clause
"""The servers of examples/ as a user starts them, on a TAP: echo, in C and in C++, with Linux's sockets as the clients; a web site, with curl."""
import subprocess
import time

import pytest

from building import build
from netns import ROOT, Lab

PROGRAMS = ("echo_server", "echo_classes")
CLIENTS = """
import socket, struct, threading
def echoed(connection, data):
    threading.Thread(target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR))).start()
    return b"".join(iter(lambda: connection.recv(65536), b""))
data = bytes(i * 7 % 251 for i in range(300000))
waiting = [socket.create_connection(("10.0.0.1", 7), 60) for _ in range(5)]
for number, connection in enumerate(waiting):
    part = data[number * 1000:]
    assert echoed(connection, part) == part
reset = socket.create_connection(("10.0.0.1", 7), 60)
reset.send(data[:5000])
reset.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
reset.close()
assert echoed(socket.create_connection(("10.0.0.1", 7), 60), b"after") == b"after"
print("served")
"""


@pytest.fixture(scope="module", autouse=True)
def programs():
    build(*(f"build/host/examples/{name}" for name in (*PROGRAMS, "web_site")))


def wait_for_tap(host, server):
    deadline = time.monotonic() + 60
    while "tap0" not in host.run("ip", "-o", "link"):
        assert server.poll() is None and time.monotonic() < deadline, server.output()
        time.sleep(0.02)


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_echo_server_serves_several_clients_and_outlives_a_reset(name):
    with Lab() as lab:
        host = lab.namespace("host")
        if not lab.tap(host, "try0", "tap"):
            pytest.skip("this machine permits no TAP here")
        server = host.start(ROOT / "build/host/examples" / name, "tap0", "10.0.0.1/24")
        wait_for_tap(host, server)
        host.address("tap0", "10.0.0.2/24")
        assert host.run("python3", "-c", CLIENTS).split() == ["served"]
        assert server.poll() is None, server.output()


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("words", ([], ["tap0", "10.0.0.300/24"], ["tap0", "10.0.0.1/33"], ["a-name-that-is-too-long", "10.0.0.1/24"]))
def test_an_echo_server_says_what_is_wrong_with_its_arguments(name, words):
    with Lab() as lab:
        done = subprocess.run([*lab.namespace("host").enter(), ROOT / "build/host/examples" / name, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2) and name in done.stderr and done.stdout == ""


def test_a_web_site_has_a_lamp():
    with Lab() as lab:
        host = lab.namespace("host")
        if not lab.tap(host, "try0", "tap"):
            pytest.skip("this machine permits no TAP here")
        server = host.start(ROOT / "build/host/examples/web_site", "tap0", "10.0.0.1")
        wait_for_tap(host, server)
        host.address("tap0", "10.0.0.2/24")
        assert "<title>Lamp</title>" in host.run("curl", "-sS", "--max-time", "60", "http://10.0.0.1/")
        said = [host.run("curl", "-sS", "--max-time", "60", *words, "http://10.0.0.1/lamp") for words in ([], ["-d", "on"], [], ["-d", "x"])]
        assert said == ["off\n", "on\n", "on\n", "off\n"]
        assert "413" in host.run("curl", "-sS", "--max-time", "60", "-d", "a" * 17, "http://10.0.0.1/lamp")
