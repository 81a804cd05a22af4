#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""thesis.rates, into build/bench/metal.json: 5 MB each way between a board and Linux, without loss and with 15 %, where the processor's rate is doubled,
and an eighth (section 5.1 of the thesis doubles its clock and takes a tenth; QEMU's instruction clock knows powers of two alone): 62.5, 31.25 and 3.9
million instructions a second. By the program without a kernel (transfer.elf), and by processes with the thesis's own calls (flock_transfer.elf).

Seconds are the Linux end's. What is lost costs waiting, so that machines stand side by side there; without loss there is one at a time. Needs TAP; where
that is not permitted nothing is measured, and the exit status is 2.

    rates.py [--runs N] [--lossy-runs N] [BOARD …]"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys

import guests
from netns import Lab, until

BOARDS = ("mps2-an385", "arm-virt")
PROGRAMS = ("transfer", "flock_transfer")
SHIFTS = {"31.25 MIPS": 5, "doubled": 4, "an eighth": 8}   # an instruction takes 2^shift ns
SIDE_BY_SIDE = 6


def boot(here, board, program, shift):
    """`shift`: as SHIFTS has them; None: as fast as QEMU can."""
    clock = ["-icount", f"shift={shift},align=on"] if shift is not None else []
    machine = here.start(*guests.weir_guest(board, "weir0", "52:54:00:00:00:02", program), *clock, log=guests.WORK / f"{board}-{program}-{shift}.log")
    ready = "serving" if program == "transfer" else "running"
    if not until(lambda: ready in machine.output() or machine.poll() is not None, 60) or machine.poll() is not None:
        raise guests.Failed(f"{board}, {program}: does not serve: {machine.output()[-400:]}")


def cell(board, program, shift, loss, runs):
    """{way: seconds of each run}, by a machine of its own in a network of its own."""
    found = {}
    with Lab(guests.WORK / f"rates-{board}-{program}-{shift}-{loss}") as lab:
        here = lab.here()
        guests.taps(lab, here, ("weir0",))
        here.address("br0", f"{guests.FAR}/24")
        boot(here, board, program, shift)
        until(lambda: guests.server_is_up(guests.WEIR), 20)
        for way, sends in (("send", True), ("receive", False)):
            guests.transfer(guests.WEIR, sends, 100_000)   # addresses are resolved, QEMU has translated the code
            with guests.Behind(lab, here, loss, sends) as far:
                far.transfer(guests.WEIR, sends, 100_000, guests.PEER_CC)
                found[way] = [far.transfer(guests.WEIR, sends, guests.THESIS, guests.PEER_CC) for _ in range(runs)]
    return found


def cell_alone(words, script):
    """The cell of a script as a process, in a network namespace of its own."""
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    done = subprocess.run([*unshare, sys.executable, script, "--cell", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        print(f"  {words}: {done.stderr.strip()[-300:]}", file=sys.stderr)
        return None
    print(f"  {words}: {done.stdout.strip()}", flush=True)
    return json.loads(done.stdout.splitlines()[-1])


def side_by_side(cells, script, workers=SIDE_BY_SIDE):
    """Each cell, and what it gave (None: nothing)."""
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        yield from zip(cells, pool.map(lambda one: cell_alone(one, script), cells))


def arguments(boards, fields):
    """Of a script whose cells have so many fields."""
    words = argparse.ArgumentParser()
    words.add_argument("boards", nargs="*", default=boards)
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--lossy-runs", type=int, default=5)
    words.add_argument("--cell", nargs=fields)
    guests.WORK.mkdir(parents=True, exist_ok=True)
    return words.parse_args()


def measured(given, cells_of, script=__file__):
    """Each cell of the boards, with its loss and runs, and what it gave: one at a time without loss, side by side with, as they wait then."""
    for loss, runs, workers in ((0, given.runs, 1), (guests.LOSS, given.lossy_runs, SIDE_BY_SIDE)):
        cells = [(*cell, loss, runs) for board in given.boards for cell in cells_of(board)]
        for cell, gave in side_by_side(cells, script, workers):
            if gave:
                yield cell, gave


def main():
    given = arguments(BOARDS, 5)
    if given.cell:
        board, program, shift, loss, runs = given.cell
        print(json.dumps(cell(board, program, int(shift), int(loss), int(runs))))
        return
    found = {one[:4]: seconds for one, seconds in measured(given, lambda board: [(board, program, shift) for program in PROGRAMS for shift in SHIFTS.values()])}
    figures = {}
    for (board, program, shift, loss), ways in found.items():
        rate = next(name for name, value in SHIFTS.items() if value == shift)
        for way, seconds in ways.items():
            key = f"{board}, {program}, {loss} % loss, the board {way}s"
            figures.setdefault(key, {})[rate] = {"median_s": round(statistics.median(seconds), 3), "all_s": [round(one, 3) for one in sorted(seconds)]}
    for key, rates in figures.items():
        print(f"  {key}: " + ", ".join(f"{rate} {one['median_s']} s" for rate, one in rates.items()), flush=True)
    guests.keep({"thesis": {"rates": figures}})


if __name__ == "__main__":
    sys.exit(main())
