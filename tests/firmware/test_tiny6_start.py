# SPDX-License-Identifier: BSD-2-Clause
"""How tiny over IPv6 starts on lm3s6965evb: from its first frame to the first byte that it answers, where a router answers at once. `pytest -s` shows
the times."""
import concurrent.futures
import pathlib
import socket
import struct
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import command  # noqa: E402
from netns import Lab, until  # noqa: E402

ECHO, PREFIX = 5200, "2001:db8:6::"
ROUTER, ALL_NODES = "fe80::1", "ff02::1"
SOLICITATION, ADVERTISEMENT, PROBE = 133, 134, 135


def bytes_of(address):
    return socket.inet_pton(socket.AF_INET6, address)


def checksum(source, destination, message):
    data = source + destination + struct.pack("!II", len(message), socket.IPPROTO_ICMPV6) + message
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def advertisement(mac):
    """The frame: a router for half an hour, a prefix to make an address of."""
    source, destination = bytes_of(ROUTER), bytes_of(ALL_NODES)
    rest = struct.pack("!BBHII", 64, 0, 1800, 0, 0) + b"\x01\x01" + mac + struct.pack("!BBBBIII", 3, 4, 64, 0xc0, 86400, 3600, 0) + bytes_of(PREFIX)
    sum_bytes = struct.pack("!H", checksum(source, destination, struct.pack("!BBH", ADVERTISEMENT, 0, 0) + rest))
    message = bytes([ADVERTISEMENT, 0]) + sum_bytes + rest
    header = struct.pack("!IHBB", 6 << 28, len(message), socket.IPPROTO_ICMPV6, 255) + source + destination
    return bytes.fromhex("333300000001") + mac + b"\x86\xdd" + header + message


class Router(threading.Thread):
    """Answers at once, and notes when what came first: "frame", "asked", "probed"."""

    def __init__(self, net):
        super().__init__()
        self.net, self.listens, self.over = net, threading.Event(), False
        self.times, self.askers, self.address = {}, [], None

    def run(self):
        self.net.join()
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as line:
            line.bind(("lan", 0))
            line.settimeout(0.5)
            self.listens.set()
            while not self.over:
                try:
                    frame, sender = line.recvfrom(2000)
                except TimeoutError:
                    continue
                if sender[2] != socket.PACKET_OUTGOING:
                    self.heard(line, frame)

    def note(self, what):
        self.times.setdefault(what, time.monotonic())

    def heard(self, line, frame):
        self.note("frame")
        if frame[12:14] != b"\x86\xdd" or frame[20] != socket.IPPROTO_ICMPV6:
            return
        if frame[54] == SOLICITATION:
            self.note("asked")
            self.askers.append(socket.inet_ntop(socket.AF_INET6, frame[22:38]))
            line.send(advertisement(line.getsockname()[4]))
        elif frame[54] == PROBE and frame[62:70] == bytes_of(PREFIX)[:8]:
            self.note("probed")
            self.address = self.address or socket.inet_ntop(socket.AF_INET6, frame[62:78])


def echo(net, address):
    net.join()
    with socket.create_connection((address, ECHO), 60) as connection:
        connection.send(b"x")
        assert connection.recv(1) == b"x"


def test_it_starts():
    with Lab() as lab:
        net = lab.namespace("net")
        net.run("sysctl", "-qw", "net.ipv6.conf.default.addr_gen_mode=1")
        assert lab.tap(net, "lan")
        for address in (f"{ROUTER}/64", f"{PREFIX}1/64"):
            net.run("ip", "address", "add", address, "dev", "lan", "nodad")
        # Linux looks for the address as soon as it is probed, and often.
        net.run("sysctl", "-qw", "net.ipv6.neigh.lan.retrans_time_ms=10", "net.ipv6.neigh.lan.mcast_solicit=5000")
        router = Router(net)
        router.start()
        try:
            assert router.listens.wait(60)
            net.start(*command("lm3s6965evb", "tap,ifname=lan,script=no,downscript=no", "tiny6_echo"))
            assert until(lambda: router.address, 60), router.times
            with concurrent.futures.ThreadPoolExecutor(1) as client:   # a thread that joins the network stays in it
                client.submit(echo, net, router.address).result()
        finally:
            router.over = True
            router.join()
        began = router.times["frame"]
        print(f"asked after {router.times['asked'] - began:.3f} s, probed after {router.times['probed'] - began:.3f} s, "
              f"the first byte after {time.monotonic() - began:.3f} s")
        assert router.askers[0] == "::"   # while its own address is probed
