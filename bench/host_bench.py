# SPDX-License-Identifier: BSD-2-Clause
"""host.json: one process of a stack on a TAP, Linux at the other end, in a private network namespace; and Linux at both ends of a veth
pair. Every stack offers the same three services in one thread that sleeps in poll(2) when nothing is there; linux_peer, with ordinary
blocking sockets, is the client of each. Median of ROUNDS rounds of SECONDS each, the stacks taking turns within a round."""
import json
import os
import pathlib
import subprocess
import sys
import time

import common
import cores_bench
import families_bench
import frames_bench
import million_bench
import tls_bench

ROUNDS, MILLISECONDS = 5, 1000
UNITS = {"sink": "Mbit/s", "source": "Mbit/s", "echo": "round trips a second", "connect": "connections a second"}
SEGMENT = 1460   # bytes; what CPU time is stated for
CORES = sorted(os.sched_getaffinity(0))
SERVER, CLIENT = CORES[0], CORES[-1]   # where they run: left to Linux, it is now one core and now two, and an echo costs ten times as much
TESTS = {   # name: linux_peer's, the core it runs on
    "sink": ("sink", CLIENT), "source": ("source", CLIENT), "echo": ("echo", CLIENT), "connect": ("connect", CLIENT),
    "echo_one_core": ("echo", SERVER), "connect_one_core": ("connect", SERVER),
}
INSIDE = "WEIR_BENCH_INSIDE"   # environment: we are in the private namespace
GOALS = {
    "sink_ratio": (">=", 3), "source_ratio": (">=", 3), "sink_frame_ratio": (">=", 1), "source_frame_ratio": (">=", 1.2), "echo_ratio": (">=", 1),
    "connect_ratio": (">=", 1), "echo_cpu_ratio": ("<=", 1), "connect_cpu_ratio": ("<=", 1), "linux_sink_ratio": None, "linux_source_ratio": None,
}
STACKS = {   # name: the program for (tap, address)
    "weir": lambda tap, address: ["weir_host_bench", tap, address],
    "weir_frames": lambda tap, address: ["weir_host_bench", tap, address, "frames"],
    "lwip": lambda tap, address: ["lwip_host", tap, address],
    "smoltcp_64k": lambda tap, address: ["smoltcp-bench", "host", "65536", tap, address],
    "smoltcp_1m": lambda tap, address: ["smoltcp-bench", "host", "1048576", tap, address],
}
PEERS = ("lwip", "smoltcp_64k", "smoltcp_1m")
VETH = {"linux": "on", "linux_plain": "off"}   # name: its offloads
OFFLOADS = ("rx", "tx", "sg", "tso", "gso", "gro")


def unshare():
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]


