# SPDX-License-Identifier: BSD-2-Clause
"""Source filters of multicast (RFC 3678) of a program under weir-run: what it hears of Linux's two addresses, what Linux as a querier of
IGMP version 3 is answered, and what a bridge of Linux that snoops IGMP and MLD learns from the reports."""
import json
import os
import shutil
import socket
import struct
import sys

import pytest
from tcp_lab import ROOT, Lab, inside, until

RUN = os.environ.get("WEIR_RUN_PROGRAM", str(ROOT / "build/host/weir-run"))
WEIR, ONE, TWO, GROUP, PORT = "10.96.0.2", "10.96.0.1", "10.96.0.9", "239.1.2.3", 7000
WEIR6, ONE6, GROUP6 = "fd96::2", "fd96::1", "ff05::1:3"
PATIENCE = 60

# A member that tells each datagram it hears; one that says which filter to set next is obeyed, and then that is told.
MEMBER = f"""
import socket, struct, sys
A, B, GROUP = (socket.inet_aton(a) for a in ("{ONE}", "{TWO}", "{GROUP}"))
HERE = socket.inet_aton("{WEIR}")
ADD, DROP, BLOCK, UNBLOCK, MSFILTER = 39, 40, 38, 37, 41
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", {PORT}))
def source(option, address):
    s.setsockopt(socket.IPPROTO_IP, option, GROUP + HERE + address)
def one():
    source(ADD, A)
def both():
    source(ADD, B)
def blocked():
    s.setsockopt(socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, GROUP + HERE)
    s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, GROUP + HERE)
    source(BLOCK, A)
def whole():
    s.setsockopt(socket.IPPROTO_IP, MSFILTER, GROUP + HERE + struct.pack("=II", 1, 1) + B)
steps = iter([one, both, blocked, whole])
def step():
    what = next(steps, None)
    if what is None:
        sys.exit(0)
    what()
    print("now", what.__name__, flush=True)
step()
while True:
    data, sender = s.recvfrom(100)
    print(sender[0], data.decode(), flush=True)
    if data == b"next":
        step()
"""

MEMBER6 = f"""
import signal, socket, struct
def name(address):
    return struct.pack("=HHI", socket.AF_INET6, 0, 0) + socket.inet_pton(socket.AF_INET6, address) + bytes(104)
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, 46, struct.pack("=II", 1, 0) + name("{GROUP6}") + name("{ONE6}"))  # MCAST_JOIN_SOURCE_GROUP
print("now one", flush=True)
signal.pause()
"""


class Site:
    def __init__(self, lab, bridge=False):
        self.linux = lab.namespace("linux")
        if not lab.tap(self.linux, "tap0"):
            pytest.skip("no right to make a TAP")
        self.linux.run("ip", "link", "set", "lo", "up")
        self.device = "br0" if bridge else "tap0"
        if bridge:
            self.linux.run("ip", "link", "add", "br0", "type", "bridge", "mcast_snooping", "1", "mcast_querier", "1",
                           "mcast_igmp_version", "3", "mcast_mld_version", "2", "mcast_startup_query_interval", "100", check=False)
            if "br0" not in self.linux.run("ip", "link"):
                pytest.skip("no right to make a bridge")
            self.linux.run("ip", "link", "set", "tap0", "master", "br0")
            self.linux.up("br0")
        for address in (f"{ONE}/24", f"{TWO}/24", f"{ONE6}/64"):
            self.linux.run("ip", "address", "add", address, "dev", self.device, *(["nodad"] if ":" in address else []))
        self.words = [RUN, "--tap", "tap0", "--address", f"{WEIR}/24", "--address6", f"{WEIR6}/64"]
        self.member = None

    def start(self, program):
        self.member = self.linux.start(*self.words, sys.executable, "-c", program)
        self.said("now one")

    def lines(self):
        return self.member.output().splitlines()

    def said(self, line):
        assert until(lambda: line in self.lines() or self.member.poll() is not None, PATIENCE), self.member.output()
        assert line in self.lines(), self.member.output()

    def send(self, source, *words):
        with inside(self.linux), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(source))
            sock.bind((source, 0))
            for word in words:
                sock.sendto(word.encode(), (GROUP, PORT))


@pytest.fixture
def site():
    with Lab() as lab:
        yield Site(lab)


