#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""thesis.far, into build/bench/metal.json: 270 MB as from the thesis's "remote internet host", received by a process with its tcprecv from Linux (cubic)
over `weir-link` with 20 ms there and back and a queue of one product of rate and round trip, at 10 and 100 Mbit/s; seconds.

The images are flock_far.elf (mps2-an385: a receive queue of 512 KB in place of 4, four of which take half of its 4 MB) and flock_transfer.elf (arm-virt:
its queues grow by need). The boards run as fast as QEMU lets them, side by side. Needs TAP; where that is not permitted nothing is measured, and the
exit status is 2.

    far.py [--runs N] [--bytes N] [BOARD …]"""
import argparse
import json
import statistics
import sys

import guests
import rates
from netns import Lab, until

PROGRAMS = {"mps2-an385": "flock_far", "arm-virt": "flock_transfer"}
SIZE, DELAY_MS, RATES = 270_000_000, 10, (10, 100)


def cell(board, rate, size, runs):
    """Seconds of each run, by a machine of its own in a network of its own."""
    with Lab(guests.WORK / f"far-{board}-{rate}") as lab:
        here = lab.here()
        guests.taps(lab, here, ("weir0",))
        here.address("br0", f"{guests.FAR}/24")
        rates.boot(here, board, PROGRAMS[board], None)
        until(lambda: guests.server_is_up(guests.WEIR), 20)
        with guests.Behind(lab, here, 0, False, ("--rate", str(rate), "--delay", str(DELAY_MS))) as far:
            far.transfer(guests.WEIR, False, 100_000, guests.PEER_CC)   # addresses are resolved, QEMU has translated the code
            return [far.transfer(guests.WEIR, False, size, guests.PEER_CC) for _ in range(runs)]


def arguments():
    words = argparse.ArgumentParser()
    words.add_argument("boards", nargs="*", default=PROGRAMS)
    words.add_argument("--runs", type=int, default=1)
    words.add_argument("--bytes", type=int, default=SIZE)
    words.add_argument("--cell", nargs=4)
    guests.WORK.mkdir(parents=True, exist_ok=True)
    return words.parse_args()


def main():
    given = arguments()
    if given.cell:
        board, *numbers = given.cell
        print(json.dumps(cell(board, *map(int, numbers))))
        return
    figures, missing = {}, False
    for rate in RATES:   # side by side at one rate: the slow link leaves a machine idle
        found = rates.side_by_side([(board, rate, given.bytes, given.runs) for board in given.boards], __file__)
        for (board, *_), seconds in found:
            missing |= seconds is None
            if seconds:
                median = statistics.median(seconds)
                figures[f"{board}, {rate} Mbit/s"] = {"bytes": given.bytes, "median_s": round(median, 2), "mbit": round(given.bytes * 8e-6 / median, 2),
                                                      "all_s": [round(one, 2) for one in sorted(seconds)]}
                print(f"  {board}, {rate} Mbit/s: {given.bytes} bytes in {median:.1f} s", flush=True)
    guests.keep({"thesis": {"far": figures}})
    if missing:
        sys.exit("far.py: not all was measured")


if __name__ == "__main__":
    main()
