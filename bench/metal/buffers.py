#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""thesis.buffers, into build/bench/metal.json: section 5.1 of the thesis with its small receive buffer and its large send buffer, by processes with its own
calls (flock_transfer.elf with the settings of bench/metal/settings), between a board and Linux over a TAP, without loss and with 15 %, seconds of 5 MB:

    receive buffer   5 KB, the board's (Linux sends with reno, cubic, bbr) or Linux's (the board sends with those that its profile has)
    send buffer      4 KB and five times as much; the board sends, with cubic, to a Linux that receives as it likes

As rates.py in all else: 31.25 million instructions a second, machines side by side where they wait.

    buffers.py [--runs N] [--lossy-runs N] [BOARD …]"""
import argparse
import concurrent.futures
import json
import statistics
import sys

import guests
import rates
from netns import Lab, until

WINDOW = 5120   # the thesis's "5 kilobytes"
CONTROLS = {"mps2-an385": ("reno", "cubic"), "arm-virt": ("reno", "cubic", "bbr")}
PEERS = ("reno", "cubic", "bbr")
SEND_BUFFERS = {"mps2-an385": {4096: "flock_transfer", 20480: "flock_transfer_send_5"}, "arm-virt": {4096: "flock_transfer_send_1", 20480: "flock_transfer_send_5"}}
SHIFT = rates.SHIFTS["31.25 MIPS"]


def plans(board):
    """(label, image, whether the board sends, the far end's congestion control, the most that the far end offers)"""
    for cc in PEERS:
        yield f"receive buffer 5 KB, {cc}, the board receives", "flock_transfer_cubic", False, cc, 0
    for cc in CONTROLS[board]:
        yield f"receive buffer 5 KB, {cc}, the board sends", f"flock_transfer_{cc}", True, guests.PEER_CC, WINDOW
    for size, image in SEND_BUFFERS[board].items():
        yield f"send buffer {size} bytes, cubic, the board sends", image, True, guests.PEER_CC, 0


def cell(board, image, sends, cc, window, loss, runs):
    """Seconds of each run, by a machine of its own in a network of its own."""
    with Lab(guests.WORK / f"buffers-{board}-{image}-{sends}-{cc}-{window}-{loss}") as lab:
        here = lab.here()
        guests.taps(lab, here, ("weir0",))
        here.address("br0", f"{guests.FAR}/24")
        rates.boot(here, board, image, SHIFT)
        until(lambda: guests.server_is_up(guests.WEIR), 20)
        guests.transfer(guests.WEIR, sends, 100_000)   # addresses are resolved, QEMU has translated the code
        with guests.Behind(lab, here, loss, sends) as far:
            far.transfer(guests.WEIR, sends, 100_000, cc, window)
            return [far.transfer(guests.WEIR, sends, guests.THESIS, cc, window) for _ in range(runs)]


def main():
    words = argparse.ArgumentParser()
    words.add_argument("boards", nargs="*", default=CONTROLS)
    words.add_argument("--runs", type=int, default=5)
    words.add_argument("--lossy-runs", type=int, default=5)
    words.add_argument("--cell", nargs=7)
    given = words.parse_args()
    guests.WORK.mkdir(parents=True, exist_ok=True)
    if given.cell:
        board, image, sends, cc, window, loss, runs = given.cell
        print(json.dumps(cell(board, image, sends == "True", cc, int(window), int(loss), int(runs))))
        return
    figures = {}
    for loss, runs, workers in ((0, given.runs, 1), (guests.LOSS, given.lossy_runs, rates.SIDE_BY_SIDE)):
        cells = [(board, *plan, loss, runs) for board in given.boards for plan in plans(board)]
        with concurrent.futures.ThreadPoolExecutor(workers) as pool:
            for (board, label, *_), seconds in zip(cells, pool.map(lambda one: rates.cell_alone((one[0], *one[2:]), __file__), cells)):
                if seconds:
                    figures[f"{board}, {label}, {loss} % loss"] = {"median_s": round(statistics.median(seconds), 3), "all_s": [round(second, 3) for second in sorted(seconds)]}
    for key, figure in figures.items():
        print(f"  {key}: {figure['median_s']} s", flush=True)
    guests.keep({"thesis": {"buffers": figures}})
    if len(figures) < 2 * sum(1 for board in given.boards for _ in plans(board)):
        sys.exit("buffers.py: not all was measured")


if __name__ == "__main__":
    main()
