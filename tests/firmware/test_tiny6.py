# SPDX-License-Identifier: BSD-2-Clause
"""tiny over IPv6 on lm3s6965evb, with Linux on a TAP as its neighbour and radvd as its router: ping, and the echo server by both of its addresses; and
Romantiki's answers to UDP, at an address that is given by hand."""
import concurrent.futures
import ipaddress
import os
import pathlib
import random
import re
import socket
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import command, exchange  # noqa: E402
from netns import Lab, until  # noqa: E402

ECHO, RESPOND, COUNT, LINUX, PREFIX = 5200, 5202, 5203, "fe80::1", "2001:db8:6::"
BY_HAND = "2001:db8::2"   # BOARD_ADDRESS6
RADVD = f"""interface lan {{ AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4;
    prefix {PREFIX}/64 {{ AdvValidLifetime 600; AdvPreferredLifetime 300; }}; }};
"""


class Neighbour:
    """The board, as Linux in its namespace sees it."""

    def __init__(self, lab, program):
        self.net = lab.namespace("net")
        # radvd asks for the one; with the other Linux has no addresses but these, which it does not probe.
        self.net.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.default.addr_gen_mode=1")
        assert lab.tap(self.net, "lan")
        for address in (f"{LINUX}/64", f"{PREFIX}1/64", "2001:db8::1/64"):
            self.net.run("ip", "address", "add", address, "dev", "lan", "nodad")
        # Its probes and reports are heard from its first moment on.
        self.heard = self.net.start("tcpdump", "-lni", "lan", "icmp6 or (ip6 and ip6[6] == 0)")
        assert until(lambda: "listening on" in self.heard.output(), 60), self.heard.output()
        self.machine = self.net.start(*command("lm3s6965evb", "tap,ifname=lan,script=no,downscript=no", program))

    def probed(self, begins):
        """The address with these first characters that the board looked for duplicates of; "": none yet."""
        found = re.findall(rf"IP6 :: > ff02::1:ff\S+: ICMP6, neighbor solicitation, who has ({begins}[0-9a-f:]+),", self.heard.output())
        return found[-1] if found else ""

    def pings(self, address, size=56):
        zone = "%lan" if address.startswith("f") else ""
        return " 1 received" in self.net.run("ping", "-6", "-c1", "-W2", "-s", size, address + zone, check=False)

    def within(self, conversation):
        """What it returns, held by a thread in the namespace."""
        def joined():
            self.net.join()
            return conversation()
        with concurrent.futures.ThreadPoolExecutor(1) as thread:
            return thread.submit(joined).result()

    def echoes(self, address, data):
        """What a connection brings back of the data."""
        def conversation():
            with socket.create_connection((f"{address}%lan" if address.startswith("f") else address, ECHO), 60) as connection:
                return exchange(connection, data)
        return self.within(conversation)

    def responds(self, address, port, data):
        """What a datagram is answered with. UDP may lose one: it is sent until there is an answer, for a minute at the most."""
        def conversation():
            with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as datagrams:
                datagrams.settimeout(0.5)
                datagrams.connect(socket.getaddrinfo(f"{address}%lan" if address.startswith("f") else address, port)[0][4])
                for _ in range(120):
                    try:
                        datagrams.send(data)
                        return datagrams.recv(2000)
                    except TimeoutError:
                        pass
            return None
        return self.within(conversation)


@pytest.fixture(scope="module")
def board():
    with Lab() as lab:
        neighbour = Neighbour(lab, "tiny6_echo")
        assert until(lambda: neighbour.probed("fe80:"), 60), neighbour.heard.output()
        (lab.folder / "radvd.conf").write_text(RADVD)
        neighbour.net.start("radvd", "-n", "-m", "stderr", "-C", lab.folder / "radvd.conf", "-p", lab.folder / "radvd.pid")
        assert until(lambda: neighbour.probed(PREFIX[:-1]), 60), neighbour.heard.output()
        yield neighbour


