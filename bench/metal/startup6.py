#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""From link up to the first byte of HTTP over IPv6 with an address by SLAAC, in virtual time: a host on one interface of malta in QEMU, its router and client
on the board's other one (startup6.c). An instruction takes 32 ns, and while the processor sleeps the clock moves to the next deadline at once (-icount
shift=5,sleep=off), so that what is measured is what the host does and waits for, on every computer. Writes the longest of ten times, ms, into
build/bench/metal.json: startup6.dad_ms with duplicate address detection and the random delay before it, alone_ms without the delay, optimistic_ms with neither
(RFC 4429).

    bench/metal/startup6.py"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import metal_json  # noqa: E402
from boards import BOARDS, elf  # noqa: E402

BOARD = "malta"
LIMITS_MS = {"dad": 1200, "alone": None, "optimistic": 100}


def measure():
    """ms of each start, by its kind."""
    cards = [word for number in range(2) for word in ("-nic", f"hubport,hubid=0,id=card{number},model={BOARDS[BOARD].nic}")]
    words = ["timeout", "120", *BOARDS[BOARD].machine, "-nographic", "-monitor", "none", "-serial", "stdio", "-icount", "shift=5,sleep=off",
             "-kernel", str(elf(BOARD, "startup6")), *cards]
    said = []
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as machine:
        for line in machine.stdout:
            said.append(line)
            if line.startswith("startup6 end"):
                break
        machine.terminate()
    found = {name: [int(us) / 1000 for us in numbers.split()] for name, numbers in re.findall(r"^startup6 (\w+)((?: \d+)+)\s*$", "".join(said), re.M)}
    if set(found) != set(LIMITS_MS) or not all(all(times) for times in found.values()):
        raise SystemExit(f"{BOARD}: not every start came to its first byte: {''.join(said)!r}")
    return found


def main():
    found = measure()
    longest = {name: round(max(times), 2) for name, times in found.items()}
    for name, times in found.items():
        limit = f", limit {LIMITS_MS[name]}" if LIMITS_MS[name] else ""
        print(f"{BOARD}, {name}: {longest[name]} ms of virtual time from link up to the first byte, the longest of {', '.join(f'{ms:.1f}' for ms in times)}{limit}")
    metal_json.keep({"startup6": {f"{name}_ms": ms for name, ms in longest.items()}})
    return any(limit and longest[name] > limit for name, limit in LIMITS_MS.items())


if __name__ == "__main__":
    sys.exit(main())
