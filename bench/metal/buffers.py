#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""thesis.buffers, into build/bench/metal.json: section 5.1 of the thesis with its small receive buffer and its large send buffer, by processes with its own
calls (flock_transfer.elf with the settings of bench/metal/settings), between a board and Linux over a TAP, without loss and with 15 %, seconds of 5 MB:

    receive buffer   5 KB, the board's (Linux sends with reno, cubic, bbr) or Linux's (the board sends with those that its profile has)
    send buffer      4 KB and five times as much; the board sends, with cubic, to a Linux that receives as it likes

As rates.py in all else: 31.25 million instructions a second, machines side by side where they wait.

    buffers.py [--runs N] [--lossy-runs N] [BOARD …]"""
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
    """What is measured, by cell: the image, whether the board sends, the far end's congestion control, the most that the far end offers."""
    return {(board, "flock_transfer_cubic", False, cc, 0): f"receive buffer 5 KB, {cc}, the board receives" for cc in PEERS} \
        | {(board, f"flock_transfer_{cc}", True, guests.PEER_CC, WINDOW): f"receive buffer 5 KB, {cc}, the board sends" for cc in CONTROLS[board]} \
        | {(board, image, True, guests.PEER_CC, 0): f"send buffer {size} bytes, cubic, the board sends" for size, image in SEND_BUFFERS[board].items()}


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
    given = rates.arguments(CONTROLS, 7)
    if given.cell:
        board, image, sends, cc, window, loss, runs = given.cell
        print(json.dumps(cell(board, image, sends == "True", cc, int(window), int(loss), int(runs))))
        return
    figures = {}
    for one, seconds in rates.measured(given, plans, __file__):
        *plan, loss, _ = one
        figures[f"{plan[0]}, {plans(plan[0])[tuple(plan)]}, {loss} % loss"] = {"median_s": round(statistics.median(seconds), 3), "all_s": [round(second, 3) for second in sorted(seconds)]}
    for key, figure in figures.items():
        print(f"  {key}: {figure['median_s']} s", flush=True)
    guests.keep({"thesis": {"buffers": figures}})
    if len(figures) < 2 * sum(len(plans(board)) for board in given.boards):
        sys.exit("buffers.py: not all was measured")


if __name__ == "__main__":
    main()
