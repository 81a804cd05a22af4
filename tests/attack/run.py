#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make attack: a Weir host that serves HTTP on a TAP in a private network namespace, an honest client of Linux's beside
it, and attackers (attacks.py): floods (hping3), a scan (nmap), slow clients (slowhttptest), connections with a window
of zero, ARP storms, scapy's fuzz(), mutated frames, and over IPv6 what thc-ipv6 makes. For each: the honest client's
goodput, its new connections, and the host's memory, before, during and after. build/attack/attack.md and .json.

usage: tests/attack/run.py [--seconds N] [ATTACK …]    exit status 1 when a limit is not held (LIMITS)"""
import argparse
import json
import pathlib
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from attack.attacks import ATTACKS, LINK, LINUX, ON_PATH, PORT, PREFIX, WEIR, family  # noqa: E402
from netns import ROOT, Lab, until  # noqa: E402

CALM_S, REST_S = 3, 4   # before an attack, and again after it; after it until what follows counts
QUEUE = 4096   # frames that wait for the host, as in an Ethernet card; a TAP's are 1,000, gone while others have the cores
LIMITS = {"goodput": 0.5, "memory_mb": 64}   # of before; more than before, after. And: no connection fails


class Honest:
    """The client's lines, as they come."""

    def __init__(self, namespace, family):
        self.family, self.process = family, namespace.start(sys.executable, HERE / "honest.py", WEIR[family], PORT)
        time.sleep(2)   # until its download runs

    def span(self, host, seconds):
        """What happened in so many seconds from now on."""
        begin, most = time.monotonic(), 0.0
        while time.monotonic() < begin + seconds:
            most = max(most, host.memory_kb() / 1024)
            time.sleep(0.1)
        end = time.monotonic()
        lines = [json.loads(line) for line in self.process.output().splitlines() if line.endswith("}")]
        inside = [line for line in lines if begin <= line["time"] <= end]
        if len(inside) < 2:
            return {"mbit": 0.0, "broken": 0, "connects": 0, "failed": 0, "slowest_s": 0.0, "memory_mb": most}
        connects = [took for line in inside[1:] for took in line["connects"]]
        good = [took for took in connects if took is not None]
        bytes_, time_ = inside[-1]["bytes"] - inside[0]["bytes"], inside[-1]["time"] - inside[0]["time"]
        broken = inside[-1]["broken"] - inside[0]["broken"]
        return {"mbit": bytes_ * 8e-6 / time_, "broken": broken, "connects": len(good),
                "failed": len(connects) - len(good), "slowest_s": max(good, default=0.0), "memory_mb": most}


class Attack:
    """What is started, again and again, until it is stopped."""

    def __init__(self, namespace, command):
        self.namespace, self.command, self.over = namespace, command, threading.Event()
        self.process = namespace.start(*command)

    def keep_on(self):
        if not self.over.is_set() and self.process.poll() is not None:
            self.process = self.namespace.start(*self.command)

    def stop(self):
        self.over.set()
        self.process.stop(2)


def frames(namespace):
    """Sent to the host, and of these lost in the interface's queue."""
    out = json.loads(namespace.run("ip", "-s", "-j", "link", "show", "dev", LINK))[0]["stats64"]["tx"]
    return out["packets"], out["dropped"]


def attackers_line(linux, mbit):
    """What does not come from the honest client's addresses goes by a line of its own, as slow as such an Ethernet."""
    def tc(words):
        linux.run("tc", *words.format(dev=LINK, mbit=mbit).split())
    tc("qdisc replace dev {dev} root handle 1: htb default 2")
    tc("class add dev {dev} parent 1: classid 1:1 htb rate 10gbit burst 1mb cburst 1mb prio 0")
    tc("class add dev {dev} parent 1: classid 1:2 htb rate {mbit}mbit overhead 24 mpu 84 prio 1")
    tc(f"filter add dev {{dev}} parent 1: protocol ip u32 match ip src {LINUX[4]}/32 flowid 1:1")
    tc(f"filter add dev {{dev}} parent 1: protocol ipv6 u32 match ip6 src {LINUX[6]}/128 flowid 1:1")
    high, low = (bytes(map(int, LINUX[4].split("."))).hex()[at:at + 4] for at in (0, 4))
    tc(f"filter add dev {{dev}} parent 1: protocol arp u32 match u16 0x{high} 0xffff at 14 "
       f"match u16 0x{low} 0xffff at 16 flowid 1:1")


def attack(linux, host, honest, name, seconds, calm_s=CALM_S, rest_s=REST_S):
    began, _ = frames(linux)
    before = honest.span(host, calm_s)
    sent, lost = frames(linux)
    calm_frames_s = (sent - began) / calm_s   # the honest client's own
    attacker = Attack(linux, ATTACKS[name][1])
    time.sleep(0.5)   # for it to begin
    parts = []
    for _ in range(seconds):
        parts.append(honest.span(host, 1))
        attacker.keep_on()
    sent, lost = (now - then for now, then in zip(frames(linux), (sent, lost)))
    attacker.stop()
    time.sleep(rest_s)
    after = honest.span(host, calm_s)
    during = {key: sum(part[key] for part in parts) for key in ("mbit", "broken", "connects", "failed")}
    during |= {key: max(part[key] for part in parts) for key in ("slowest_s", "memory_mb")}
    during["mbit"] /= seconds
    took = seconds + 0.5
    return {"before": before, "during": during, "after": after, "frames_s": max(0, sent / took - calm_frames_s),
            "lost_s": lost / took}


