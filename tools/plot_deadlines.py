#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plots the log of weir-host's `play … log=FILE`, or what a board's player showed on its console (examples/firmware/player.c): for each frame
how long before its deadline it was there. Those below the line were late or never came.
usage: tools/plot_deadlines.py LOG.csv OUT.svg, or CONSOLE.log OUT.svg voice|video for the last stream of that name"""
import csv
import re
import sys

WIDTH, HEIGHT, LEFT, TOP = 960, 320, 60, 30
COLOURS = {"met": "#1b6ca8", "late": "#e0a030", "skipped": "#c8553d"}


def of_log(path):
    """(verdict, ms to spare) of each frame."""
    return [(row["verdict"], float(row["deadline_ms"]) - float(row["told_ms"])) for row in csv.DictReader(open(path))]


def of_console(path, name):
    found = []
    for first, words in re.findall(rf"^{name}, ms to spare from frame (\d+):([-\d ]*)", open(path, errors="replace").read(), re.M):
        if int(first) == 0:
            found = []
        found += [("skipped", 0) if word == "-" else ("late" if int(word) < 0 else "met", int(word)) for word in words.split()]
    return found


def main(log, out, name=None):
    rows = of_console(log, name) if name else of_log(log)
    if not rows:
        sys.exit(f"{log}: no frames{f' of {name}' if name else ''}")
    spare = [ms for _, ms in rows]
    top, bottom = max([*spare, 1]), min([*spare, -1])
    last = max(len(rows) - 1, 1)

    def x(number):
        return LEFT + number * (WIDTH - LEFT - 20) / last

    def y(ms):
        return TOP + (top - ms) * (HEIGHT - 2 * TOP) / (top - bottom)

    counts = {verdict: sum(found == verdict for found, _ in rows) for verdict in COLOURS}
    title = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="18">{len(rows)} frames: {title}</text>',
             f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y(0):.1f}" y2="{y(0):.1f}" stroke="#999"/>',
             *(f'<text x="{LEFT - 6}" y="{y(ms) + 4:.1f}" text-anchor="end">{ms:.0f} ms</text>' for ms in ((top, 0, bottom) if bottom < -top / 12 else (top, 0))),
             *(f'<circle cx="{x(number):.1f}" cy="{y(ms):.1f}" r="{1.5 if verdict == "met" else 3}" fill="{COLOURS[verdict]}"/>'
               for number, (verdict, ms) in enumerate(rows)),
             f'<text x="{WIDTH - 20}" y="{HEIGHT - 8}" text-anchor="end">frame {len(rows)}; above the line: time to spare</text></svg>']
    with open(out, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    main(*sys.argv[1:])
