# SPDX-License-Identifier: BSD-2-Clause
"""examples/cores_server.c: instances on the queues of one TAP that share an address. Linux's program for the queues gives every flow to the
member that the members compute; without it they hand frames over; either way every connection is served."""
import json
import signal
import subprocess

import pytest
from building import build
from tcp_lab import ROOT, Lab, until

SERVER = ROOT / "build/host/examples/cores_server"
CONNECTIONS = 60
CLIENTS = f"""
import socket, sys
data = bytes(i * 7 % 251 for i in range(20000))
def echoed(connection):
    got = bytearray()
    connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)
    while part := connection.recv(65536):
        got += part
    return bytes(got) == data
waiting = [socket.create_connection(("10.0.0.1", 7), 60) for _ in range({CONNECTIONS})]
assert all(echoed(connection) for connection in waiting)
print("served")
"""


@pytest.fixture(scope="module", autouse=True)
def program():
    build(SERVER.relative_to(ROOT))


def told(server):
    """What the members say at the end."""
    server.send_signal(signal.SIGTERM)
    assert server.wait(60) == 0, server.output()
    return json.loads(server.output().strip().splitlines()[-1])


def start(lab, host, cores, *before):
    server = host.start(*before, SERVER, "tap0", "10.0.0.1/24", cores)
    assert until(lambda: "up on tap0" in server.output() or server.poll() is not None, 60), server.output()
    assert server.poll() is None, server.output()
    host.address("tap0", "10.0.0.2/24")
    return server


@pytest.mark.parametrize("cores", [1, 2, 3])
def test_members_share_the_connections(cores):
    with Lab() as lab:
        host = lab.namespace("host")
        if not lab.tap(host, "try0"):
            pytest.skip("this machine permits no TAP here")
        server = start(lab, host, cores)
        assert host.run("python3", "-c", CLIENTS, timeout=240).split() == ["served"]
        host.ping("10.0.0.1", 2)
        hand_over = "hand frames over" in server.output()
        members = told(server)
        assert len(members) == cores and sum(member["accepted"] for member in members) == CONNECTIONS
        assert all(member["accepted"] > 0 for member in members), members
        assert all(member["lost"] == 0 for member in members), members
        if not hand_over:   # Linux computes what the members compute; what came before it had the program may have gone astray
            assert sum(member["handed_over"] for member in members) < CONNECTIONS / 4, members


def test_members_hand_over_what_linux_gives_to_others():
    with Lab() as lab:
        host = lab.namespace("host")
        if not lab.tap(host, "try0"):
            pytest.skip("this machine permits no TAP here")
        # without the right to load programs Linux chooses by a hash of its own
        server = start(lab, host, 2, "setpriv", "--bounding-set", "-bpf,-sys_admin,-perfmon", "--inh-caps", "-all")
        assert "hand frames over" in server.output(), server.output()
        assert host.run("python3", "-c", CLIENTS, timeout=240).split() == ["served"]
        members = told(server)
        assert sum(member["accepted"] for member in members) == CONNECTIONS
        # About half of the SYNs, by chance, and what comes before Linux has seen where the answer comes from.
        assert sum(member["handed_over"] for member in members) > CONNECTIONS / 8, members


@pytest.mark.parametrize("words", ([], ["tap0", "10.0.0.1/24", "0"], ["tap0", "10.0.0.1", "2"], ["tap0", "10.0.0.1/24", "65"], ["a-name-that-is-too-long", "10.0.0.1/24", "2"]))
def test_wrong_arguments_are_said(words):
    with Lab() as lab:
        done = subprocess.run([*lab.namespace("host").enter(), SERVER, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode in (1, 2) and "cores_server" in done.stderr and done.stdout == ""