def measure():
    """Runs this file again in a namespace of its own and takes its figures."""
    if subprocess.run([*unshare(), "true"], capture_output=True).returncode:
        raise common.Failed("this machine permits you no private network namespace: run `make bench` as root, or enable unprivileged user namespaces")
    machine, load_before = common.machine(), common.load()
    done = subprocess.run([*unshare(), sys.executable, __file__], cwd=common.ROOT, env={**common.environment(), INSIDE: "1"}, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise common.Failed("the host part did not come to its end")
    families = families_bench.measure() if os.geteuid() == 0 else {}
    versions = {key: value for key, value in families.items() if key.startswith("v6_")}
    figures = summary(json.loads(done.stdout))
    figures["goals"].update({key: families["goal"] for key in versions})
    tls = tls_bench.measure() if os.geteuid() == 0 else {}
    if tls:
        figures = {"tls_ratio": tls["tls_ratio"], **figures}
        figures["goals"]["tls_ratio"] = tls["goal"]
    return {**versions, **figures, "tls": tls, "families": families, "xdp": frames_bench.measure(), "cores": cores_bench.measure(),
            "million": million_bench.measure(count=million_bench.STEP), "rounds": ROUNDS, "milliseconds": MILLISECONDS, "load": [load_before, common.load()], "machine": machine}


def on(core):
    return ["taskset", "--cpu-list", str(core)]


def quietly(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise common.Failed(f"{common.shown(command)}: {done.stderr.strip()}")


class Lab:
    """The namespace: a TAP for each stack with its process, two veth pairs into a second namespace where Linux serves."""

    def __init__(self):
        self.processes, self.addresses, self.stacks = [], {}, {}
        quietly("ip", "link", "set", "lo", "up")
        # A client that closed first keeps its port for a minute: connections a second would end with the ports. The services' ends are gone.
        quietly("sysctl", "-qw", "net.ipv4.tcp_max_tw_buckets=16")
        for index, (name, command) in enumerate(STACKS.items(), 1):
            tap, own, address = f"tap{index}", f"10.77.{index}.1/24", f"10.77.{index}.2"
            quietly("ip", "tuntap", "add", tap, "mode", "tap")
            quietly("ip", "address", "add", own, "dev", tap)
            quietly("ip", "link", "set", tap, "up")
            program, *words = command(tap, address)
            self.stacks[name] = self.start([common.OUT / program, *words])
            self.addresses[name] = address
        self.linux()
        for name in self.addresses:
            self.until_ready(name)

    def start(self, command):
        process = subprocess.Popen([*on(SERVER), *(str(word) for word in command)], cwd=common.ROOT, stdin=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def linux(self):
        there = self.start(["unshare", "--net", "sleep", "infinity"])
        inside = ["nsenter", f"--net=/proc/{there.pid}/ns/net"]
        until = time.monotonic() + 5
        while os.stat(f"/proc/{there.pid}/ns/net").st_ino == os.stat("/proc/self/ns/net").st_ino:
            if time.monotonic() > until:
                raise common.Failed("no second network namespace")
            time.sleep(0.01)
        for index, (name, offloads) in enumerate(VETH.items(), 101):
            near, far = f"near{index}", f"far{index}"
            quietly("ip", "link", "add", near, "type", "veth", "peer", far)
            quietly("ip", "link", "set", far, "netns", str(there.pid))
            for prefix, end, last in (([], near, 1), (inside, far, 2)):
                quietly(*prefix, "ip", "address", "add", f"10.77.{index}.{last}/24", "dev", end)
                quietly(*prefix, "ip", "link", "set", end, "up")
                quietly(*prefix, "ethtool", "-K", end, *(word for offload in OFFLOADS for word in (offload, offloads)))
            self.addresses[name] = f"10.77.{index}.2"
        quietly(*inside, "sysctl", "-qw", "net.ipv4.tcp_max_tw_buckets=16")
        self.start([*inside, common.OUT / "linux_peer", "serve"])

    def until_ready(self, name):
        until = time.monotonic() + 10
        while True:
            for process in self.processes:
                if process.poll() is not None:
                    raise common.Failed(f"{common.shown(process.args)} ended with exit status {process.returncode}")
            if subprocess.run(self.client("echo", name, 1), capture_output=True).returncode == 0:
                return
            if time.monotonic() > until:
                raise common.Failed(f"{name} does not answer at {self.addresses[name]}")
            time.sleep(0.1)

    def client(self, test, name, milliseconds):
        kind, core = TESTS[test]
        return [*on(core), str(common.OUT / "linux_peer"), kind, self.addresses[name], str(milliseconds)]

    def cpu_ns(self, name):
        """CPU time the stack's process has used, the kernel's work in its system calls included."""
        return int(pathlib.Path(f"/proc/{self.stacks[name].pid}/schedstat").read_text().split()[0]) if name in self.stacks else 0

    def close(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


def rate(said):
    """Mbit/s, or a second."""
    seconds = said["ns"] / 1e9
    return said["count"] * 8 / seconds / 1e6 if said["test"] in ("sink", "source") else said["count"] / seconds


def inside():
    lab = Lab()
    rates = {name: {test: [] for test in TESTS} for name in lab.addresses}
    cpu = {name: {test: [] for test in TESTS} for name in lab.stacks}
    progress = common.Progress("host", ROUNDS * len(TESTS) * len(rates))
    try:
        for number in range(ROUNDS):
            for test in TESTS:
                for name in rates:
                    progress.step(f"round {number + 1} of {ROUNDS}: {test}" + (f" {name}" if sys.stderr.isatty() else ""))
                    before = lab.cpu_ns(name)
                    said = common.line(lab.client(test, name, MILLISECONDS), 60)
                    rates[name][test].append(round(rate(said), 1))
                    if name in cpu:
                        units = said["count"] / (SEGMENT if test in ("sink", "source") else 1)
                        cpu[name][test].append(round((lab.cpu_ns(name) - before) / units))
    finally:
        lab.close()
    json.dump([rates, cpu], sys.stdout)


def summary(measured):
    rates, cpu = measured
    medians = {name: {test: round(common.median(values)) for test, values in tests.items()} for name, tests in rates.items()}
    best = {test: max(medians[peer][test] for peer in PEERS) for test in TESTS}
    cpu = {name: {test: round(common.median(values)) for test, values in tests.items()} for name, tests in cpu.items()}
    least = {test: min(cpu[peer][test] for peer in PEERS) for test in TESTS}
    weir, frames, linux = medians["weir"], medians["weir_frames"], medians["linux"]
    return {
        **{f"{test}_ratio": round(weir[test] / best[test], 2) for test in TESTS},
        **{f"{test}_cpu_ratio": round(cpu["weir"][test] / least[test], 2) for test in TESTS if test not in ("sink", "source")},
        **{f"{test}_frame_ratio": round(frames[test] / best[test], 2) for test in ("sink", "source")},
        **{f"linux_{test}_ratio": round(weir[test] / linux[test], 2) for test in ("sink", "source")},
        "units": {test: UNITS[kind] for test, (kind, _) in TESTS.items()},
        "medians": medians,
        "best_peer": {test: max(PEERS, key=lambda peer: medians[peer][test]) for test in TESTS},
        "all": rates,
        "cpu_ns": cpu,
        "note": f"cpu_ns: CPU time of the stack's process, system calls included, for {SEGMENT} bytes, an echo, a connection. It depends less on "
                "what else runs than the rates do.",
        "goals": {key: " ".join(map(str, goal)) for key, goal in GOALS.items() if goal},
        "commands": {"all": "make bench T=host", **{name: common.shown([f"build/bench/{word}" if at == 0 else word for at, word in enumerate(command("TAP", "ADDRESS"))])
                                                    for name, command in STACKS.items()},
                     **{test: f"taskset --cpu-list {core} build/bench/linux_peer {kind} ADDRESS {MILLISECONDS}" for test, (kind, core) in TESTS.items()}},
    }


if __name__ == "__main__" and INSIDE in os.environ:
    try:
        inside()
    except common.Failed as failure:
        sys.exit(f"bench: {failure}")
