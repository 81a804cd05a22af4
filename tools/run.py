#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The demonstration of `make run`: a Weir host in a private network namespace, Linux's own tools at work against it.

As root, and wherever the kernel permits it, the host sits on a TAP; otherwise on one end of a veth pair through AF_PACKET, with the
Linux tools at the other end (WEIR_RUN_LINK=packet in the environment asks for that). --once: stop after the demonstration. Exit
status 0 only when every step worked. FAMILY=6 in the environment: the host has IPv6 alone. Logs: build/run/, or
build/run-2/ beside a run that lasts, and so on."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tools"))
from configuration import version as weir_version  # noqa: E402
from logs import claim  # noqa: E402
from netns import Lab, until  # noqa: E402
from relay import forward  # noqa: E402

HOST = ROOT / "build/host/weir-host"
LOGS = ROOT / "build/run"    # until main has claimed one
LINUX, WEIR, CLIENT_LINUX, NAME, NAMED = "10.77.0.1", "10.77.0.2", "10.78.0.1", "weir.example", "192.0.2.77"
LINUX6, PREFIX6 = "2001:db8:77::1", "2001:db8:77:"
CLIENT_LINUX6, CLIENT_PREFIX6, NAMED6 = "2001:db8:78::1", "2001:db8:78:", "2001:db8:9::77"
WEB, WEB_PORT, SILENT6 = "web.example", "8088", "2001:db8:78::dead"   # a name whose IPv6 address nobody has
ONLY6 = os.environ.get("FAMILY") == "6"
SECONDS = "2"     # of each iperf3 run
UDP_RATE = "200M"
DOOR = "WEIR_RUN_DOOR"   # environment: the listening socket that was opened outside of the namespace


def enter_private_network():
    """Starts this program again in a network (and, for an ordinary user, a user) namespace of its own. A socket that listens
    on the outside stays with it: the way to the status page for a browser out there."""
    if DOOR in os.environ:
        return
    door = socket.socket()
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind(("127.0.0.1", int(os.environ.get("WEIR_HTTP_PORT", "8077"))))
    except OSError:
        door.bind(("127.0.0.1", 0))
    door.listen(16)
    door.set_inheritable(True)
    os.environ[DOOR] = str(door.fileno())
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    if subprocess.run(unshare + ["true"], capture_output=True).returncode:
        sys.exit("this machine permits no private network namespaces to you: run `make run` as root, or enable unprivileged user namespaces")
    os.execvp(unshare[0], unshare + [sys.executable, __file__, *sys.argv[1:]])


def forward_door(host):
    """Carries connections from the outside to the Weir host's port 80."""
    door = socket.socket(fileno=int(os.environ[DOOR]))
    threading.Thread(target=forward, args=(door, (host, 80)), daemon=True).start()
    return door.getsockname()[1]


class Failed(Exception):
    pass