def verdict(name, result):
    faults = []
    before, during, after = result["before"], result["during"], result["after"]
    if name not in ON_PATH and during["mbit"] < LIMITS["goodput"] * before["mbit"]:
        faults.append(f"goodput {during['mbit'] / max(before['mbit'], 0.001):.0%}")
    if after["failed"] or (during["failed"] and name not in ON_PATH):
        faults.append(f"{during['failed']} connections failed, {after['failed']} after it")
    if after["memory_mb"] > before["memory_mb"] + LIMITS["memory_mb"]:
        faults.append(f"{after['memory_mb'] - before['memory_mb']:.0f} MB not given back")
    return ", ".join(faults)


def table(results):
    rows = ["| attack | its frames/s (lost before the host) | goodput, Mbit/s: before / during / after | "
            "connections: ok / failed, slowest | MB: before / during / after |", "| --- | --- | --- | --- | --- |"]
    for name, r in results.items():
        three = [r[when] for when in ("before", "during", "after")]
        goodput = " / ".join(f"{part['mbit']:,.0f}" for part in three)
        memory = " / ".join(f"{part['memory_mb']:.1f}" for part in three)
        d = r["during"]
        rows.append(f"| {ATTACKS[name][0]} | {r['frames_s']:,.0f} ({r['lost_s']:,.0f}) | {goodput} | "
                    f"{d['connects']} / {d['failed']}, {d['slowest_s']:.2f} s | {memory} |")
    return "\n".join(rows) + "\n"


def say(name, result, faults):
    before, during = result["before"], result["during"]
    print(f"{' BAD' if faults else '  ok'} {name:13} {result['frames_s']:9,.0f} frames/s, goodput "
          f"{before['mbit']:6,.0f} -> {during['mbit']:6,.0f} Mbit/s, "
          f"connections {during['connects']} ok, {during['failed']} failed, "
          f"slowest {during['slowest_s']:.2f} s, {during['memory_mb']:.1f} MB   {faults}", flush=True)


def campaign(folder, names, seconds, line, calm_s=CALM_S, rest_s=REST_S):
    """Runs these attacks one after the other; yields each one's name, its result and what is wrong with it. The host's
    end is a fault of the last one."""
    with Lab(folder) as lab:
        linux = lab.namespace("linux")
        if not lab.tap(linux, LINK):
            raise PermissionError("no right to make a TAP")
        linux.run("ip", "link", "set", LINK, "txqueuelen", QUEUE)
        linux.run("sysctl", "-qw", f"net.ipv6.conf.{LINK}.accept_dad=0", f"net.ipv6.conf.{LINK}.accept_ra=0")
        linux.address(LINK, *(f"{LINUX[family]}/{PREFIX[family]}" for family in LINUX))
        if line:
            attackers_line(linux, line)
        host = linux.start(ROOT / "build/host/weir-host", "--tap", LINK, "--address", f"{WEIR[4]}/{PREFIX[4]}",
                           "--gateway", LINUX[4], "--address6", f"{WEIR[6]}/{PREFIX[6]}", "--gateway6", LINUX[6],
                           "--http", PORT)
        assert until(lambda: "up on" in host.output() or host.poll() is not None, 60), host.output()
        honest = None
        for name in names:
            if honest is None or honest.family != family(name):
                if honest:
                    honest.process.stop()
                honest = Honest(linux, family(name))
            result = attack(linux, host, honest, name, seconds, calm_s, rest_s)
            faults = verdict(name, result)
            ended = host.poll() is not None
            if name == names[-1] and not ended:
                honest.process.stop()
                ended = host.stop() != 0
            yield name, result, f"the host ended: {host.output()}" if ended else faults
            if ended:
                return


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=8, help="of each attack")
    parser.add_argument("--line", type=int, default=100, help="Mbit/s of the Ethernet by which attackers come who have "
                        "other addresses than the honest client; 0: as fast as this machine makes frames, and the "
                        "queue before the host loses the honest client's as well")
    parser.add_argument("attack", nargs="*", help=", ".join(ATTACKS))
    options = parser.parse_args()
    unknown = set(options.attack) - set(ATTACKS)
    if unknown:
        parser.error(f"there is no attack {', '.join(sorted(unknown))}; there are {', '.join(ATTACKS)}")
    folder = ROOT / "build/attack"
    folder.mkdir(parents=True, exist_ok=True)
    results, bad = {}, False
    try:
        for name, result, faults in campaign(folder, options.attack or list(ATTACKS), options.seconds, options.line):
            results[name] = result
            bad |= bool(faults)
            say(name, result, faults)
    except PermissionError as error:
        sys.exit(str(error))
    (folder / "attack.md").write_text(table(results))
    (folder / "attack.json").write_text(json.dumps(results, indent=1) + "\n")
    print(table(results))
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
