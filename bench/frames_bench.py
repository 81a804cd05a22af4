# SPDX-License-Identifier: BSD-2-Clause
"""The `xdp` part of host.json: frames of 64 bytes a second through drivers without a stack, AF_XDP beside AF_PACKET and TAP, and what
Linux alone receives. The other end is Linux's: it sends as fast as it can, or drops what arrives. Each kind in each round in turn.
    bench/frames_bench.py       prints the figures alone (as root; the programs: make -f bench/bench.mk build/bench/frames_bench)"""
import json
import os
import pathlib
import subprocess
import sys

import common

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from netns import Lab  # noqa: E402

PROGRAM = common.OUT / "frames_bench"
ROUNDS, MILLISECONDS, TAIL_MS = 7, 1000, 300
RECEIVERS, SENDERS = ("xdp", "packet", "tap", "kernel"), ("xdp", "packet", "tap")


class Site:
    """Linux's end of a cable and of a TAP; drivers sit at the other ends."""

    def __init__(self, lab):
        self.linux, self.there = lab.namespace("linux"), lab.namespace("weir")
        lab.veth(self.linux, "near", self.there, "far")
        if not lab.tap(self.linux, "tap0"):
            raise common.Failed("this machine permits no TAP")
        for namespace in (self.linux, self.there):
            namespace.run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1", check=False)

    def place(self, kind):
        """Where the driver sits, its interface, and Linux's end of it."""
        return (self.linux, "tap0", "tap0") if kind == "tap" else (self.there, "far", "near")

    def start(self, namespace, *words):
        process = namespace.popen(PROGRAM, *words, stdout=subprocess.PIPE, text=True)
        if process.stdout.readline() != "ready\n":
            raise common.Failed(f"{common.shown([PROGRAM, *words])} did not begin")
        return process

    def receive(self, kind):
        where, ifname, far = self.place(kind)
        receiver = self.start(where, "receive", kind, ifname, MILLISECONDS)
        sender = self.start(self.linux, "generate", far, MILLISECONDS + TAIL_MS)
        return [json.loads(process.communicate(timeout=60)[0]) for process in (receiver, sender)]

    def send(self, kind):
        where, ifname, _ = self.place(kind)
        return json.loads(self.start(where, "send", kind, ifname, MILLISECONDS).communicate(timeout=60)[0])


def figures(said):
    return said["count"] / said["ns"] * 1e9, said["cpu_ns"] / max(said["count"], 1)


def measure():
    """The figures, or None where there is no right to measure them."""
    if os.geteuid() != 0:
        return None
    progress = common.Progress("xdp", ROUNDS * (len(RECEIVERS) + len(SENDERS)))
    rates, costs = {}, {}
    with Lab() as lab:
        site = Site(lab)
        for number in range(ROUNDS):
            for kind in RECEIVERS:
                progress.step(f"round {number + 1} of {ROUNDS}: receive")
                own, other = site.receive(kind)
                rate, cost = figures(own)
                rates.setdefault(f"receive_{kind}", []).append(round(rate))
                costs.setdefault(f"receive_{kind}", []).append(round(cost))
                # veth runs the receiver's part of Linux in the sender's call, a TAP queues: only both together compare.
                costs.setdefault(f"receive_{kind}_both", []).append(round(cost + figures(other)[1] * other["count"] / max(own["count"], 1)))
            for kind in SENDERS:
                progress.step(f"round {number + 1} of {ROUNDS}: send")
                rate, cost = figures(site.send(kind))
                rates.setdefault(f"send_{kind}", []).append(round(rate))
                costs.setdefault(f"send_{kind}", []).append(round(cost))
    return summary(rates, costs)


def paired(values, one, other):
    """The median of the ratios of two measured one after the other, in each round."""
    return round(common.median([a / max(b, 1) for a, b in zip(values[one], values[other])]), 2)


def summary(rates, costs):
    return {
        "receive_to_packet": paired(rates, "receive_xdp", "receive_packet"),
        "receive_to_tap": paired(rates, "receive_xdp", "receive_tap"),
        "receive_to_kernel": paired(rates, "receive_xdp", "receive_kernel"),
        "send_to_packet": paired(rates, "send_xdp", "send_packet"),
        "send_to_tap": paired(rates, "send_xdp", "send_tap"),
        "frames_per_second": {name: round(common.median(values)) for name, values in rates.items()},
        "cpu_ns_per_frame": {name: round(common.median(values)) for name, values in costs.items()},
        "all": {"frames_per_second": rates, "cpu_ns_per_frame": costs},
        "note": "frames of 64 bytes; …_to_…: medians of ratios within a round; cpu_ns_per_frame: of the driver's process, …_both: and of "
                "Linux's sender, whose call does a part of the receiving over veth; one sender, so rates received are bounded by its",
        "command": "bench/frames_bench.py",
    }


if __name__ == "__main__":
    try:
        print(json.dumps(measure(), indent=2))
    except common.Failed as failure:
        sys.exit(f"bench: {failure}")
