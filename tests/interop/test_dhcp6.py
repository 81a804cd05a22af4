# SPDX-License-Identifier: BSD-2-Clause
"""The DHCPv6 client of weir-host against dnsmasq and Kea: settings alone, addresses, renewal, an address that is another host's,
rapid commit, release."""
import json
import os
import pathlib
import re
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
LINUX, LINUX6, PREFIX6 = "10.83.0.1", "2001:db8:83::1", "2001:db8:83:"
FOLDER = ROOT / "build/labs/dhcp6"
SBIN = os.environ["PATH"] + ":/usr/sbin:/sbin"


class World:
    def __init__(self, lab):
        self.lab = lab
        self.linux = lab.namespace("linux")
        self.where, self.words = lab.link(self.linux, "weir0", LINUX)
        self.linux.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.weir0.disable_ipv6=0")
        self.linux.run("ip", "-6", "address", "add", f"{LINUX6}/64", "dev", "weir0", "nodad")

    def dnsmasq(self, *words):
        server = self.linux.start(
            shutil.which("dnsmasq", path=SBIN), "--keep-in-foreground", "--conf-file=/dev/null", "--user=", "--group=", "--interface=weir0",
            "--bind-interfaces", "--except-interface=lo", "--pid-file=", "--no-resolv", "--no-hosts", f"--dhcp-leasefile={FOLDER / 'leases'}",
            "--enable-ra", "--ra-param=weir0,4,600", "--log-facility=-", "--log-dhcp", "--host-record=six.example,2001:db8:9::7", *words)
        until(lambda: ":547 " in self.linux.run("ss", "-Huln"), 60)
        return server

    def client(self, *words, run=None):
        return self.where.start(HOST, *self.words, *words, *(["--run", run] if run else []))

    def command(self, run, *words):
        client = self.client(*words, run=run)
        status = client.wait(90)
        return status, client.output()


@pytest.fixture
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield World(lab)


def test_an_address_from_dnsmasq(world):
    server = world.dnsmasq(f"--dhcp-range={PREFIX6}:100,{PREFIX6}:1ff,64,1h", "--dhcp-option=option6:domain-search,lan.example")
    status, text = world.command("dhcp6", "--ip6")   # the router's flag M says so
    assert status == 0, text + server.output()
    address = re.search(rf"address +({PREFIX6}:1\w\w)\b", text).group(1)
    assert f"dns        {LINUX6}" in text and "lan.example" in text and "BOUND" in text, text
    assert until(lambda: "DHCPRELEASE(weir0)" in server.output(), 60), server.output()   # (the client does not wait)
    assert f"DHCPREPLY(weir0) {address}" in server.output(), server.output()


def test_settings_alone_from_dnsmasq(world):
    server = world.dnsmasq(f"--dhcp-range={PREFIX6}:,ra-stateless,64")   # O, and addresses by the hosts themselves
    status, text = world.command("dhcp6", "--ip6")
    log = server.output()
    assert status == 0 and f"dns        {LINUX6}" in text and "INFORMED" in text, text + log
    assert "DHCPINFORMATION-REQUEST(weir0)" in log and "DHCPSOLICIT" not in log, log


def test_a_name_over_ip6(world):
    server = world.dnsmasq(f"--dhcp-range={PREFIX6}:100,{PREFIX6}:1ff,64,1h", "--log-queries", "--local=/example/")
    status, text = world.command("resolve six.example", "--dhcp6")
    assert status == 0 and "2001:db8:9::7" in text, text
    assert re.search(rf"(?i)query\[AAAA\] six.example from {PREFIX6}", server.output()), server.output()


def test_a_name_from_a_temporary_address(world):
    """Optimistic, too: the address asks nobody for its neighbour until it is known to be ours alone."""
    server = world.dnsmasq(f"--dhcp-range={PREFIX6}:,ra-stateless,64", "--log-queries", "--local=/example/")
    status, text = world.command("resolve six.example", "--temporary6", "--optimistic6")
    assert status == 0 and "2001:db8:9::7" in text, text
    assert re.search(rf"(?i)query\[AAAA\] six.example from {PREFIX6}", server.output()), server.output()


def test_what_is_taken_is_declined(world):
    """dnsmasq has two addresses to give; the first is Linux's already."""
    world.linux.run("ip", "-6", "address", "add", f"{PREFIX6}:100/64", "dev", "weir0", "nodad")
    server = world.dnsmasq(f"--dhcp-range={PREFIX6}:100,{PREFIX6}:101,64,1h", "--dhcp-sequential-ip")
    status, text = world.command("dhcp6", "--ip6")
    log = server.output()
    assert status == 0 and f"{PREFIX6}:101" in text, text + log
    assert "DHCPDECLINE" in log or f"DHCPREPLY(weir0) {PREFIX6}:100 " not in log, log


def kea(world, rapid):
    subnet = {"id": 1, "subnet": f"{PREFIX6}:/64", "interface": "weir0", "rapid-commit": rapid,
              "pools": [{"pool": f"{PREFIX6}:200-{PREFIX6}:2ff"}],
              "option-data": [{"name": "dns-servers", "data": LINUX6}, {"code": 82, "data": "00000258", "csv-format": False}]}
    conf = {"Dhcp6": {"interfaces-config": {"interfaces": ["weir0"]}, "lease-database": {"type": "memfile", "persist": False},
                      "server-id": {"type": "LL", "htype": 1, "identifier": "020000000053", "persist": False},
                      "renew-timer": 3, "rebind-timer": 6, "preferred-lifetime": 9, "valid-lifetime": 12, "subnet6": [subnet],
                      "loggers": [{"name": "kea-dhcp6", "severity": "DEBUG", "debuglevel": 40, "output_options": [{"output": "stdout"}]}]}}
    (FOLDER / "kea.json").write_text(json.dumps(conf))
    os.environ["KEA_PIDFILE_DIR"] = os.environ["KEA_LOCKFILE_DIR"] = str(FOLDER)
    until(lambda: "fe80" in (s := world.linux.run("ip", "-6", "address", "show", "dev", "weir0", "scope", "link")) and "tentative" not in s, 60)
    server = world.linux.start(shutil.which("kea-dhcp6", path=SBIN), "-c", FOLDER / "kea.json")
    until(lambda: ":547 " in world.linux.run("ss", "-Huln"), 60)
    return server


@pytest.mark.parametrize("rapid", [False, True])
def test_leases_of_kea_are_renewed(world, rapid):
    client = world.client("--dhcp6")   # first: Kea opens no socket on a link without carrier
    server = kea(world, rapid)
    renewed = until(lambda: client.output().count("leased by DHCPv6") >= 3, 60)
    text = client.output()
    status = client.stop()
    assert renewed and status == 0, text + server.output()[-4000:]
    assert until(lambda: "was released" in (log := server.output()) and log.count("REPLY (type 7)") >= 4, 60), \
        server.output()[-4000:]
    assert re.search(rf"{PREFIX6}:2\w\w, leased by DHCPv6 for 12 s", text), text
    assert "is no longer valid" not in text, text
    assert ("ADVERTISE (type 2)" in server.output()) == (not rapid), server.output()[-4000:]
