#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""microkernel_ratio, into build/bench/metal.json: how many bits a second the echo server of the microkernel's image moves, against the same
stack with the same limits as one program on the preemptive kernel; both on mps2-an385, turn by turn, from one client on this machine.

The emulated processor executes one instruction in 256 ns by QEMU's clock, no faster (-icount shift=8,align=on): it is what limits the transfer,
and not this machine or what else runs on it. Instructions are not cycles: no cache and no wait states, in either form. Beside it stands the
ratio without that brake, as fast as QEMU translates, which depends on the machine. Medians of ROUNDS.

    micro_bench.py [rounds]"""
import json
import random
import statistics
import sys
import time

import boards
from boards import ROOT, Machine, exchange

OUT = ROOT / "build/bench/metal.json"
FORMS = {"monolithic": ("mps2-an385", "bulk_echo"), "microkernel": ("mps2-an385-micro", "echo")}
SLOW = ("-icount", "shift=8,align=on")
plain_command = boards.command


def transfer(form, size, words):
    """Bits a second, counted once, of `size` bytes there and back."""
    board, program = FORMS[form]
    boards.command = lambda *arguments: plain_command(*arguments) + list(words)
    try:
        with Machine(board, program=program, log=ROOT / f"build/boards/{board}/{program}.bench.log") as machine:
            machine.until("echo on port 7")
            data = random.Random(size).randbytes(size)
            with machine.connect(7, 60) as connection:   # addresses are resolved, both ends warm
                assert exchange(connection, data[:20_000]) == data[:20_000]
            with machine.connect(7, 60) as connection:
                began = time.monotonic()
                got = exchange(connection, data)
                took = time.monotonic() - began
            assert got == data, "other bytes came back"
    finally:
        boards.command = plain_command
    return size * 8 / took


def compare(rounds, size, words):
    found = {form: [] for form in FORMS}
    for _ in range(rounds):
        for form in FORMS:
            found[form].append(transfer(form, size, words))
    return {form: statistics.median(values) for form, values in found.items()}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    slow, quick = compare(rounds, 400_000, SLOW), compare(rounds, 3_000_000, ())
    ratio = slow["microkernel"] / slow["monolithic"]
    whole = json.loads(OUT.read_text()) if OUT.exists() else {}
    whole["microkernel_ratio"] = round(ratio, 3)
    whole["microkernel"] = {"bits_per_s": round(slow["microkernel"]), "monolithic_bits_per_s": round(slow["monolithic"]), "rounds": rounds,
                            "unbraked_ratio": round(quick["microkernel"] / quick["monolithic"], 3)}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(whole, indent=2) + "\n")
    print(f"microkernel: {slow['microkernel'] / 1e6:.2f} Mbit/s at 3.9 million instructions a second, monolithic {slow['monolithic'] / 1e6:.2f}: ratio {ratio:.3f} (to reach: 0.60); "
          f"as fast as QEMU translates {quick['microkernel'] / quick['monolithic']:.3f}")


main()
