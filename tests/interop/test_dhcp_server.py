# SPDX-License-Identifier: BSD-2-Clause
"""The DHCP server against udhcpc, ISC's dhclient and Weir's own client."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
FOLDER = ROOT / "build/labs/dhcp_server"
WEIR = "10.90.0.1"
SCRIPT = """#!/bin/sh
case "$1" in
bound|renew) echo "$1 $ip/$mask router $router dns $dns domain $domain lease $lease server $serverid"; ip addr replace "$ip/$mask" dev "$interface" ;;
deconfig|nak) echo "$1" ;;
esac
"""


class World:
    def __init__(self, lab):
        self.lab = lab
        self.server_side, self.client_side = lab.namespace("server"), lab.namespace("client")
        lab.veth(self.server_side, "eth0", self.client_side, "eth0")
        (FOLDER / "script").write_text(SCRIPT)
        (FOLDER / "script").chmod(0o755)
        self.server = self.server_side.start(HOST, "--packet", "eth0", "--address", f"{WEIR}/24", "--run",
                                             f"dhcp-serve 10.90.0.50 10.90.0.59 -l 12 -r {WEIR} -d {WEIR} -n home.arpa")

    def clear(self):
        self.client_side.run("ip", "addr", "flush", "dev", "eth0")
        self.client_side.run("ip", "link", "set", "eth0", "up")

    def mac(self):
        return self.client_side.run("ip", "-o", "link", "show", "eth0").split("link/ether ", 1)[1].split()[0]


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield World(lab)


def test_udhcpc(world):
    world.clear()
    client = world.client_side.start("udhcpc", "-f", "-R", "-t", "10", "-i", "eth0", "-s", FOLDER / "script")
    assert until(lambda: "bound 10.90.0.5" in client.output(), 60), client.output() + world.server.output()
    bound = client.output().split("bound ", 1)[1].splitlines()[0]
    assert bound == f"10.90.0.50/24 router {WEIR} dns {WEIR} domain home.arpa lease 12 server {WEIR}"
    leased = f"leased 10.90.0.50 {world.mac()}"
    assert until(lambda: leased in world.server.output(), 60), world.server.output()
    # it renews by unicast, from its own address
    assert until(lambda: "renew 10.90.0.50/24" in client.output(), 60), client.output() + world.server.output()
    client.terminate()
    assert until(lambda: "free 10.90.0.50" in world.server.output(), 60), client.output() + world.server.output()
    client.kill()


def test_dhclient(world):
    world.clear()
    client = world.client_side.start("dhclient", "-d", "-v", "-1", "-sf", "/bin/true", "-lf", FOLDER / "leases", "-pf", FOLDER / "dhclient.pid", "eth0")
    assert until(lambda: "bound to 10.90.0.5" in client.output(), 60), client.output() + world.server.output()
    client.stop()
    text = (FOLDER / "leases").read_text()
    for line in ("option subnet-mask 255.255.255.0;", f"option routers {WEIR};", f"option domain-name-servers {WEIR};", 'option domain-name "home.arpa";',
                 "option dhcp-lease-time 12;", "option dhcp-renewal-time 6;", "option dhcp-rebinding-time 11;", f"option dhcp-server-identifier {WEIR};"):
        assert line in text, text


def test_weirs_own_client(world):
    world.clear()
    done = subprocess.run(world.client_side.enter() + [HOST, "--packet", "eth0", "--dhcp", "--run", "dhcp"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr + world.server.output()
    assert "address    10.90.0.5" in done.stdout and f"router     {WEIR}" in done.stdout and "domain     home.arpa" in done.stdout
    address = done.stdout.split("address", 1)[1].split()[0]
    assert until(lambda: f"free {address} " in world.server.output(), 60), world.server.output()


def lease_of(side, number, folder, tries):
    """What the machine with this number gets in a namespace that was another's before, and keeps when it goes; or None
    after so many tries of two seconds."""
    side.run("ip", "addr", "flush", "dev", "eth0")
    side.run("ip", "link", "set", "eth0", "down", "address", f"02:00:00:00:01:{number:02x}")
    side.up("eth0")
    client = side.start("udhcpc", "-f", "-q", "-n", "-t", tries, "-T", "2", "-i", "eth0", "-s", folder / "script")
    client.wait(90)
    bound = re.search(r"bound ([\d.]+)/", client.output())
    return bound and bound.group(1)


def test_an_address_in_use_and_a_pool_that_runs_out(tmp_path):
    """Linux has the first two addresses of the pool by hand: nobody is offered those (RFC 2131 section 3.1). Of the other two each
    machine gets one, and a third none; the first, back, has what it had."""
    (tmp_path / "script").write_text(SCRIPT)
    (tmp_path / "script").chmod(0o755)
    with Lab(tmp_path) as lab:
        server_side, client_side, squatter, switch = (lab.namespace(name) for name in ("server", "client", "squatter", "switch"))
        switch.run("ip", "link", "add", "br0", "type", "bridge")
        switch.up("br0")
        for number, side in enumerate((server_side, client_side, squatter)):
            lab.veth(side, "eth0", switch, f"port{number}")
            switch.run("ip", "link", "set", f"port{number}", "master", "br0")
        squatter.address("eth0", "10.90.0.50/24", "10.90.0.51/24")
        server = server_side.start(HOST, "--packet", "eth0", "--address", f"{WEIR}/24", "--run", "dhcp-serve 10.90.0.50 10.90.0.53 -l 3600")
        got = [lease_of(client_side, number, tmp_path, tries) for number, tries in ((0, 30), (1, 30), (2, 3), (0, 30))]
        assert got == ["10.90.0.52", "10.90.0.53", None, "10.90.0.52"], server.output()
        assert "declined 10.90.0.50" in server.output() and "declined 10.90.0.51" in server.output()
