#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make peers: each stack at one end of the same emulated link, Linux at the other, as the sender and as the receiver; each stack at both ends; and
what idle connections hold. Writes
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
CLIENTS = {   # the same at the other end, as one that takes bytes from chargen for so many milliseconds
    "weir": lambda name, size, most: [HOST / "weir-run", "--af-packet", name, "--no-offload", "--address", f"{LINUX}/24", *LINUX_PEER, "source", STACK, most],
    "linux": lambda name, size, most: [*LINUX_PEER, "source", STACK, most],
    "gvisor": lambda name, size, most: [BENCH / "gvisor-host", name, LINUX, size, "source", STACK, most],
    "lwip": lambda name, size, most: [BENCH / f"lwip_peers_{size}", f"packet:{name}", LINUX, "source", STACK, most],
    "smoltcp": lambda name, size, most: [BENCH / "smoltcp-peers", "packet", size, name, LINUX, "source", STACK, most],
}
# Connections whose memory is measured. Every socket of smoltcp's has its buffers from the beginning, and each turn looks at all of them.
IDLE = {"smoltcp": 1000}
IDLE_MOST, IDLE_WINDOW, IDLE_BUFFER = 10_000, 50, 65_536
REST_S = 3
PROGRAMS = {   # what bench.mk has to make for each
    "linux": ["linux_peer", "million_linux"], "gvisor": ["gvisor-host"], "lwip": [f"lwip_peers_{size}" for size in (BUFFER, PATH_BUFFER)], "smoltcp": ["smoltcp-peers"],
}


@dataclasses.dataclass(frozen=True)
class Cell:
    """A link and what is done over it: `sender` and `receiver` say what the stack is, `self` is it at both ends, `object` fetches small objects from
    it. `memory` has no such link: it is of idle connections."""
    what: str
    rate: float            # Mbit/s of layer 2
    rtt: float             # ms
    loss: float = 0        # percent of the frames with data, behind the queue
    bdp: float = 1         # the queue, in products of rate and round trip time
    burst: float = 0       # percent of the frames that begin a burst of losses, four long in the mean
    reorder: float = 0     # percent of the frames, which come 3 ms later
    police: float = 0      # Mbit/s that a policer lets pass before the queue, and 50,000 bytes at once; 0: there is none
    buffer: int = BUFFER   # bytes

    @property
    def name(self):
        if self.what == "memory":
            return "memory, idle connections"
        more = "".join(f", {word} {value:g} %" for word, value in (("loss", self.loss), ("burst", self.burst), ("reorder", self.reorder)) if value)
        return f"{self.what}, {self.rate:g} Mbit/s, {self.rtt:g} ms{more}" + (f", policer {self.police:g} Mbit/s" if self.police else "") + (f", queue {self.bdp:g} BDP" if self.bdp != 1 else "") + \
            (f", buffers {self.buffer // 1000} KB" if self.buffer != BUFFER else "")

    def words(self, seed):
        """Of weir-link. Its queue holds ten frames at least; a lost SYN, of whoever calls, would cost a second and say nothing of the stack."""
        queue = max(int(self.rate * 1e6 / 8 * self.rtt / 1e3 * self.bdp), 15140)
        given = {"rate": self.rate, "delay": self.rtt / 2, "queue": queue, "seed": seed, "loss": self.loss, "burst": self.burst, "reorder": self.reorder,
                 "police": self.police, "spare_handshake": 1}
        return [word for name, value in given.items() if value for word in (f"--{name}", str(value))]


