#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The laboratory: the experiments of the works Weir grows out of, with Weir and with Linux, over the same emulated links. Writes
build/lab/index.html and the JSON beside it. An interrupted laboratory goes on where it was. docs/laboratory.md tells what is measured."""
import argparse
import atexit
import datetime
import os
import pathlib
import platform
import signal
import sys

import net
import page
import runs
from fairness import Fairness
from grid import Grid
from ipv6 import Ipv6
from report import Report
from thesis import Thesis

EXPERIMENTS = {"thesis": Thesis, "report": Report, "grid": Grid, "fairness": Fairness, "ipv6": Ipv6}


def take_precedence():
    """What else the machine does must not show in what is measured. Linux weighs sessions against one another before processes (sched(7), autogroup)."""
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    group = pathlib.Path("/proc/self/autogroup")
    if group.exists():
        group.write_text("-20")
        atexit.register(group.write_text, "0")


def main():
    parser = argparse.ArgumentParser(prog="make lab", description=__doc__)
    parser.add_argument("experiments", nargs="*", metavar="EXPERIMENT", help=f"some of {', '.join(EXPERIMENTS)}; all if none is given")
    parser.add_argument("--quick", action="store_true", help="a coarse pass in ten minutes (QUICK=1)")
    parser.add_argument("--fresh", action="store_true", help="repeat what was measured before (FRESH=1)")
    options = parser.parse_args()
    unknown = set(options.experiments) - set(EXPERIMENTS)
    if unknown:
        parser.error(f"there is no experiment {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}")
    if os.geteuid() != 0:
        sys.exit("lab: TAPs, network namespaces and congestion controls need root: run it as root")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    take_precedence()
    ledger = runs.Runs(options.fresh)
    experiments = [kind(ledger, options.quick) for name, kind in EXPERIMENTS.items() if not options.experiments or name in options.experiments]
    missing = set(net.LINUX_OWN) - net.this_kernel_has()
    if missing:
        print(f"lab: this machine's kernel has no {', '.join(sorted(missing))}; those rows stay empty", file=sys.stderr)
    if not net.uml_there():
        print("lab: no user-mode Linux here; the rows of bic, htcp, vegas, westwood and yeah stay empty for Linux", file=sys.stderr)
    try:
        ledger.go()
    except KeyboardInterrupt:
        sys.exit("lab: interrupted; the same command goes on from here")
    sheet = page.Page("Weir: the laboratory")
    sheet.text(f"{datetime.datetime.now():%Y-%m-%d %H:%M}, Linux {platform.release()}, {os.cpu_count()} CPUs{', a quick pass' if options.quick else ''}. Weir at both ends "
               "or at the sender's; where a row says Linux it is this machine's kernel, or user-mode Linux for the algorithms that it lacks.")
    for experiment in experiments:
        experiment.report(sheet)
    sheet.failures(ledger.failures_by_reason())
    sheet.write()
    for why, keys in ledger.failures_by_reason().items():
        print(f"lab: {len(keys)} runs failed, the first {keys[0]}: {why}", file=sys.stderr)
    print(f"lab: {runs.OUT / 'index.html'}")
    return bool(ledger.failures)


if __name__ == "__main__":
    sys.exit(main())
