#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The `million` part of host.json: very many connections from Linux to one instance of Weir (full profile, both families), over a TAP and,
by AF_XDP, over a veth pair: opened from many addresses, idle, each sending a byte that comes back, closed. Linux as the server beside it.
    bench/million_bench.py [--count N] [LINK…]    prints the figures alone (as root; the programs: make -f bench/bench.mk host);
                                                  LINK: tap, tap6, xdp, linux; without --count: as many as memory lets, a million at the most"""
import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys

import common

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from netns import Lab, until  # noqa: E402

SERVER, LINUX = common.OUT / "million_server", common.OUT / "million_linux"
MILLION, STEP = 1_000_000, 100_000   # STEP: as million_server.c has it
WINDOW = 400            # connections busy at once: the TAP's queue holds 1,000 frames
CLIENT_BYTES = 6_000    # what Linux needs for its end of a connection, descriptor and all
SPARE_BYTES = 3 << 30   # of the machine's memory, left to others
REST_S = 4              # a connection lets its queues go after a second of rest
LINKS = {   # name: where Weir sits, its words, addresses of both ends, the first of the clients', one that probes
    "tap": ("tap", "10.80.0.2", "10.80.0.1", 24, ("10.81.0.1", "10.81.255.1"), "10.81.0.0/16"),
    "tap6": ("tap", "fd80::2", "fd80::1", 64, ("fd81::1", "fd81::ffff:1"), "fd81::/64"),
    "xdp": ("xdp", "10.80.0.2", "10.80.0.1", 24, ("10.81.0.1", "10.81.255.1"), "10.81.0.0/16"),
    "linux": ("linux", "10.80.0.2", "10.80.0.1", 24, ("10.81.0.1", "10.81.255.1"), "10.81.0.0/16"),
}


def meminfo(field):
    return next(int(line.split()[1]) * 1024 for line in pathlib.Path("/proc/meminfo").read_text().splitlines() if line.startswith(field + ":"))


def most():
    """Connections that the machine has memory for."""
    return min(MILLION, (meminfo("MemAvailable") - SPARE_BYTES) // (CLIENT_BYTES + 500))


class Site:
    """A server in one place and Linux's client in another (over a TAP: both in one)."""

    def __init__(self, lab, link, count):
        kind, self.server_address, near, bits, (self.first, probe), clients = LINKS[link]
        self.link, self.kind = link, kind
        self.near = self.far = lab.namespace("clients")
        if kind == "tap":
            if not lab.tap(self.near, "near"):
                raise common.Failed("this machine permits no TAP")
        else:
            self.far = lab.namespace("server")
            lab.veth(self.near, "near", self.far, "far")
            self.near.run("ethtool", "-K", "near", "tx", "off")   # AF_XDP is told nothing of checksums
            if kind == "linux":
                self.far.address("far", f"{self.server_address}/{bits}")
                self.far.run("ip", "route", "add", "default", "via", near)
        for setting in ("net.ipv4.tcp_max_tw_buckets=16", "net.ipv4.ip_local_port_range=1024 65535", "net.ipv4.tcp_max_syn_backlog=4096",
                        "net.core.somaxconn=4096"):
            self.near.run("sysctl", "-qw", setting)
            self.far.run("sysctl", "-qw", setting)
        self.near.run("sysctl", "-qw", "net.ipv6.ip_nonlocal_bind=1", check=False)   # IPv6 lets nobody bind to a prefix that is local as a whole
        six = ["-6"] if ":" in near else []
        self.near.run("ip", *six, "address", "add", f"{near}/{bits}", "dev", "near", *(["nodad"] if six else []))
        self.near.up("near")
        self.near.run("ip", *six, "route", "add", "local", clients, "dev", "lo")
        words = [LINUX, "serve", count + 100] if kind == "linux" else [SERVER, kind, "near" if kind == "tap" else "far", f"{self.server_address}/{bits}", near]
        self.server = self.far.popen(*words, stdout=subprocess.PIPE, text=True)
        if self.server.stdout.readline() != "ready\n":
            raise common.Failed(f"{common.shown(words)} did not begin")
        if not until(lambda: subprocess.run(self.client(probe, 1), input="\n\n", capture_output=True, text=True).returncode == 0, 30):
            raise common.Failed(f"{link}: the server does not answer")

    def client(self, first, count):
        return self.near.enter() + [str(word) for word in (LINUX, "open", self.server_address, first, count, WINDOW)]

    def memory(self):
        """Bytes of the server, by the system's count, and of all that the kernel holds."""
        fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{self.server.pid}/status").read_text().splitlines() if ":" in line)
        return int(fields["VmRSS"].split()[0]) * 1024, meminfo("Slab")

    def tell(self):
        """What the server says of itself; Linux says nothing."""
        if self.kind == "linux":
            return {}
        self.server.send_signal(signal.SIGUSR1)
        return json.loads(self.server.stdout.readline())

    def rest(self, said=None):
        """Until the server holds no more than before for REST_S."""
        if self.kind == "linux":
            return
        last = [0, None]

        def quiet():
            held = self.tell()["held_bytes"]
            last[0] = last[0] + 1 if held == last[1] else 0
            last[1] = held
            return last[0] > REST_S
        if not until(quiet, 120, 1):
            raise common.Failed(f"{self.link}: the server's memory does not come to rest")


