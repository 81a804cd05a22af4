#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make peers: each stack at one end of the same emulated link, Linux at the other, as the sender and as the receiver. Writes
build/peers/peers.json, plots and index.html; docs/peers.md says what is compared and how.

usage: bench/peers/run.py [--seeds N] [--seconds S] [CELL…]     cells whose names contain one of the words (--list: names them)
A result is a file under build/peers/runs, Weir's of its commit, and kept: what was interrupted goes on. Exit status 1 when nothing could be measured."""
import argparse
import dataclasses
import json
import os
import pathlib
import random
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]
import common  # noqa: E402
import peers_page  # noqa: E402
from netns import Lab, until  # noqa: E402

OUT, BENCH, HOST = ROOT / "build/peers", ROOT / "build/bench", ROOT / "build/host"
STACK, LINUX = "10.88.0.1", "10.88.0.2"
BUFFER = 4 << 20   # bytes each way, of every stack: more than any path of the grid holds, so that congestion control decides
PATH_BUFFER = 500_000   # what a path of 100 Mbit/s and 20 ms holds, and its queue: nothing to overflow it with
OFFLOADS = ("tx", "rx", "tso", "gso", "gro")
LINUX_PEER = [BENCH / "linux_peer", "--cc", "cubic"]
STACKS = {   # name: its program on the interface, with buffers of so many bytes
    "weir": lambda name, size: [HOST / "weir-host", "--packet", name, "--no-offload", "--address", f"{STACK}/24", "--send-buffer", size,
                                "--receive-buffer", size],
    "linux": lambda name, size: [*LINUX_PEER, "serve"],   # by its sysctls
    "gvisor": lambda name, size: [BENCH / "gvisor-host", name, STACK, size],
    "lwip": lambda name, size: [BENCH / f"lwip_peers_{size}", f"packet:{name}", STACK],   # fixed when it is compiled
    "smoltcp": lambda name, size: [BENCH / "smoltcp-peers", "packet", size, name, STACK],
}
OBJECT, OBJECTS = 100_000, 15
PROGRAMS = {   # what bench.mk has to make for each
    "linux": ["linux_peer"], "gvisor": ["gvisor-host"], "lwip": [f"lwip_peers_{size}" for size in (BUFFER, PATH_BUFFER)], "smoltcp": ["smoltcp-peers"],
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A link and what is done over it: `sender` and `receiver` say what the stack is, `object` fetches small objects from it."""
    what: str
    rate: float            # Mbit/s of layer 2
    rtt: float             # ms
    loss: float = 0        # percent of the frames with data, behind the queue
    bdp: float = 1         # the queue, in products of rate and round trip time
    burst: float = 0       # percent of the frames that begin a burst of losses, four long in the mean
    reorder: float = 0     # percent of the frames, which come 3 ms later
    buffer: int = BUFFER   # bytes

    @property
    def name(self):
        more = "".join(f", {word} {value:g} %" for word, value in (("loss", self.loss), ("burst", self.burst), ("reorder", self.reorder)) if value)
        return f"{self.what}, {self.rate:g} Mbit/s, {self.rtt:g} ms{more}" + (f", queue {self.bdp:g} BDP" if self.bdp != 1 else "") + \
            (f", buffers {self.buffer // 1000} KB" if self.buffer != BUFFER else "")

    def words(self, seed):
        """Of weir-link. Its queue holds ten frames at least; a lost SYN, of whoever calls, would cost a second and say nothing of the stack."""
        queue = max(int(self.rate * 1e6 / 8 * self.rtt / 1e3 * self.bdp), 15140)
        given = {"rate": self.rate, "delay": self.rtt / 2, "queue": queue, "seed": seed, "loss": self.loss, "burst": self.burst, "reorder": self.reorder,
                 "spare_handshake": 1}
        return [word for name, value in given.items() if value for word in (f"--{name}", str(value))]


CELLS = [
    *(Cell("sender", 100, 20, loss) for loss in (0, 0.1, 1, 3, 5, 10)),
    *(Cell("sender", 10, 20, loss) for loss in (0, 1, 5)),
    Cell("sender", 100, 2, 1), Cell("sender", 100, 100, 0.1),
    Cell("sender", 10, 20, bdp=0.25), Cell("sender", 10, 20, bdp=4),
    Cell("sender", 100, 20, buffer=PATH_BUFFER), Cell("sender", 100, 20, 0.1, buffer=PATH_BUFFER),
    Cell("sender", 100, 20, burst=0.25), Cell("sender", 100, 20, reorder=1),
    *(Cell("receiver", 100, 20, loss) for loss in (0, 1, 5)),
    *(Cell("object", 10, 20, loss) for loss in (0, 1, 5)),
]


class Network:
    """The link between two namespaces; frames with data go from `a` to `b`."""

    def __init__(self, lab, cell, seed):
        self.lab, self.trace = lab, lab.folder / "frames"
        middle, self.a, self.b = (lab.namespace(name) for name in ("link", "a", "b"))
        self.link = middle.start(HOST / "weir-link", "lab0", "lab1", *cell.words(seed), "--frames", self.trace)
        if not until(lambda: self.link.output().startswith("ready") or self.link.poll() is not None, 30) or self.link.poll() is not None:
            raise common.Failed(f"weir-link: {self.link.output().strip()}")
        for tap, namespace in (("lab0", self.a), ("lab1", self.b)):
            middle.run("ip", "link", "set", tap, "netns", namespace.pid)
            namespace.run("sysctl", "-qw", f"net.ipv6.conf.{tap}.disable_ipv6=1", check=False)
            namespace.run("ip", "link", "set", tap, "up", "txqueuelen", 10000)   # the queue that counts is the link's

    def linux(self, namespace, tap, address, buffer=4 * BUFFER):
        namespace.address(tap, f"{address}/24")
        for offload in OFFLOADS:   # a loss is to be one segment's
            namespace.run("ethtool", "-K", tap, offload, "off", check=False)
        for setting in ("net.ipv4.tcp_no_metrics_save=1", f"net.ipv4.tcp_rmem=4096 131072 {buffer}", f"net.ipv4.tcp_wmem=4096 65536 {buffer}"):
            namespace.run("sysctl", "-qw", setting)

    def stop(self):
        """Ends the link and tells of the frames with data: (entered, of these sent before)."""
        self.link.stop(30)
        return frames_with_data(self.trace.read_text())


def frames_with_data(trace):
    """Of weir-link's --frames: those that entered from the sender, and how many of them brought nothing newer than what had been sent."""
    sent, again, newest = 0, 0, {}
    for line in trace.splitlines():
        _, end, what, here, there, seq, length, _ = line.split(",")
        if (end, what) != ("0", "in") or length == "0":
            continue
        flow, last = (here, there), (int(seq) + int(length)) % 2**32
        old = flow in newest and (newest[flow] - last) % 2**32 < 2**31
        sent, again = sent + 1, again + old
        if not old:
            newest[flow] = last
    return sent, again


def until_up(network, client, address, process):
    """Until the stack answers: connections to its discard service, out of the count, as they bring no data."""
    def answers():
        probe = client.enter() + [str(BENCH / "linux_peer"), "sink", address, "0"]
        return process.poll() is not None or subprocess.run(probe, capture_output=True).returncode == 0
    if not until(answers, 60) or process.poll() is not None:
        raise common.Failed(f"the stack does not answer: {process.output().strip()[-300:]}")


def measure(cell, stack, seed, seconds):
    with Lab(OUT / f"labs/{os.getpid()}") as lab:
        network = Network(lab, cell, seed)
        (where, tap), (other, other_tap) = ((network.b, "lab1"), (network.a, "lab0"))[::1 if cell.what == "receiver" else -1]
        network.linux(other, other_tap, LINUX)
        if stack == "linux":
            network.linux(where, tap, STACK, 4 * cell.buffer)   # Linux counts what holds the bytes, too: up to four times as much
        else:
            where.run("ip", "link", "set", tap, "arp", "off")   # the stack answers there, Linux has no address
        process = where.start(*STACKS[stack](tap, cell.buffer))
        until_up(network, other, STACK, process)

        def client(test, most):
            return json.loads(other.run(*LINUX_PEER, test, STACK, most, timeout=300))
        before = cpu_ns(process)
        if cell.what == "object":
            times = [client("object", OBJECT)["ns"] / 1e6 for _ in range(OBJECTS)]
            result, count = {"ms": [round(ms, 2) for ms in times]}, OBJECT * OBJECTS
        else:
            said = client("source" if cell.what == "sender" else "sink", int(seconds * 1000))
            count = said["count"]
            result = {"mbit": round(count * 8e3 / said["ns"], 3)}
        cpu = cpu_ns(process) - before
        process.stop()
        sent, again = network.stop()
        return {**result, "cpu_ns_per_kb": round(cpu / max(count, 1) * 1000), "frames": sent, "again": again}


def cpu_ns(process):
    return int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[0])


