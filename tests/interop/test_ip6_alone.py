# SPDX-License-Identifier: BSD-2-Clause
"""A weir-host of IPv6 alone (build/v6, WEIR_CFG_IP4=0) and Linux: addresses out of radvd's prefix, of the link and by hand; ping, curl, iperf3 and
names over IPv6; and what it says and does of IPv4."""
import json
import pathlib
import re
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from building import build  # noqa: E402
from netns import Lab, until  # noqa: E402

HOST = str(ROOT / "build/v6/weir-host")
LINUX, LINUX6, PREFIX6, BY_HAND6 = "10.86.0.1", "2001:db8:86::1", "2001:db8:86:", "2001:db8:86::77"
FOLDER = ROOT / "build/labs/ip6_alone"


class World:
    def __init__(self, lab):
        self.lab = lab
        self.linux = lab.namespace("linux")
        self.where, self.words = lab.link(self.linux, "weir0", LINUX)
        self.linux.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.weir0.disable_ipv6=0")
        self.linux.run("ip", "-6", "address", "add", f"{LINUX6}/64", "dev", "weir0", "nodad")

    def radvd(self):
        (FOLDER / "radvd.conf").write_text(f"interface weir0 {{ AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; IgnoreIfMissing on;\n"
                                           f"    prefix {PREFIX6}:/64 {{ }}; RDNSS {LINUX6} {{ AdvRDNSSLifetime 600; }}; }};\n")
        self.linux.start(shutil.which("radvd", path="/usr/sbin:/sbin:/usr/bin"), "--nodaemon", "--logmethod=stderr",
                         f"--config={FOLDER / 'radvd.conf'}", f"--pidfile={FOLDER / 'radvd.pid'}")

    def client(self, *words):
        return self.where.start(HOST, *self.words, *words)

    def command(self, run, *words):
        client = self.client(*words, "--run", run)
        status = client.wait(90)
        return status, client.output()

    def iperf3(self, *words):
        text = self.linux.run("iperf3", "-6", "-J", *words, check=False)
        report = json.loads(text[text.index("{"):])
        assert "error" not in report, report["error"]
        return report["end"]


@pytest.fixture(scope="module", autouse=True)
def built():
    build("build/v6/weir-host")


@pytest.fixture
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield World(lab)


def own(host, prefix):
    """The host's address of that prefix, once it is known to be free."""
    found = until(lambda: re.search(rf"weir-host: ({prefix}[^ %]*)\S* is free", host.output()), 60)
    assert found, host.output()
    return found.group(1)


def serves(world, weir6):
    """ping, the status page, echoed bytes and iperf3 in both directions, TCP and UDP."""
    world.linux.ping(weir6, 5, "-i", "0.1")
    world.linux.ping(weir6, 2, "-i", "0.1", "-s", "4000")   # in fragments
    page = world.linux.run("curl", "--silent", "--show-error", "--fail", "--max-time", "60", f"http://[{weir6}]/")
    assert "Weir" in page
    echoed = world.linux.run("sh", "-c", f"printf 'four words are echoed\\n' | nc -6 -N -w 60 {weir6} 7", check=False)
    assert "four words are echoed" in echoed
    assert world.iperf3("-c", weir6, "-n", "20M")["sum_received"]["bytes"] > 15e6   # what arrived when the client said that it was done
    assert world.iperf3("-c", weir6, "-n", "20M", "-R")["sum_received"]["bytes"] > 15e6
    total = world.iperf3("-c", weir6, "-u", "-b", "10M", "-t", "1")["sum"]
    assert total["packets"] > 0 and total["lost_packets"] < total["packets"] / 2, total


def test_addresses_out_of_routers_prefixes(world):
    world.radvd()
    host = world.client("--ip6")
    of_link = own(host, "fe80:")
    serves(world, own(host, PREFIX6))
    world.linux.ping(f"{of_link}%weir0", 2, "-i", "0.1")
    assert "Weir" in world.linux.run("curl", "--silent", "--fail", "--max-time", "60", f"http://[{of_link}%25weir0]/")
    assert host.poll() is None, host.output()