CELLS = [
    *(Cell("sender", 100, 20, loss) for loss in (0, 0.1, 1, 3, 5, 10)),
    *(Cell("sender", 10, 20, loss) for loss in (0, 1, 5)),
    Cell("sender", 100, 2, 1), Cell("sender", 100, 100, 0.1),
    Cell("sender", 10, 20, bdp=0.25), Cell("sender", 10, 20, bdp=4),
    Cell("sender", 100, 20, buffer=PATH_BUFFER), Cell("sender", 100, 20, 0.1, buffer=PATH_BUFFER),
    Cell("sender", 100, 20, burst=0.25), Cell("sender", 100, 20, reorder=1),
    Cell("sender", 100, 20, police=20), Cell("sender", 100, 20, 1, police=20),
    *(Cell("receiver", 100, 20, loss) for loss in (0, 1, 5)),
    *(Cell("self", 100, 20, loss) for loss in (0, 1, 5)),
    Cell("memory", 0, 0),
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


def until_up(answers, process):
    """Until the stack answers."""
    if not until(lambda: process.poll() is not None or answers(), 60) or process.poll() is not None:
        raise common.Failed(f"the stack does not answer: {process.output().strip()[-300:]}")


def start(network, cell, stack):
    """The stack on the link; the namespace of the other end, and its command that takes or gives so much."""
    (where, tap), (other, other_tap) = ((network.b, "lab1"), (network.a, "lab0"))[::1 if cell.what == "receiver" else -1]
    alone = cell.what == "self" and stack != "linux"
    for namespace, name, address, buffer in ((where, tap, STACK, 4 * cell.buffer), (other, other_tap, LINUX, 4 * BUFFER)):
        if stack == "linux" or (namespace is other and not alone):
            network.linux(namespace, name, address, buffer)   # Linux counts what holds the bytes, too: up to four times as much
        else:
            namespace.run("ip", "link", "set", name, "arp", "off")   # the stack answers there, Linux has no address
    process = where.start(*STACKS[stack](tap, cell.buffer))

    def client(test, most, check=True):
        words = CLIENTS[stack](other_tap, cell.buffer, most) if alone else [*LINUX_PEER, test, STACK, most]
        return other.run(*words, timeout=300, check=check)

    def answers():
        """A connection to the discard service brings no data, and so is out of the count; of a stack's own client some must come. (Weir's is at a new
        Ethernet address each time, which Weir does not take at once for a host that it has just heard of at another.)"""
        if alone and stack == "weir":
            return "up on" in process.output()
        said = client("source", 300, check=False) if alone else client("sink", 0, check=False)
        return '"count": ' in said and (not alone or json.loads(said.splitlines()[-1])["count"] > 0)
    until_up(answers, process)
    return process, client


def measure(cell, stack, seed, seconds):
    if cell.what == "memory":
        return measure_memory(stack)
    with Lab(OUT / f"labs/{os.getpid()}") as lab:
        network = Network(lab, cell, seed)
        process, client = start(network, cell, stack)

        def run(test, most):
            return json.loads(client(test, most).splitlines()[-1])
        before = cpu_ns(process)
        if cell.what == "object":
            times = [run("object", OBJECT)["ns"] / 1e6 for _ in range(OBJECTS)]
            result, count = {"ms": [round(ms, 2) for ms in times]}, OBJECT * OBJECTS
        else:
            said = run("sink" if cell.what == "receiver" else "source", int(seconds * 1000))
            count = said["count"]
            result = {"mbit": round(count * 8e3 / said["ns"], 3)}
        cpu = cpu_ns(process) - before
        process.stop()
        sent, again = network.stop()
        return {**result, "cpu_ns_per_kb": round(cpu / max(count, 1) * 1000), "frames": sent, "again": again}


# --- memory ----------------------------------------------------------------------------------------------------------------------------
def memory_program(stack, count):
    """With buffers of IDLE_BUFFER where they are set aside or a limit is given: an idle connection fills none."""
    if stack == "linux":
        return [BENCH / "million_linux", "serve", count]
    words = STACKS[stack]("far", BUFFER if stack == "lwip" else IDLE_BUFFER)
    return [*words, count] if stack == "smoltcp" else words


def held(process):
    """Bytes: of the process, and of the kernel's own memory, where Linux's connections are."""
    slab = next(int(line.split()[1]) for line in pathlib.Path("/proc/meminfo").read_text().splitlines() if line.startswith("Slab:"))
    return process.memory_kb() * 1024, slab * 1024


def measure_memory(stack):
    """Connections of Linux to the echo service over a veth pair: what each holds when idle, and when it has rested after a byte there and back."""
    count = IDLE.get(stack, IDLE_MOST)
    with Lab(OUT / f"labs/{os.getpid()}") as lab:
        near, far = lab.namespace("near"), lab.namespace("far")
        lab.veth(near, "near", far, "far", offloads=False)
        near.address("near", f"{LINUX}/24")
        if stack == "linux":
            far.address("far", f"{STACK}/24")
        else:
            far.run("ip", "link", "set", "far", "arp", "off")
        process = far.start(*memory_program(stack, count))
        open_words = [BENCH / "million_linux", "open", STACK, LINUX]
        until_up(lambda: subprocess.run(near.enter() + [str(word) for word in (BENCH / "linux_peer", "echo", STACK, 1)], capture_output=True).returncode == 0,
                 process)
        time.sleep(REST_S)
        before = held(process)
        client = near.popen(*open_words, count - 1, IDLE_WINDOW, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        each = []
        for _ in range(2):   # opened, used
            if not client.stdout.readline():
                raise common.Failed("the connections did not last")
            time.sleep(REST_S)
            each.append([round((after - first) / (count - 1)) for after, first in zip(held(process), before)])
            client.stdin.write("\n")
            client.stdin.flush()
        client.communicate(timeout=120)
        return {"connections": count - 1, "idle": each[0][0], "used": each[1][0], "slab": each[0][1], "before": before[0]}


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
        if cell.what == "memory" and seed > 1:
            continue
        kept = OUT / "runs" / f"{cell.name} {who} {seed} {seconds:g}".replace(" ", "_").replace("/", "")
        if not kept.exists():
            try:
                result = measure(cell, stack, seed, seconds)
            except (common.Failed, RuntimeError, subprocess.TimeoutExpired, json.JSONDecodeError) as failure:   # a stall is a result
                result = {"failed": str(failure)[-300:]}
            kept.write_text(json.dumps(result))
        date = time.strftime("%Y-%m-%d", time.localtime(kept.stat().st_mtime))
        found.setdefault(cell.name, {}).setdefault(stack, []).append({**json.loads(kept.read_text()), "date": date})
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
