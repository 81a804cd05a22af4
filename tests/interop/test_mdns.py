# SPDX-License-Identifier: BSD-2-Clause
"""Multicast DNS against Avahi (its daemon on a bus of its own, avahi-browse, avahi-resolve) and python-zeroconf."""
# alone: a name is lost that is not defended within 750 ms of the first probe (RFC 6762 §8.1), whatever else runs.
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
LINUX, WEIR, SECOND = "10.82.0.1", "10.82.0.2", "10.82.0.3"
FOLDER = ROOT / "build/labs/mdns"
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>custom</type><listen>unix:path={socket}</listen><auth>EXTERNAL</auth><policy context="default">
<allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="false"/><allow receive_sender="*"/></policy></busconfig>
"""
AVAHI = """[server]
host-name=linux
allow-interfaces=br0
use-ipv4=yes
use-ipv6=yes
ratelimit-burst=10000
[publish]
publish-workstation=no
"""
ZEROCONF = """
import socket, sys, threading, time
from zeroconf import InterfaceChoice, IPVersion, ServiceBrowser, ServiceInfo, Zeroconf
zc = Zeroconf(interfaces=["{address}"], ip_version=IPVersion.V4Only)
"""


def tool(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") or name


class World:
    """One link: Linux with a bridge, two Weir hosts behind veth pairs."""

    def __init__(self, lab):
        self.lab = lab
        self.linux = lab.namespace("linux")
        self.linux.run("ip", "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
        self.sides = []
        for index in range(2):
            side = lab.namespace(f"weir{index}")
            lab.veth(self.linux, f"port{index}", side, "eth0", offloads=False)
            self.linux.run("ip", "link", "set", f"port{index}", "master", "br0")
            self.sides.append(side)
        self.linux.address("br0", f"{LINUX}/24")
        self.environment = dict(os.environ, DBUS_SYSTEM_BUS_ADDRESS=f"unix:path={FOLDER / 'bus'}")
        (FOLDER / "bus.conf").write_text(BUS.format(socket=FOLDER / "bus"))
        (FOLDER / "avahi.conf").write_text(AVAHI)
        self.linux.start(tool("dbus-daemon"), f"--config-file={FOLDER / 'bus.conf'}", "--nofork", "--nopidfile")
        assert until(lambda: (FOLDER / "bus").exists())
        self.avahi = self.linux.start(tool("avahi-daemon"), "--no-rlimits", "--no-drop-root", "--no-chroot", "-f", FOLDER / "avahi.conf", env=self.environment)
        assert until(lambda: "Server startup complete" in self.avahi.output(), 60), self.avahi.output()
        self.host = self.weir(0, WEIR, "kitchen")
        assert until(lambda: "kitchen.local" in self.host.output() and "_http._tcp" in self.host.output(), 60), self.host.output()

    def weir(self, side, address, name, *more):
        return self.sides[side].start(HOST, "--packet", "eth0", "--address", f"{address}/24", "--ip6", "--mdns", name, *more)

    def ask(self, *command, check=False):
        return self.linux.run("timeout", "60", *command, check=check, env=self.environment)

    def says(self, word, *command):
        """Waits until one of Avahi's tools, which wait for answers some seconds only, says this."""
        said = []
        assert until(lambda: said.append(self.ask(*command)) or word in said[-1], 60), said[-1]

    def browse(self, kind, last):
        """What Weir finds until the line of `last`."""
        browsing = self.sides[1].start(HOST, "--packet", "eth0", "--address", f"{SECOND}/24", "--ip6", "--run", f"browse {kind} -t 200")
        until(lambda: re.search(rf"^{last}.*$", browsing.output(), re.MULTILINE))
        browsing.stop()
        return browsing.output()

    def zeroconf(self, script):
        return self.linux.run(sys.executable, "-c", ZEROCONF.format(address=LINUX) + script, timeout=150)


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        made = World(lab)
        yield made
        assert made.host.poll() is None, "the host died:\n" + made.host.output()
        assert made.host.stop() == 0, made.host.output()


