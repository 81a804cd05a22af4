#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make size-lyraos: table 3 of LyraOS's paper (object code of each file of its TCP layer) with the component's files beside it, as they stand in
docs/lyraos.md. Which of ours is counted with which of the paper's is said by PAPER: of src/tcp the first row takes what no other names."""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
TCP = "src/tcp"
# The paper's file → (its bytes, ours: a folder, and the names of files in it).
PAPER = {
    "tcp.c": (15182, TCP, ()),
    "tcp_input.c": (12528, TCP, "input ack receive predict sack dsack recovery rack ecn ecn_offer accecn frto undo prr rate rtt congestion hystart reply realtime".split()),
    "tcp_output.c": (10699, TCP, "output plan template flight held pacing tlp rtx_probe cwv timestamps".split()),
    "tcp_timer.c": (2481, TCP, "timers coarse deadline".split()),
    "kern_inf.c": (1447, "api/lyraos", ["calls"]),
    "select.c": (2481, "api/lyraos", ["select"]),
}


def code(objects):
    lines = subprocess.run(["size", *objects], capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    return sum(int(line.split()[0]) for line in lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    named = {name for _, _, names in PAPER.values() for name in names}
    total = [0, 0]
    print("| the paper's file | bytes | Weir's files | how many | bytes |\n| --- | --- | --- | --- | --- |")
    for file, (bytes_then, place, names) in PAPER.items():
        own = [folder / place / f"{name}.o" for name in names] or [path for path in sorted((folder / place).glob("*.o")) if path.stem not in named]
        bytes_now = code(own)
        total = [total[0] + bytes_then, total[1] + bytes_now]
        what = f"{place}: " + (f"{names[0]}.c …" if len(names) > 1 else f"{names[0]}.c" if names else "the rest")
        print(f"| {file} | {bytes_then:,} | {what} | {len(own)} | {bytes_now:,} |")
    print(f"| together | {total[0]:,} | | | {total[1]:,} |")
    print(f"\nthe whole component: {code([folder / 'component.o']):,} bytes")


if __name__ == "__main__":
    main()
