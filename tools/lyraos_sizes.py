#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make size-lyraos: table 3 of LyraOS's paper (object code of each file of its TCP layer) with the component's files beside it, as they stand in
docs/lyraos.md. Which of ours is counted with which of the paper's is said by PAPER: of src/tcp the first row takes what no other names.
tools/work.py has the rows of TCP of the host's build."""
import pathlib
import re
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
    found = subprocess.run(["size", "-A", *objects], capture_output=True, text=True, check=True).stdout
    return sum(int(size) for size in re.findall(r"^\.(?:text|rodata)\S*\s+(\d+)", found, re.MULTILINE))


def rows(folder, places):
    """The paper's file, its bytes, what of ours in one of the places, how many files, their bytes. An object whose source is gone is not counted."""
    named = {name for _, _, names in PAPER.values() for name in names}
    for file, (bytes_then, place, names) in PAPER.items():
        if place not in places:
            continue
        rest = [folder / place / f"{source.stem}.o" for source in sorted((ROOT / place).glob("*.c")) if source.stem not in named]
        own = [folder / place / f"{name}.o" for name in names] or [path for path in rest if path.exists()]
        what = f"{place}: " + (f"{names[0]}.c …" if len(names) > 1 else f"{names[0]}.c" if names else "the rest")
        yield file, bytes_then, what, len(own), code(own)


def main():
    folder = pathlib.Path(sys.argv[1])
    found = list(rows(folder, (TCP, "api/lyraos")))
    print("| the paper's file | bytes | Weir's files | how many | bytes |\n| --- | --- | --- | --- | --- |")
    for file, bytes_then, what, count, bytes_now in found:
        print(f"| {file} | {bytes_then:,} | {what} | {count} | {bytes_now:,} |")
    print(f"| together | {sum(row[1] for row in found):,} | | | {sum(row[4] for row in found):,} |")
    print(f"\nthe whole component: {code([folder / 'component.o']):,} bytes")


if __name__ == "__main__":
    main()