def test_a_member_hears_the_sources_of_its_filter_alone(site):
    site.start(MEMBER)
    site.send(TWO, "deaf")
    site.send(ONE, "a1", "next")  # what is sent after it is heard, so the first was not
    site.said("now both")
    site.send(TWO, "b1")
    site.send(ONE, "a2", "next")
    site.said("now blocked")
    site.send(ONE, "deaf")
    site.send(TWO, "b2", "next")
    site.said("now whole")
    site.send(ONE, "deaf")
    site.send(TWO, "b3", "next")
    assert site.member.wait(PATIENCE) == 0, site.member.output()
    heard = [line for line in site.lines() if not line.startswith("now") and not line.endswith("next")]
    assert heard == [f"{ONE} a1", f"{TWO} b1", f"{ONE} a2", f"{TWO} b2", f"{TWO} b3"]


# --- a querier ---------------------------------------------------------------------------------------
TYPES = {1: "IS_IN", 2: "IS_EX", 3: "TO_IN", 4: "TO_EX", 5: "ALLOW", 6: "BLOCK"}


def records(packet):
    """The records of a version 3 report about the group, as text."""
    header = (packet[0] & 15) * 4
    report, at = packet[header:], 8
    if report[0] != 0x22 or packet[12:16] != socket.inet_aton(WEIR):
        return
    for _ in range(struct.unpack("!H", report[6:8])[0]):
        kind, count = report[at], struct.unpack("!H", report[at + 2:at + 4])[0]
        sources = [socket.inet_ntoa(report[at + 8 + 4 * i:at + 12 + 4 * i]) for i in range(count)]
        if report[at + 4:at + 8] == socket.inet_aton(GROUP):
            yield f"{TYPES[kind]} {','.join(sorted(sources))}".strip()
        at += 8 + 4 * count


def summed(message):
    total = sum(struct.unpack(f"!{len(message) // 2}H", message))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return message[:2] + struct.pack("!H", total ^ 0xffff) + message[4:]


def query(sources):
    body = struct.pack("!BBH4sBBH", 0x11, 5, 0, socket.inet_aton(GROUP), 2, 125, len(sources))
    return summed(body + b"".join(socket.inet_aton(source) for source in sources))


def test_a_querier_is_answered_with_the_sources_that_are_heard(site):
    with inside(site.linux):
        igmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_IGMP)
    with igmp:
        igmp.settimeout(PATIENCE)
        igmp.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("224.0.0.22") + socket.inet_aton(ONE))
        igmp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(ONE))
        igmp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 1)
        igmp.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\x94\x04\0\0")

        def told(wanted):
            while wanted not in (found := list(records(igmp.recv(2000)))):
                assert not any(record.startswith("IS_") for record in found), found
        site.start(MEMBER)
        told(f"ALLOW {ONE}")
        site.send(ONE, "next")
        told(f"ALLOW {TWO}")
        igmp.sendto(query([]), (GROUP, 0))
        told(f"IS_IN {ONE},{TWO}")
        igmp.sendto(query([TWO, "10.96.0.77"]), (GROUP, 0))
        told(f"IS_IN {TWO}")
        site.send(ONE, "next")
        told(f"TO_EX {ONE}")
        igmp.sendto(query([ONE, TWO]), (GROUP, 0))
        told(f"IS_IN {TWO}")
        site.send(TWO, "next")
        told(f"TO_IN {TWO}")


# --- a switch ----------------------------------------------------------------------------------------
@pytest.fixture
def switch():
    if shutil.which("bridge", path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
        pytest.skip("bridge is not here")
    with Lab() as lab:
        yield Site(lab, bridge=True)


def learnt(site, group):
    """What the bridge knows of the group behind the TAP: the mode, and the sources."""
    told = json.loads(site.linux.run("bridge", "-d", "-j", "mdb", "show", "dev", "br0"))
    for entry in told[0].get("mdb", []):
        if entry["grp"] == group and entry["port"] == "tap0" and "src" not in entry:
            return entry.get("filter_mode"), sorted(source["address"] for source in entry.get("source_list", []))
    return None


def test_a_switch_learns_the_sources(switch):
    switch.start(MEMBER)
    assert until(lambda: learnt(switch, GROUP) == ("include", [ONE]), PATIENCE), learnt(switch, GROUP)
    switch.send(ONE, "next")
    assert until(lambda: learnt(switch, GROUP) == ("include", [ONE, TWO]), PATIENCE), learnt(switch, GROUP)
    switch.send(ONE, "next")
    assert until(lambda: (learnt(switch, GROUP) or [""])[0] == "exclude", PATIENCE), learnt(switch, GROUP)
    switch.said("now blocked")


def test_a_switch_learns_the_sources_of_ip6(switch):
    switch.start(MEMBER6)
    assert until(lambda: learnt(switch, GROUP6) == ("include", [ONE6]), PATIENCE), learnt(switch, GROUP6)