def both(board):
    return board.probed("fe80:"), board.probed(PREFIX[:-1])


def test_linux_pings_it(board):
    for address in both(board):
        assert until(lambda: board.pings(address), 60), board.heard.output()
        assert until(lambda: board.pings(address, 600), 60), board.heard.output()
    assert until(lambda: board.pings("ff02::1"), 60), board.heard.output()


def test_its_identifiers_are_opaque(board):
    link, made = (ipaddress.ip_address(address) for address in both(board))
    assert made in ipaddress.ip_network(f"{PREFIX}/64")
    assert int(link) & (1 << 64) - 1 != int(made) & (1 << 64) - 1
    assert "ff:fe" not in link.exploded[20:] and "ff:fe" not in made.exploded[20:]


def test_every_byte_comes_back(board):
    data = random.Random(6).randbytes(50_000)
    for address in both(board):
        assert until(lambda: board.pings(address), 60), board.heard.output()
        assert board.echoes(address, data) == data


def test_it_says_which_groups_it_hears(board):
    assert until(lambda: re.search(r"HBH ICMP6, multicast listener report v2, \d group record", board.heard.output()), 60), board.heard.output()


@pytest.fixture(scope="module")
def responder():
    """With a router whose prefix it has no use for. (A folder of its own: the other board's network is up, too.)"""
    with Lab(ROOT / f"build/labs/{os.getpid()}-respond") as lab:
        neighbour = Neighbour(lab, "tiny6_respond")
        (lab.folder / "radvd.conf").write_text(RADVD)
        neighbour.net.start("radvd", "-n", "-m", "stderr", "-C", lab.folder / "radvd.conf", "-p", lab.folder / "radvd.pid")
        assert until(lambda: neighbour.probed("fe80:"), 60), neighbour.heard.output()
        yield neighbour


def test_an_address_given_by_hand_is_probed_and_used(responder):
    assert until(lambda: responder.probed("2001:db8::") == BY_HAND, 60), responder.heard.output()
    assert until(lambda: responder.pings(BY_HAND), 60), responder.heard.output()
    assert until(lambda: "ICMP6, router advertisement" in responder.heard.output(), 60), responder.heard.output()
    assert until(lambda: responder.pings(BY_HAND), 60)   # the prefix makes no address, and takes none away
    assert not responder.probed(PREFIX[:-1])


def test_datagrams_are_answered(responder):
    for address in (BY_HAND, responder.probed("fe80:")):
        assert until(lambda: responder.pings(address), 60), responder.heard.output()
        for length in (0, 1, 2, 255, 511, 512):
            data = (b"Romantiki answers. " * 30)[:length]
            assert responder.responds(address, RESPOND, data) == data.upper()
    # The other task's: an answer is counted once it is sent, which may be after it was read here.
    assert until(lambda: int(responder.responds(BY_HAND, COUNT, b"?")) >= 12, 60)


def test_a_switch_of_mld_version_1_hears_its_groups(responder):
    """Linux's bridge is one, and asks. (The last test: Linux itself is on the bridge from then on.)"""
    net, heard = responder.net, len(responder.heard.output())
    net.run("ip", "link", "add", "switch", "type", "bridge", "mcast_querier", "1", "mcast_mld_version", "1")
    net.run("ip", "address", "add", "fe80::5/64", "dev", "switch", "nodad")
    net.run("ip", "link", "set", "lan", "master", "switch")
    net.run("ip", "link", "set", "switch", "up")
    for address in (responder.probed("fe80:"), BY_HAND):
        packed = ipaddress.ip_address(address).packed
        group = ipaddress.ip_address(bytes.fromhex("ff0200000000000000000001ff") + packed[13:])
        report = rf"> {group}: HBH ICMP6, multicast listener report.* addr: {group}"
        assert until(lambda: re.search(report, responder.heard.output()[heard:]), 60), responder.heard.output()[heard:]
