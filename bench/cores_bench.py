# SPDX-License-Identifier: BSD-2-Clause
"""The `cores` part of host.json: examples/cores_server.c with one instance and with two, each on a core of its own, behind one TAP; several
clients of Linux at once, on the same machine. What is compared is work for a second of the server's processor time, and by the clock: with clients
on the core of the member that their connections belong to, on the other core, and wherever Linux puts them and whosever their connections are.
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
ROUNDS, MILLISECONDS, CLIENTS = 5, 500, 4   # clients of a member; those that are anywhere are so many in all
TESTS = ("echo", "connect", "sink")
ADDRESS, LINUX = "10.79.0.1", "10.79.0.2"
PLACES = ("near", "far", "anywhere")   # of the clients


class Site:
    """One server on a TAP in a namespace of its own."""

    def __init__(self, lab, cores):
        self.cores, self.linux = cores, lab.namespace(f"cores{cores}")
        if not lab.tap(self.linux, "try0"):
            raise common.Failed("this machine permits no TAP")
        self.linux.run("sysctl", "-qw", "net.ipv4.tcp_max_tw_buckets=16")
        self.server = self.linux.start(SERVER, "tap0", f"{ADDRESS}/24", cores)
        if not until(lambda: "up on" in self.server.output() or self.server.poll() is not None, 30) or self.server.poll() is not None:
            raise common.Failed(self.server.output())
        self.linux.address("tap0", f"{LINUX}/24")
        if not until(lambda: subprocess.run(self.client("echo", 1), capture_output=True).returncode == 0, 30):
            raise common.Failed(f"cores_server with {cores} does not answer")

    def client(self, test, milliseconds):
        return [*self.linux.enter(), str(CLIENT), test, ADDRESS, str(milliseconds)]

    def clients(self, test, place):
        """Commands: CLIENTS for each member, with connections of its own, on its core or on the next one; or CLIENTS anywhere."""
        if place == "anywhere":
            return [self.client(test, MILLISECONDS)] * CLIENTS
        return [[*self.linux.enter(), "taskset", "-c", str((member + (place == "far")) % 2), str(CLIENT), "--member", str(member), str(self.cores), LINUX,
                 test, ADDRESS, str(MILLISECONDS)] for member in range(self.cores) for _ in range(CLIENTS)]

    def cpu_ns(self):
        return sum(int(task.read_text().split()[0]) for task in pathlib.Path(f"/proc/{self.server.pid}/task").glob("*/schedstat"))

    def sleeps(self):
        """How often the server's threads gave their core away because there was nothing to do."""
        words = [task.read_text().split() for task in pathlib.Path(f"/proc/{self.server.pid}/task").glob("*/status")]
        return sum(int(status[status.index("voluntary_ctxt_switches:") + 1]) for status in words)

    def measure(self, test, place):
        """Units a second by the clock, units a second of the server's processor time, and sleeps of the server for a unit."""
        before, slept = self.cpu_ns(), self.sleeps()
        clients = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in self.clients(test, place)]
        said = [json.loads(client.communicate(timeout=120)[0]) for client in clients]
        units = sum(one["count"] for one in said)
        return units / max(one["ns"] for one in said) * 1e9, units / max(self.cpu_ns() - before, 1) * 1e9, (self.sleeps() - slept) / max(units, 1)


def measure():
    """The figures, or None where there is no right to measure them or no second core."""
    if os.geteuid() != 0 or os.cpu_count() < 2 or not SERVER.exists():
        return None
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -20)   # so that what else the machine does shows less
    except PermissionError:
        pass
    progress = common.Progress("cores", ROUNDS * len(TESTS) * len(PLACES) * 2)
    found = {test: {place: {1: [], 2: []} for place in PLACES} for test in TESTS}
    with Lab() as lab:
        sites = {cores: Site(lab, cores) for cores in (1, 2)}
        for number in range(ROUNDS):
            for test in TESTS:
                for place in PLACES:
                    for cores in (1, 2) if number % 2 else (2, 1):
                        progress.step(f"round {number + 1} of {ROUNDS}")
                        found[test][place][cores].append(sites[cores].measure(test, place))
    return summary(found)


def summary(found):
    figures = {}
    for test, places in found.items():
        for place, of in places.items():
            pairs = list(zip(of[1], of[2]))
            figures[f"{test}_{place}"] = {
                "work_kept": round(common.median([two[1] / one[1] for one, two in pairs]), 2),
                "by_the_clock": round(common.median([two[0] / one[0] for one, two in pairs]), 2),
                "units_per_cpu_second": {cores: round(common.median([value[1] for value in values])) for cores, values in of.items()},
                "sleeps_per_unit": {cores: round(common.median([value[2] for value in values]), 3) for cores, values in of.items()},
                "all": {cores: [[round(value[0]), round(value[1])] for value in values] for cores, values in of.items()}}
        figures[f"{test}_work_kept"], figures[f"{test}_by_the_clock"] = (figures[f"{test}_near"][key] for key in ("work_kept", "by_the_clock"))
    return {**figures,
            "note": "work_kept: units for a second of the server's processor time, two instances over one; by_the_clock: all units a second, two over one; "
                    f"medians of the ratios within a round; sink in bytes. near, far: {CLIENTS} clients of each member, on its core, on the other; anywhere: "
                    f"{CLIENTS} in all, placed by Linux, whose connections are whosever they are. …_work_kept and …_by_the_clock: near",
            "command": "bench/cores_bench.py"}


if __name__ == "__main__":
    try:
        print(json.dumps(measure(), indent=2))
    except common.Failed as failure:
        sys.exit(f"bench: {failure}")