def measure_one(lab, link, count):
    site = Site(lab, link, count)
    result = {"connections": count}
    site.rest()
    before, told = site.memory(), site.tell()
    client = site.near.popen(LINUX, "open", site.server_address, site.first, count, WINDOW, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    states = {}
    for stage in ("open", "send", "close"):
        line = client.stdout.readline()
        if not line:
            raise common.Failed(f"{link}: the client ended with exit status {client.wait()}")
        result[stage] = json.loads(line)["ns"]
        busy = site.memory()
        site.rest()
        states[stage] = (site.memory(), site.tell(), busy)
        if stage != "close":
            client.stdin.write("\n")
            client.stdin.flush()
    client.stdin.close()
    if client.wait(120):
        raise common.Failed(f"{link}: the client ended with exit status {client.returncode}")
    site.rest()
    result["rss_after_close"] = site.memory()[0] - before[0]
    return {**result, **figures(count, before, told, states)}


def figures(count, before, told, states):
    """Of both ends: memory by the connection, in bytes; of Weir: what its calls took."""
    idle, sent = states["open"], states["send"]
    result = {"rss_each": round((idle[0][0] - before[0]) / count, 1), "slab_each": round((idle[0][1] - before[1]) / count),
              "rss_each_after_sending": round((sent[0][0] - before[0]) / count, 1), "rss_each_while_sending": round((sent[2][0] - before[0]) / count, 1)}
    if told:
        at, last = idle[1]["stack_ns_at"], idle[1]["stack_ns"]
        steps = [b - a for a, b in zip(at, at[1:] + [last])][:count // STEP]
        result.update({"held_each": round((idle[1]["held_bytes"] - told["held_bytes"]) / count, 1),
                       "held_each_after_sending": round((sent[1]["held_bytes"] - told["held_bytes"]) / count, 1),
                       "stack_ns_of_open": [round(ns / STEP) for ns in steps], "cookies": idle[1]["cookies"],
                       "open_ns": round((last - told["stack_ns"]) / count), "send_ns": round((sent[1]["stack_ns"] - last) / count),
                       "close_ns": round((states["close"][1]["stack_ns"] - sent[1]["stack_ns"]) / count), "called": states["close"][1]["called"]})
        if len(steps) > 1:
            result["growth"] = round(steps[-1] / steps[0], 2)
    return result


def measure(links=("tap", "xdp"), count=None):
    """The figures, or None where there is no right to measure them."""
    if os.geteuid() != 0:
        return None
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)   # so that what else the machine does shows less
    except PermissionError:
        pass
    progress = common.Progress("million", len(links))
    result = {"note": "…_each: bytes for a connection; rss: the server's process; held: by the allocator's count; slab: of the kernel, both ends' sockets; stack_ns: "
                      "the thread's own time in the stack's calls, for a connection, of each 100,000; open, send, close: by the clock, ns of each tenth",
              "command": "bench/million_bench.py"}
    for link in links:
        number = count or most()
        progress.step(f"{number} over {link}")
        before = common.load()
        with Lab() as lab:
            result[link] = {**measure_one(lab, link, number), "load": [before, common.load()]}
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--count", type=int)
    parser.add_argument("links", nargs="*")
    given = parser.parse_args()
    if set(given.links) - set(LINKS):
        sys.exit(f"bench: there are the links {', '.join(LINKS)}")
    try:
        print(json.dumps(measure(given.links or ("tap", "xdp"), given.count), indent=2))
    except common.Failed as failure:
        sys.exit(f"bench: {failure}")