def test_an_address_by_hand(world):
    host = world.client("--address6", f"{BY_HAND6}/64", "--gateway6", LINUX6)
    assert own(host, BY_HAND6) == BY_HAND6
    serves(world, BY_HAND6)
    # Nothing of IPv4 is answered: neither ARP nor a packet that needs none.
    mac = until(lambda: re.search(r"lladdr (\S+)", world.linux.run("ip", "-6", "neigh", "show", BY_HAND6)), 60).group(1)
    assert "0 received" in world.linux.run("ping", "-c", "2", "-i", "0.2", "-W", "1", "10.86.0.77", check=False)
    world.linux.run("ip", "neigh", "replace", "10.86.0.78", "lladdr", mac, "dev", "weir0")
    assert "0 received" in world.linux.run("ping", "-c", "2", "-i", "0.2", "-W", "1", "10.86.0.78", check=False)
    world.linux.ping(BY_HAND6, 2, "-i", "0.1")
    assert host.poll() is None, host.output()


def test_its_own_commands(world):
    by_hand = ("--address6", f"{BY_HAND6}/64")
    status, text = world.command(f"ping {LINUX6} -c 3 -i 0.1", *by_hand)
    assert status == 0 and "3 received" in text, text
    server = world.linux.start("iperf3", "-s", "-1", "-B", LINUX6)
    until(lambda: ":5201 " in world.linux.run("ss", "-Hltn"), 60)
    status, text = world.command(f"iperf3 -c {LINUX6} -n 20M", *by_hand)
    assert status == 0, text + server.output()
    (FOLDER / "page").write_text("a page of Linux's\n")
    world.linux.start(sys.executable, "-m", "http.server", "--bind", LINUX6, "--directory", FOLDER, "8000")
    until(lambda: ":8000 " in world.linux.run("ss", "-Hltn"), 60)
    status, text = world.command(f"get http://[{LINUX6}]:8000/page", *by_hand)
    assert status == 0 and "a page of Linux's" in text, text


def test_names_are_asked_for_aaaa_alone(world):
    world.radvd()
    server = world.linux.start(
        shutil.which("dnsmasq", path="/usr/sbin:/sbin:/usr/bin"), "--keep-in-foreground", "--conf-file=/dev/null", "--user=", "--group=", "--interface=weir0",
        "--bind-interfaces", "--except-interface=lo", "--pid-file=", "--no-resolv", "--no-hosts", "--log-facility=-", "--log-queries", "--local=/example/",
        "--host-record=both.example,10.9.8.7,2001:db8:9::7", "--host-record=four.example,10.9.8.6")
    until(lambda: f"[{LINUX6}]:53 " in world.linux.run("ss", "-Huln"), 60)
    status, text = world.command("resolve both.example", "--ip6")
    assert status == 0 and "2001:db8:9::7" in text and "10.9.8.7" not in text, text + server.output()
    status, text = world.command("resolve four.example", "--ip6")
    assert status != 0 and "the name has no address" in text, text
    assert re.search(r"(?i)query\[AAAA\] both.example", server.output()) and not re.search(r"query\[A\]", server.output()), server.output()


@pytest.mark.parametrize("words", [("--address", "10.86.0.2/24"), ("--dhcp",), ("--autoip",), ("--ip6", "--gateway", "10.86.0.1"), ("--ip6", "--dns", "10.86.0.1")])
def test_what_is_of_ip4_is_refused(world, words):
    host = world.client(*words)
    assert host.wait(60) == 2
    option = [word for word in words if word.startswith("--") and word != "--ip6"][0]
    assert f"weir-host: {option}: this weir-host is built without IPv4" in host.output(), host.output()


def test_without_an_address_it_says_which_ways_there_are(world):
    host = world.client()
    assert host.wait(60) == 2 and "give --ip6, --address6 X::Y/N or --dhcp6" in host.output(), host.output()
    status, text = world.command("dhcp-serve 10.86.0.50 10.86.0.60", "--ip6")
    assert status != 0 and "dhcp-serve: this weir-host is built without IPv4" in text, text