class Demonstration:
    def __init__(self, lab):
        self.lab, self.linux, self.failures, self.weir6 = lab, lab.here(), 0, None
        self.linux.up("lo")

    # --- the network -----------------------------------------------------------------------------------------------------
    def link(self, name, address):
        """A link of Linux's with `address`; returns (namespace, words for weir-host) of its other side."""
        return self.lab.link(self.linux, name, address, tap=os.environ.get("WEIR_RUN_LINK") != "packet")

    def start_host(self):
        namespace, self.words = self.link("weir0", LINUX)
        self.start_router()
        command = [HOST, *self.words, *([] if ONLY6 else ["--address", f"{WEIR}/24", "--gateway", LINUX]), "--ip6", "--http", "80"]
        self.host = namespace.start(*command, log=LOGS / "weir-host.log")
        up = until(lambda: self.host.poll() is not None or self.answers(), 60)
        if not up or self.host.poll() is not None:
            raise Failed(f"the host did not come up: {' '.join(map(str, command))}\n{self.host.output()}")

    def answers(self):
        """Whether the host is up: it answers, or has an address of its own."""
        if ONLY6:
            return " is free" in self.host.output()
        return "1 received" in self.linux.run("ping", "-c", "1", "-W", "1", WEIR, check=False)

    def start_router(self):
        """Linux is the IPv6 router of both links: radvd says so; of which prefix hosts of the first may make addresses; and that those
        of the second get theirs by DHCPv6, and where the name server is."""
        self.client_link = self.link("weir1", CLIENT_LINUX)
        self.linux.run("sysctl", "-qw", "net.ipv6.conf.all.forwarding=1", "net.ipv6.conf.weir0.disable_ipv6=0", "net.ipv6.conf.weir1.disable_ipv6=0")
        self.linux.run("ip", "-6", "address", "add", f"{LINUX6}/64", "dev", "weir0", "nodad")
        self.linux.run("ip", "-6", "address", "add", f"{CLIENT_LINUX6}/64", "dev", "weir1", "nodad")
        common = "AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; IgnoreIfMissing on;"
        (LOGS / "radvd.conf").write_text(f"interface weir0 {{ {common}\n"
                                         f"    prefix {PREFIX6}:/64 {{ AdvValidLifetime 3600; AdvPreferredLifetime 1800; }}; }};\n"
                                         f"interface weir1 {{ {common} AdvManagedFlag on;\n"
                                         f"    prefix {CLIENT_PREFIX6}:/64 {{ AdvAutonomous off; }};\n"
                                         f"    RDNSS {CLIENT_LINUX6} {{ AdvRDNSSLifetime 600; }}; DNSSL example {{ AdvDNSSLLifetime 600; }}; }};\n")
        self.linux.start(shutil.which("radvd", path=os.environ["PATH"] + ":/usr/sbin:/sbin"), "--nodaemon", "--logmethod=stderr",
                         f"--config={LOGS / 'radvd.conf'}", f"--pidfile={LOGS / 'radvd.pid'}", log=LOGS / "radvd.log")

    # --- the steps: each returns what it reached, as text ----------------------------------------------------------------
    def autoconfigured(self):
        """The address that the host made out of radvd's prefix, once it knows that nobody else has it."""
        found = until(lambda: re.search(rf"({PREFIX6}\S+) is free", self.host.output()), 60)
        if not found:
            raise Failed(f"no address within {PREFIX6}:/64\n{self.host.output()}")
        self.weir6 = found.group(1)
        return f"{self.weir6}, out of radvd's prefix"

    def ping(self, to=WEIR):
        times = re.search(r"= ([\d.]+)/([\d.]+)/([\d.]+)", self.linux.ping(to, 20, "-i", "0.05"))
        return f"20 of 20 answered, {times.group(2)} ms on average ({times.group(1)} to {times.group(3)})"

    def curl(self, to=WEIR):
        page = LOGS / "status.html"
        facts = self.linux.run("curl", "--silent", "--show-error", "--fail", "--max-time", "60", "--output", page, "--write-out",
                               "%{http_code} %{size_download} %{time_total}", f"http://{to}/").split()
        if facts[0] != "200" or "Weir" not in page.read_text(errors="replace"):
            raise Failed(f"the status page is not what it should be: {facts}")
        return f"HTTP {facts[0]}, {facts[1]} bytes in {float(facts[2]) * 1000:.1f} ms"

    def iperf3(self, *words, to=WEIR):
        text = self.linux.run("iperf3", "-c", to, "-t", SECONDS, "-J", *words, timeout=60, check=False)
        try:
            report = json.loads(text[text.index("{"):])
        except ValueError:
            raise Failed(text[-500:]) from None
        if "error" in report:
            raise Failed(report["error"])
        return report["end"]

    def tcp_to_weir(self, to=WEIR):
        end = self.iperf3(to=to)
        return f"{rate(end['sum_received'])}, {end['sum_sent'].get('retransmits', 0)} retransmissions"

    def tcp_from_weir(self, to=WEIR):
        return rate(self.iperf3("-R", to=to)["sum_received"])

    def udp(self):
        total = self.iperf3("-u", "-b", UDP_RATE)["sum"]
        if total["packets"] == 0:
            raise Failed("no datagram arrived")
        return f"{rate(total)} of {UDP_RATE}bit/s offered, {total['lost_percent']:.2f} % lost, jitter {total['jitter_ms']:.3f} ms"

    def weir_client(self, command, *words, seconds=60):
        """A second Weir host, alone on a link where Linux serves; returns what its command printed."""
        namespace, link = self.client_link
        return namespace.run(HOST, *link, *words, "--run", command, timeout=seconds)

    def start_servers(self):
        self.linux.start("dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--user=", "--group=", "--interface=weir1", "--bind-interfaces",
                         "--except-interface=lo", "--pid-file=", "--no-resolv", "--no-hosts", f"--dhcp-leasefile={LOGS / 'leases'}", "--dhcp-authoritative",
                         "--dhcp-range=10.78.0.50,10.78.0.99,1h", f"--dhcp-option=option:router,{CLIENT_LINUX}", f"--address=/{NAME}/{NAMED}",
                         f"--address=/{NAME}/{NAMED6}", f"--address=/{WEB}/{CLIENT_LINUX}", f"--address=/{WEB}/{SILENT6}",
                         f"--dhcp-range={CLIENT_PREFIX6}:100,{CLIENT_PREFIX6}:1ff,64,1h", "--dhcp-option=option6:dns-server",
                         "--log-facility=-", "--log-dhcp", "--log-queries", log=LOGS / "dnsmasq.log")
        (LOGS / "chrony.conf").write_text(f"local stratum 8\nallow\nbindaddress {CLIENT_LINUX}\nbindaddress {CLIENT_LINUX6}\ncmdport 0\npidfile {LOGS / 'chronyd.pid'}\n"
                                          "bindcmdaddress /\n")
        self.linux.start(shutil.which("chronyd", path=os.environ["PATH"] + ":/usr/sbin:/sbin"), "-d", "-x", "-u", "root", "-f", LOGS / "chrony.conf",
                         log=LOGS / "chronyd.log")
        (LOGS / "web").mkdir()
        (LOGS / "web/index.html").write_text("a page of Linux's\n")
        self.linux.start(sys.executable, "-m", "http.server", "--bind", CLIENT_LINUX, "--directory", LOGS / "web", WEB_PORT, log=LOGS / "web.log")
        until(lambda: f":{WEB_PORT} " in self.linux.run("ss", "-Hltn"), 60)
        until(lambda: ":53 " in (sockets := self.linux.run("ss", "-Huln")) and ":123 " in sockets and ":67 " in sockets, 60)

    def dhcp(self):
        text = self.weir_client("dhcp", "--dhcp")
        granted = re.search(r"DHCPACK\(weir1\) (\S+)", (LOGS / "dnsmasq.log").read_text())   # the client gave it back when it ended
        if granted is None or granted.group(1) not in text:
            raise Failed(f"dnsmasq granted {granted and granted.group(1)}; the client says:\n{text}")
        return f"{granted.group(1)} from dnsmasq, probed by ARP before use"

    def dhcp6(self):
        text = self.weir_client("dhcp6", "--ip6")
        address = re.search(rf"address +({CLIENT_PREFIX6}:1\w\w)\b", text)
        log = LOGS / "dnsmasq.log"
        if address is None or not re.search(rf"DHCPREPLY\(weir1\) {address.group(1)}", log.read_text()):
            raise Failed(f"the client says:\n{text}")
        if not until(lambda: "DHCPRELEASE(weir1)" in log.read_text(), 60):
            raise Failed("the client did not give its address back")
        return f"{address.group(1)} from dnsmasq, since the router says so; given back at the end"

    def resolve6(self):
        """With IPv6 alone: a router said where the name server is, which is asked over IPv6."""
        text = self.weir_client(f"resolve {NAME}", "--ip6")
        if f"{NAMED6} " not in text or f"{NAMED} " not in text:
            raise Failed(text)
        return f"{NAME} is {NAMED6} and {NAMED}; the server by RDNSS, asked over IPv6"

    def race(self):
        """The name's IPv6 address answers nothing: the other family is tried a quarter of a second later."""
        text = self.weir_client(f"get http://{WEB}:{WEB_PORT}/", "--ip6", "--dhcp")   # by the time of the lease there is IPv6, too
        if "a page of Linux's" not in text:
            raise Failed(text)
        return f"http://{WEB}/ by IPv4, though {SILENT6} is silent"

    def static(self):
        return ["--address", "10.78.0.3/24", "--gateway", CLIENT_LINUX, "--dns", CLIENT_LINUX]

    def resolve(self):
        text = self.weir_client(f"resolve {NAME}", *self.static())
        if NAMED not in text:
            raise Failed(text)
        return f"{NAME} is {NAMED}"

    def sntp(self):
        text = self.weir_client(f"sntp {CLIENT_LINUX6}", "--ip6") if ONLY6 else self.weir_client(f"sntp {CLIENT_LINUX}", *self.static())
        if not re.search(r"\d{4}|offset", text):
            raise Failed(text)
        return text.strip().split("\n")[-1]

    # --- all of it -------------------------------------------------------------------------------------------------------
    def step(self, title, function):
        try:
            print(f"  ok    {title:<34}{function()}", flush=True)
        except (Failed, RuntimeError, OSError, ValueError, KeyError, AttributeError, subprocess.SubprocessError) as error:
            self.failures += 1
            print(f"  FAIL  {title:<34}{str(error).strip() or type(error).__name__}", flush=True)

    def show(self):
        try:
            self.start_host()
        except (Failed, RuntimeError, OSError, subprocess.SubprocessError) as error:
            self.failures += 1
            print(f"  FAIL  {error}")
            return
        print(f"Weir {weir_version()}: a host at {'IPv6 alone' if ONLY6 else WEIR} ({' '.join(self.words)}), Linux at {LINUX6 if ONLY6 else LINUX}.\n", flush=True)
        if not ONLY6:
            self.step("ping", self.ping)
            self.step("curl, the status page", self.curl)
            self.step("iperf3 TCP, Linux to Weir", self.tcp_to_weir)
            self.step("iperf3 TCP, Weir to Linux", self.tcp_from_weir)
            self.step("iperf3 UDP, Linux to Weir", self.udp)
        self.step("an IPv6 address by itself", self.autoconfigured)
        if self.weir6:
            self.step("ping over IPv6", lambda: self.ping(self.weir6))
            self.step("curl over IPv6", lambda: self.curl(f"[{self.weir6}]"))
            self.step("iperf3 TCP over IPv6, to Weir", lambda: self.tcp_to_weir(self.weir6))
            self.step("iperf3 TCP over IPv6, from Weir", lambda: self.tcp_from_weir(self.weir6))
        self.start_servers()
        if not ONLY6:
            self.step("a DHCP lease from dnsmasq", self.dhcp)
            self.step("a name resolved by dnsmasq", self.resolve)
        self.step("a DHCPv6 address from dnsmasq", self.dhcp6)
        self.step("a name over IPv6", self.resolve6)
        if not ONLY6:
            self.step("a page by name, one family broken", self.race)
        self.step("the time from chrony", self.sntp)

    def stay(self):
        at = self.weir6 if ONLY6 else WEIR
        port = forward_door(at)
        own = "--user --preserve-credentials " if os.environ.get("WEIR_RUN_USER") else ""
        print(f"""
The host stays up until Ctrl-C.
  status page     http://127.0.0.1:{port}/
  from inside     {'sudo ' if not own else ''}nsenter {own}--net -t {os.getpid()} iperf3 -c {at}
                  (ping {at}, curl http://{f"[{at}]" if ONLY6 else at}/, nc {at} 7 …)
  logs            {LOGS.relative_to(ROOT)}/""", flush=True)
        self.host.wait()
        self.failures += 1
        print(f"the host ended by itself:\n{self.host.output()[-2000:]}")


def rate(total):
    return f"{total['bits_per_second'] / 1e9:.2f} Gbit/s" if total["bits_per_second"] >= 1e9 else f"{total['bits_per_second'] / 1e6:.0f} Mbit/s"


def main():
    global LOGS
    if os.geteuid() != 0:
        os.environ["WEIR_RUN_USER"] = "1"
    enter_private_network()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, signal.default_int_handler)   # also where a script started us with it ignored
    LOGS = claim(LOGS)
    start = time.monotonic()
    with Lab(LOGS) as lab:
        demonstration = Demonstration(lab)
        demonstration.show()
        print(f"\n{'every step worked' if not demonstration.failures else f'{demonstration.failures} failed; see {LOGS.relative_to(ROOT)}/'}"
              f" ({time.monotonic() - start:.0f} s)", flush=True)
        if "--once" not in sys.argv and not demonstration.failures:
            try:
                demonstration.stay()
            except KeyboardInterrupt:
                print()
    return 1 if demonstration.failures else 0


try:
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
