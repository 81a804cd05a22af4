# SPDX-License-Identifier: BSD-2-Clause
"""A plot as SVG, by the standard library alone: what build/work and build/lab have beside their tables, and docs/results.md shows."""
import html
import math

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 340, 64, 190, 34, 56
COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#8a5fb0", "#b8860b", "#555555")


def marks(lowest, highest, logarithmic):
    """Where the lines across lie: powers of ten, or five steps of a round number."""
    if logarithmic:
        return [10.0 ** power for power in range(math.floor(math.log10(lowest)), math.ceil(math.log10(highest)) + 1)]
    rough = highest / 5 or 1
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= rough)
    return [step * number for number in range(math.ceil(highest / step) + 1)]


def plot(title, labels, series, unit, logarithmic=False, joined=True):
    """`labels` stand below; `series` is {name: values, one a label, None: there is none}; `joined`: by lines, where the labels are steps of one quantity."""
    values = [value for points in series.values() for value in points if value is not None and (value > 0 or not logarithmic)]
    across = marks(min(values, default=1), max(values, default=10), logarithmic)
    scale = math.log10 if logarithmic else float
    low, high = scale(across[0]), scale(across[-1])

    def x(at):
        return LEFT + (at + 0.5) * (WIDTH - LEFT - RIGHT) / len(labels)

    def y(value):
        return TOP + (high - scale(value)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', f'<text x="{LEFT}" y="18" font-size="14">{html.escape(title)}</text>']
    for mark in across:
        out.append(f'<path d="M{LEFT} {y(mark):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:,g}</text>')
    for at, label in enumerate(labels):
        out.append(f'<text x="{x(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{html.escape(str(label))}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{html.escape(unit)}</text>')
    for number, (name, points) in enumerate(series.items()):
        colour, apart = COLOURS[number % len(COLOURS)], 0 if joined else 8 * (number - (len(series) - 1) / 2)
        placed = [(x(at) + apart, y(value)) for at, value in enumerate(points) if value is not None and (value > 0 or not logarithmic)]
        if joined and placed:
            out.append(f'<path d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in placed)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="4" fill="{colour}"/>' for a, b in placed]
        out.append(f'<circle cx="{WIDTH - RIGHT + 16}" cy="{TOP + 18 * number + 8}" r="4" fill="{colour}"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 28}" y="{TOP + 18 * number + 12}">{html.escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