def run_all(cells, seeds, seconds, tree):
    runs = [(cell, stack, seed) for seed in range(1, seeds + 1) for cell in cells for stack in STACKS]
    order = random.Random(1)   # of the stacks, in each cell anew
    runs = [run for at in range(0, len(runs), len(STACKS)) for run in order.sample(runs[at:at + len(STACKS)], len(STACKS))]
    progress = common.Progress("peers", len(runs))
    found = {}
    for cell, stack, seed in runs:
        progress.step(cell.name)
        who = f"{stack} {tree}" if stack == "weir" else stack
        kept = OUT / "runs" / f"{cell.name} {who} {seed} {seconds:g}".replace(" ", "_").replace("/", "")
        if not kept.exists():
            try:
                result = measure(cell, stack, seed, seconds)
            except (common.Failed, RuntimeError, subprocess.TimeoutExpired, json.JSONDecodeError) as failure:   # a stall is a result
                result = {"failed": str(failure)[-300:]}
            kept.write_text(json.dumps(result))
        found.setdefault(cell.name, {}).setdefault(stack, []).append(json.loads(kept.read_text()))
    return found


def build():
    """Makes the stacks' programs. Those that cannot be had here are left out; why, by name."""
    absent = {}
    for stack, programs in PROGRAMS.items():
        command = ["make", "--no-print-directory", "-f", "bench/bench.mk", *(f"build/bench/{program}" for program in programs)]
        done = subprocess.run(command, cwd=ROOT, env=common.environment(), capture_output=True, text=True)
        if done.returncode:
            absent[stack] = (done.stderr or done.stdout).strip()[-300:]
            print(f"peers: without {stack}: {absent[stack]}", file=sys.stderr)
            del STACKS[stack]
    if "linux" in absent:
        raise common.Failed("nothing without Linux's end")
    return absent


