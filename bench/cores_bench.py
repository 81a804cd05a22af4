# SPDX-License-Identifier: BSD-2-Clause
"""The `cores` part of host.json: examples/cores_server.c with one instance and with two, each on a core of its own, behind one TAP; several
clients of Linux at once, on the same machine. What is compared is work for a second of the server's processor time, and by the clock.
    bench/cores_bench.py        prints the figures alone (as root; `make bench T=host` builds linux_peer, `make examples` the server)"""
import json
import os
import pathlib
import subprocess
import sys

import common

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from netns import Lab, until  # noqa: E402

SERVER, CLIENT = common.ROOT / "build/host/examples/cores_server", common.OUT / "linux_peer"
ROUNDS, MILLISECONDS, CLIENTS = 7, 700, 4
TESTS = ("echo", "connect", "sink")
ADDRESS = "10.79.0.1"


class Site:
    """One server on a TAP in a namespace of its own."""

    def __init__(self, lab, cores):
        self.linux = lab.namespace(f"cores{cores}")
        if not lab.tap(self.linux, "try0"):
            raise common.Failed("this machine permits no TAP")
        self.linux.run("sysctl", "-qw", "net.ipv4.tcp_max_tw_buckets=16")
        self.server = self.linux.start(SERVER, "tap0", f"{ADDRESS}/24", cores)
        if not until(lambda: "up on" in self.server.output() or self.server.poll() is not None, 30) or self.server.poll() is not None:
            raise common.Failed(self.server.output())
        self.linux.address("tap0", "10.79.0.2/24")
        if not until(lambda: subprocess.run(self.client("echo", 1), capture_output=True).returncode == 0, 30):
            raise common.Failed(f"cores_server with {cores} does not answer")

    def client(self, test, milliseconds):
        return [*self.linux.enter(), str(CLIENT), test, ADDRESS, str(milliseconds)]

    def cpu_ns(self):
        return sum(int(task.read_text().split()[0]) for task in pathlib.Path(f"/proc/{self.server.pid}/task").glob("*/schedstat"))

    def measure(self, test):
        """Units a second by the clock, and units a second of the server's processor time."""
        before = self.cpu_ns()
        clients = [subprocess.Popen(self.client(test, MILLISECONDS), stdout=subprocess.PIPE, text=True) for _ in range(CLIENTS)]
        said = [json.loads(client.communicate(timeout=120)[0]) for client in clients]
        count = sum(one["count"] for one in said)
        return count / max(one["ns"] for one in said) * 1e9, count / max(self.cpu_ns() - before, 1) * 1e9


def measure():
    """The figures, or None where there is no right to measure them or no second core."""
    if os.geteuid() != 0 or os.cpu_count() < 2 or not SERVER.exists():
        return None
    progress = common.Progress("cores", ROUNDS * len(TESTS) * 2)
    found = {test: {1: [], 2: []} for test in TESTS}
    with Lab() as lab:
        sites = {cores: Site(lab, cores) for cores in (1, 2)}
        for number in range(ROUNDS):
            for test in TESTS:
                for cores in (1, 2) if number % 2 else (2, 1):
                    progress.step(f"round {number + 1} of {ROUNDS}")
                    found[test][cores].append(sites[cores].measure(test))
    return summary(found)


def summary(found):
    figures = {}
    for test, of in found.items():
        pairs = list(zip(of[1], of[2]))
        figures[f"{test}_work_kept"] = round(common.median([two[1] / one[1] for one, two in pairs]), 2)
        figures[f"{test}_by_the_clock"] = round(common.median([two[0] / one[0] for one, two in pairs]), 2)
        figures[f"{test}_units_per_cpu_second"] = {cores: round(common.median([value[1] for value in values])) for cores, values in of.items()}
    return {**figures, "all": {test: {cores: [[round(value) for value in pair] for pair in values] for cores, values in of.items()} for test, of in found.items()},
            "note": "…_work_kept: units for a second of the server's processor time, two instances over one; …_by_the_clock: all units a second, two "
                    f"over one, where {CLIENTS} clients need the same cores; medians of the ratios within a round; sink in bytes",
            "command": "bench/cores_bench.py"}


if __name__ == "__main__":
    try:
        print(json.dumps(measure(), indent=2))
    except common.Failed as failure:
        sys.exit(f"bench: {failure}")