def test_avahi_resolves_the_name(world):
    world.says(WEIR, "avahi-resolve", "-4", "-n", "kitchen.local")
    world.says(WEIR, "avahi-resolve", "-4", "-n", "KITCHEN.local")
    world.says("fe80::", "avahi-resolve", "-6", "-n", "kitchen.local")
    world.linux.ping(WEIR, 1)


def test_avahi_finds_the_service(world):
    def found():
        text = world.ask("avahi-browse", "-rpt", "_http._tcp")
        return any(line.startswith("=;br0;IPv4;kitchen;") and f";kitchen.local;{WEIR};80;" in line and '"path=/"' in line
                   for line in text.splitlines())
    assert until(found, 60), world.ask("avahi-browse", "-rpt", "_http._tcp")
    world.says(";kitchen;", "avahi-browse", "-apt")   # by the list of types


def test_we_find_what_avahi_publishes(world):
    published = world.linux.start("avahi-publish", "-s", "Dr. Who's printer", "_ipp._tcp", "631", "rp=queue", "color=T", env=world.environment)
    assert until(lambda: "Established" in published.output(), 60), published.output()
    text = world.browse("_ipp._tcp", f"= Dr. Who's printer: .*{LINUX}")
    assert "+ Dr\\. Who's printer._ipp._tcp.local" in text, text
    assert any(line.startswith("= Dr. Who's printer: linux.local 631") and LINUX in line and "rp=queue" in line for line in text.splitlines()), text
    browsing = world.sides[1].start(HOST, "--packet", "eth0", "--address", f"{SECOND}/24", "--run", "browse _ipp._tcp -t 120")
    assert until(lambda: "+ Dr" in browsing.output(), 60)
    published.stop()
    assert until(lambda: "- Dr" in browsing.output(), 60), browsing.output()   # its goodbye
    browsing.stop()


def test_one_of_ours_finds_the_other(world):
    text = world.browse("_http._tcp", f"= kitchen: .*{WEIR}")
    assert f"= kitchen: kitchen.local 80" in text and WEIR in text and "path=/" in text, text


def test_a_name_that_avahi_has_is_left_to_it(world):
    host = world.weir(1, SECOND, "linux")
    assert until(lambda: "linux-2.local" in host.output(), 60), host.output()
    world.says(SECOND, "avahi-resolve", "-4", "-n", "linux-2.local")
    world.says(LINUX, "avahi-resolve", "-4", "-n", "linux.local")
    assert host.stop() == 0
    assert until(lambda: SECOND not in world.ask("avahi-browse", "-rpt", "_http._tcp"), 60)   # its goodbye


def test_two_of_ours_with_one_name(world):
    """A host that is not heard within 750 ms loses its name to the newcomer, as RFC 6762 has it; not three times in a row."""
    for _ in range(3):
        host = world.weir(1, SECOND, "kitchen")
        assert until(lambda: "kitchen-2.local" in host.output() and "kitchen (2)._http" in host.output()
                     or "(2)._http" in world.host.output() or "kitchen-2" in world.host.output(), 60), host.output()
        if "kitchen (2)._http" in host.output() and "kitchen-2.local" in host.output():
            break
        assert host.stop() == 0 and world.host.stop() == 0
        world.host = world.weir(0, WEIR, "kitchen")
        assert until(lambda: "kitchen.local" in world.host.output() and "_http._tcp" in world.host.output(), 60), world.host.output()
    assert "kitchen-2" not in world.host.output()
    for line in (f";kitchen-2.local;{SECOND};80;", f";kitchen.local;{WEIR};80;"):
        world.says(line, "avahi-browse", "-rpt", "_http._tcp")
    assert host.stop() == 0


