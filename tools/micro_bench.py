#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""microkernel_ratio, into build/bench/metal.json: how many bits a second the echo server of the microkernel's image moves, against the same
stack with the same limits as one program on the preemptive kernel; both on mps2-an385, turn by turn, from one client on this machine.

The processor executes an instruction in 256 ns of the machine's own time (-icount shift=8), and that time, as it stands in QEMU's record of the
frames, is what a transfer takes: so the processor is the limit, and what else runs on this machine does not matter. Instructions are not
cycles: no cache and no wait states, in either form. Beside it stands the ratio in this machine's time, as fast as QEMU translates, which
says more of QEMU (it forgets its translations of addresses whenever the MPU is set). Medians.

    micro_bench.py [rounds]"""
import json
import random
import statistics
import struct
import sys
import time

import boards
from boards import ROOT, Machine, exchange

OUT = ROOT / "build/bench/metal.json"
FORMS = {"monolithic": ("mps2-an385", "bulk_echo"), "microkernel": ("mps2-an385-micro", "echo")}
GUEST = bytes([10, 0, 0, 2])
plain_command = boards.command


def frames(path):
    """(seconds, frame) of each in QEMU's record."""
    data = path.read_bytes()
    at = 24
    while at + 16 <= len(data):
        seconds, micros, length, _ = struct.unpack_from("<IIII", data, at)
        yield seconds + micros / 1e6, data[at + 16:at + 16 + length]
        at += 16 + length


def machine_seconds(path, size):
    """From the first data that came to the guest to the last that it echoed, of the connection with `size` bytes."""
    began, ended, first = {}, {}, {}
    for moment, frame in frames(path):
        if frame[12:14] != b"\x08\x00" or frame[23] != 6:
            continue
        ip, tcp = frame[14:], frame[34:]
        length = int.from_bytes(ip[2:4], "big") - 20 - (tcp[12] >> 4) * 4
        if length <= 0:
            continue
        out = ip[12:16] == GUEST
        port = tcp[2:4] if out else tcp[0:2]
        began.setdefault(port, moment)
        if out:
            sequence = int.from_bytes(tcp[4:8], "big")
            first.setdefault(port, sequence)
            if (sequence + length - first[port]) % 2**32 >= size:
                ended.setdefault(port, moment)
    port = next(port for port in ended)
    return ended[port] - began[port]


def transfer(form, size, counted):
    """Bits a second, counted once, of `size` bytes there and back."""
    board, program = FORMS[form]
    record = ROOT / f"build/boards/{board}/{program}.bench.pcap"
    words = ["-icount", "shift=8", "-object", f"filter-dump,id=record,netdev=link,file={record}"] if counted else []
    boards.command = lambda board, nic, program: plain_command(board, nic + ",id=link", program) + words
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
    return size * 8 / (machine_seconds(record, size) if counted else took)


def compare(rounds, size, counted):
    found = {form: [] for form in FORMS}
    for _ in range(rounds):
        for form in FORMS:
            found[form].append(transfer(form, size, counted))
    return {form: statistics.median(values) for form, values in found.items()}


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    own, wall = compare(rounds, 400_000, True), compare(rounds, 2_000_000, False)
    ratio, wall_ratio = own["microkernel"] / own["monolithic"], wall["microkernel"] / wall["monolithic"]
    whole = json.loads(OUT.read_text()) if OUT.exists() else {}
    whole["microkernel_ratio"] = round(ratio, 3)
    whole["microkernel"] = {"bits_per_s": round(own["microkernel"]), "monolithic_bits_per_s": round(own["monolithic"]), "rounds": rounds,
                            "wall_ratio": round(wall_ratio, 3)}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(whole, indent=2) + "\n")
    print(f"microkernel: {own['microkernel'] / 1e6:.2f} Mbit/s at 3.9 million instructions a second, monolithic {own['monolithic'] / 1e6:.2f}: ratio {ratio:.3f} "
          f"(to reach: 0.60); as fast as QEMU translates {wall_ratio:.3f}")


main()
