# SPDX-License-Identifier: BSD-2-Clause
"""The `families` part of host.json: one process of Weir, built with both families, on a TAP, over IPv4 and over IPv6 by turns; and Linux at both
ends of a veth pair, for how much of the difference is the client's. What is stated is IPv6 over IPv4 within a round: what else the machine does
meanwhile concerns both.
    bench/families_bench.py        prints the figures alone (as root, or inside `unshare --user --map-root-user --net`; after
                                   make -f bench/bench.mk build/bench/weir_host_bench_dual build/bench/linux_peer)"""
import json
import pathlib
import subprocess
import sys

import common

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from netns import Lab, until  # noqa: E402

SERVER, CLIENT = common.OUT / "weir_host_bench_dual", common.OUT / "linux_peer"
ROUNDS, MILLISECONDS = 41, 150   # short ones: what else runs changes between them, too
TESTS = ("sink", "source", "echo", "connect")
SEGMENT = 1440   # bytes of a full one without options over IPv6; what processor time is stated for
GOAL = 0.95
ADDRESSES = {4: "10.78.0.2", 6: "fd78::2"}


class Site:
    """Who serves, where the client is, and how much processor time that takes; Linux's is not its process's alone."""

    def __init__(self, client, server, counted):
        self.inside, self.server, self.counted = client, server, counted
        client.run("sysctl", "-qw", "net.ipv4.tcp_max_tw_buckets=16")
        for address in ADDRESSES.values():
            if not until(lambda: subprocess.run(self.command("echo", address, 1), capture_output=True).returncode == 0, 30):
                raise common.Failed(f"nobody answers at {address}: {server.output()}")

    def command(self, test, address, milliseconds):
        return [*self.inside.enter(), str(CLIENT), test, address, str(milliseconds)]

    def cpu_ns(self):
        return int(pathlib.Path(f"/proc/{self.server.pid}/schedstat").read_text().split()[0])

    def measure(self, test, family):
        """Units a second by the clock, and the server's processor time for a unit in ns (None: not known)."""
        before = self.cpu_ns()
        said = common.line(self.command(test, ADDRESSES[family], MILLISECONDS), 60)
        units = said["count"] / (SEGMENT if test in ("sink", "source") else 1)
        return units / said["ns"] * 1e9, (self.cpu_ns() - before) / units if self.counted else None


def addresses(namespace, interface, last):
    namespace.run("sysctl", "-qw", f"net.ipv6.conf.{interface}.accept_dad=0")
    namespace.address(interface, f"10.78.0.{last}/24", f"fd78::{last}/64")


def weir(lab):
    linux = lab.namespace("families")
    if not lab.tap(linux, "tap0"):
        raise common.Failed("this machine permits no TAP")
    addresses(linux, "tap0", 1)
    return Site(linux, linux.start(SERVER, "tap0", ADDRESSES[4], ADDRESSES[6]), True)


def linux(lab):
    near, far = lab.namespace("near"), lab.namespace("far")
    lab.veth(near, "eth0", far, "eth0")
    for namespace, last in ((near, 1), (far, 2)):
        addresses(namespace, "eth0", last)
    far.run("sysctl", "-qw", "net.ipv4.tcp_max_tw_buckets=16")
    return Site(near, far.start(CLIENT, "serve"), False)


def measure():
    progress = common.Progress("families", ROUNDS * len(TESTS) * 4)
    found = {name: {test: {4: [], 6: []} for test in TESTS} for name in ("weir", "linux")}
    with Lab() as lab:
        sites = {"weir": weir(lab), "linux": linux(lab)}
        for number in range(ROUNDS):
            for test in TESTS:
                for name, site in sites.items():
                    for family in (4, 6) if number % 2 else (6, 4):
                        progress.step(f"round {number + 1} of {ROUNDS}")
                        found[name][test][family].append(site.measure(test, family))
    return summary(found)


def ratios(of, at):
    """IPv6 over IPv4 within each round, in order."""
    return sorted(six[at] / four[at] for four, six in zip(of[4], of[6]))


def ratio(of, at):
    return round(common.median(ratios(of, at)), 3)


def quartiles(of, at):
    all_of_them = ratios(of, at)
    return [round(all_of_them[len(all_of_them) * part // 4], 3) for part in (1, 3)]


def summary(found):
    figures = {f"v6_{test}": ratio(found["weir"][test], 0) for test in TESTS}
    return {**figures, "goal": f">= {GOAL}",
            "cpu": {test: ratio(found["weir"][test], 1) for test in TESTS},
            "quartiles": {test: quartiles(found["weir"][test], 0) for test in TESTS},
            "cpu_quartiles": {test: quartiles(found["weir"][test], 1) for test in TESTS},
            "linux": {test: ratio(found["linux"][test], 0) for test in TESTS},
            "units_per_second": {name: {test: {family: round(common.median([value[0] for value in values])) for family, values in of.items()}
                                        for test, of in tests.items()} for name, tests in found.items()},
            "all": {name: {test: {family: [round(value[0]) for value in values] for family, values in of.items()} for test, of in tests.items()}
                    for name, tests in found.items()},
            "note": f"v6_…: what passes in a second over IPv6, over the same over IPv4; cpu: Weir's processor time for {SEGMENT} bytes, an echo, a "
                    "connection, likewise; linux: v6_… of Linux at both ends of a veth pair; medians of the ratios within a round; quartiles: of these ratios",
            "command": "bench/families_bench.py"}


if __name__ == "__main__":
    try:
        print(json.dumps(measure(), indent=2))
    except (common.Failed, RuntimeError) as failure:
        sys.exit(f"bench: {failure}")