def test_two_links_become_one(tmp_path):
    """Two of ours have the same names on a bridge each; then the bridges are joined, and somebody asks for the name. One keeps it (RFC 6762
    section 9), though the claim came in several records and over both families."""
    with Lab(tmp_path) as lab:
        switch, hosts = lab.namespace("switch"), []
        switch.run("ip", "link", "add", "join0", "type", "veth", "peer", "name", "join1")
        for number in range(2):
            switch.run("ip", "link", "add", f"br{number}", "type", "bridge", "mcast_snooping", "0")
            switch.run("ip", "link", "set", f"join{number}", "master", f"br{number}")
            side = lab.namespace(f"side{number}")
            lab.veth(switch, f"port{number}", side, "eth0", offloads=False)
            switch.run("ip", "link", "set", f"port{number}", "master", f"br{number}")
            switch.address(f"br{number}", f"10.82.0.{100 + number}/24")
            hosts.append(side.start(HOST, "--packet", "eth0", "--address", f"10.82.0.{2 + number}/24", "--ip6", "--mdns", "kitchen"))
        assert until(lambda: all("kitchen.local" in host.output() and "is free" in host.output() for host in hosts)), [host.output() for host in hosts]
        assert not any("kitchen-2" in host.output() for host in hosts)
        switch.up("join0")
        switch.up("join1")
        question = (b"\0\0\0\0\0\1\0\0\0\0\0\0\7kitchen\5local\0\0\1\0\1")
        ask = ("import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('10.82.0.100', 5353));"
               f"s.setsockopt(0, socket.IP_MULTICAST_IF, socket.inet_aton('10.82.0.100')); s.sendto({question}, ('224.0.0.251', 5353))")

        def renamed():
            switch.run(sys.executable, "-c", ask)
            return [host for host in hosts if "kitchen-2.local" in host.output() and "kitchen (2)._http" in host.output()]
        assert len(until(renamed, 60, 1)) == 1, [host.output() for host in hosts]
        assert not any("kitchen-3" in host.output() or "kitchen (3)" in host.output() for host in hosts)


def test_avahi_gives_way_to_our_name(world):
    published = world.linux.start("avahi-publish", "-s", "kitchen", "_http._tcp", "8080", env=world.environment)
    assert until(lambda: "kitchen #2" in published.output(), 60), published.output()
    assert "(2)" not in world.host.output()
    published.stop()


def test_zeroconf_finds_us(world):
    text = world.zeroconf("""
info = zc.get_service_info("_http._tcp.local.", "kitchen._http._tcp.local.", 60000)
print(info.server, info.port, info.parsed_addresses(IPVersion.V4Only), info.properties)
seen = threading.Event()
class Seen:
    def add_service(self, zc, kind, name): print("found", name); seen.set()
    def update_service(self, *_): pass
    remove_service = update_service
browser = ServiceBrowser(zc, "_http._tcp.local.", Seen())
seen.wait(60)
zc.close()
""")
    assert f"kitchen.local. 80 ['{WEIR}']" in text and "b'path': b'/'" in text and "found kitchen._http._tcp.local." in text, text


def test_we_find_zeroconf(world):
    script = FOLDER / "publish.py"
    script.write_text(ZEROCONF.format(address=LINUX) + f"""
info = ServiceInfo("_coap._udp.local.", "Sensor 1._coap._udp.local.", addresses=[socket.inet_aton("{LINUX}")], port=5683, properties={{"v": "1"}}, server="sensor.local.")
zc.register_service(info)
sys.stdin.readline()
info = ServiceInfo("_coap._udp.local.", "Sensor 1._coap._udp.local.", addresses=[socket.inet_aton("{LINUX}")], port=5684, properties={{"v": "2"}}, server="sensor.local.")
zc.update_service(info)
sys.stdin.readline()
zc.close()
print("gone", flush=True)
time.sleep(60)
""")
    browsing = world.sides[1].start(HOST, "--packet", "eth0", "--address", f"{SECOND}/24", "--run", "browse _coap._udp -t 200")
    publisher = world.linux.popen(sys.executable, script, stdin=subprocess.PIPE, text=True)

    def go_on():
        publisher.stdin.write("\n")
        publisher.stdin.flush()
    assert until(lambda: f"= Sensor 1: sensor.local 5683 {LINUX} v=1" in browsing.output(), 60), browsing.output()
    go_on()
    assert until(lambda: f"= Sensor 1: sensor.local 5684 {LINUX} v=2" in browsing.output(), 60), browsing.output()
    go_on()
    assert until(lambda: "- Sensor 1._coap._udp.local" in browsing.output(), 60), browsing.output()
    browsing.stop()
