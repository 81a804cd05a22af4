#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Plots the log of weir-host's `play … log=FILE`: for each frame how long before its deadline it was there. Those below the line were late or
never came. usage: tools/plot_deadlines.py LOG.csv OUT.svg"""
import csv
import sys

WIDTH, HEIGHT, LEFT, TOP = 960, 320, 60, 30
COLOURS = {"met": "#1b6ca8", "late": "#e0a030", "skipped": "#c8553d"}


def main(log, out):
    rows = list(csv.DictReader(open(log)))
    spare = [float(row["deadline_ms"]) - float(row["told_ms"]) for row in rows]
    top, bottom = max([*spare, 1]), min([*spare, -1])
    last = max(len(rows) - 1, 1)

    def x(number):
        return LEFT + number * (WIDTH - LEFT - 20) / last

    def y(ms):
        return TOP + (top - ms) * (HEIGHT - 2 * TOP) / (top - bottom)

    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in COLOURS}
    title = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/><text x="{LEFT}" y="18">{len(rows)} frames: {title}</text>',
             f'<line x1="{LEFT}" x2="{WIDTH - 20}" y1="{y(0):.1f}" y2="{y(0):.1f}" stroke="#999"/>',
             *(f'<text x="{LEFT - 6}" y="{y(ms) + 4:.1f}" text-anchor="end">{ms:.0f} ms</text>' for ms in (top, 0, bottom)),
             *(f'<circle cx="{x(number):.1f}" cy="{y(ms):.1f}" r="{1.5 if row["verdict"] == "met" else 3}" fill="{COLOURS[row["verdict"]]}"/>'
               for number, (row, ms) in enumerate(zip(rows, spare))),
             f'<text x="{WIDTH - 20}" y="{HEIGHT - 8}" text-anchor="end">frame {len(rows)}; above the line: time to spare</text></svg>']
    with open(out, "w") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