def versions():
    machine = common.machine()
    gvisor = next(line.split()[-1] for line in (ROOT / "bench/peers/gvisor/go.mod").read_text().splitlines() if "gvisor.dev/gvisor v" in line)
    return {"linux": machine["kernel"], "lwip": machine["lwip"], "smoltcp": machine["smoltcp"], "gvisor": gvisor,
            "weir": subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip() or "this tree"}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("words", nargs="*")
    given = parser.parse_args()
    cells = [cell for cell in CELLS if not given.words or any(word in cell.name for word in given.words)]
    if given.list:
        print("\n".join(cell.name for cell in cells))
        return 0
    if os.geteuid() != 0:
        sys.exit("peers: needs root: TAP devices and network namespaces")
    (OUT / "runs").mkdir(parents=True, exist_ok=True)
    os.setpriority(os.PRIO_PROCESS, 0, -20)   # so that what else the machine does hardly shows
    absent = build()
    load, began = common.load(), time.time()
    built = versions()
    found = run_all(cells, given.seeds, given.seconds, built["weir"])
    result = {"cells": found, "absent": absent, "versions": built, "seeds": given.seeds, "seconds": given.seconds, "load": [load, common.load()],
              "took_s": round(time.time() - began), "machine": common.machine()}
    (OUT / "peers.json").write_text(json.dumps(result, indent=1) + "\n")
    peers_page.write(result, OUT)
    print(f"build/peers/index.html, {result['took_s']} s")
    return 0 if found else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except common.Failed as failure:
        sys.exit(f"peers: {failure}")
