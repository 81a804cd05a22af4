# SPDX-License-Identifier: BSD-2-Clause
"""Tables and plots of `make peers`: tables.md and goodput.svg, which docs/peers.md shows, and index.html with both."""
import html
import math
import statistics

NAMES = {"weir": "Weir", "linux": "Linux", "gvisor": "gVisor", "lwip": "lwIP", "smoltcp": "smoltcp"}
COLOURS = {"weir": "#1b6ca8", "linux": "#555555", "gvisor": "#3f9c5a", "lwip": "#c8553d", "smoltcp": "#e0a030"}
PLOTTED = "sender, 100 Mbit/s, 20 ms"   # over its losses
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 340, 60, 110, 20, 45


def good(runs):
    return [run for run in runs if "failed" not in run]


def spread(values):
    """The median, and the least and the most."""
    return f"{statistics.median(values):.3g} ({min(values):.2g}–{max(values):.2g})"


def goodput(runs):
    values = [run["mbit"] for run in good(runs)]
    return spread(values) if values else "–"


def again(runs):
    """Percent of the frames with data that had been sent before."""
    shares = [100 * run["again"] / run["frames"] for run in good(runs) if run.get("frames")]
    return f"{statistics.median(shares):.1f}" if shares else "–"


def cost(runs):
    values = [run["cpu_ns_per_kb"] for run in good(runs) if run["cpu_ns_per_kb"]]
    return f"{statistics.median(values) / 1000:.1f}" if values else "–"


def idle(runs):
    """What is not set aside beforehand."""
    return bytes_each(runs, "idle")


def used(runs):
    return bytes_each(runs, "used")


def bytes_each(runs, which):
    """Of Linux, whose connections no process holds, see kernel()."""
    values = [run[which] for run in good(runs) if run.get(which, 0) > 0]
    return f"{statistics.median(values):,.0f}" if values else "–"


def before(runs):
    values = [run["before"] for run in good(runs)]
    return f"{statistics.median(values) / 1000:,.0f}" if values else "–"


def kernel(runs):
    values = [run["slab"] for run in good(runs)]
    return f"{statistics.median(values):,.0f}" if values else "–"


def times(runs):
    values = sorted(ms for run in good(runs) for ms in run["ms"])
    return f"{statistics.median(values):.0f} / {values[math.ceil(len(values) * 0.95) - 1]:.0f}" if values else "–"


def rows(cells, what, show):
    """A row for each cell of the kind: the link, then a value of each stack; how many runs failed stands behind it."""
    for name, stacks in cells.items():
        if not name.startswith(f"{what}, "):
            continue
        values = []
        for stack in NAMES:
            runs = stacks.get(stack, [])
            failed = len(runs) - len(good(runs))
            values.append(show(runs) + (f", {failed} failed" if failed else ""))
        yield [label(name), *values]


def label(name):
    """Of a cell, short: the table's head says what the first two numbers are."""
    link = name.split(", ", 1)[1]
    if " ms" not in link:
        return link
    for long, short in ((" Mbit/s, ", " / "), (" ms", ""), ("buffers ", "")):
        link = link.replace(long, short, 1)
    return link


TABLES = [
    ("Goodput as the sender, Mbit/s: median (least–most)", "sender", goodput),
    ("Of the sender's frames with data, those sent before, percent (median)", "sender", again),
    ("Goodput towards itself, Mbit/s: median (least–most)", "self", goodput),
    ("Goodput as the receiver, Linux sending, Mbit/s: median (least–most)", "receiver", goodput),
    ("The first 100,000 bytes from the stack, ms from the SYN: median / 95th percentile", "object", times),
    ("Processor time of the stack's process as the sender, µs for 1,000 bytes (median)", "sender", cost),
    ("Processor time of the stack's process as the receiver, µs for 1,000 bytes (median)", "receiver", cost),
    ("Memory of the stack's process before, KB: what is set aside for all connections included", "memory", before),
    ("Memory of the stack's process for a connection that was opened and rests, bytes", "memory", idle),
    ("Memory of the stack's process for one that rests after a byte there and back, bytes", "memory", used),
    ("Memory of the kernel for one, Linux's other end included, bytes", "memory", kernel),
]


def tables(result):
    for title, what, show in TABLES:
        body = list(rows(result["cells"], what, show))
        if body:
            yield f"{title}. {measured(result['cells'], what)}", ["" if what == "memory" else "Mbit/s / ms", *NAMES.values()], body


def measured(cells, what):
    """When: a table may be of runs that were kept from other days."""
    days = sorted({run["date"] for name, stacks in cells.items() if name.startswith(f"{what}, ") for runs in stacks.values() for run in runs})
    return "Measured " + (days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}")


def markdown(result):
    parts = []
    for title, head, body in tables(result):
        parts += [f"{title}:", "", "| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
        parts += ["| " + " | ".join(row) + " |" for row in body] + [""]
    return "\n".join(parts)


def plot(cells):
    """Goodput over loss, by a logarithmic scale; a point is a median, a line behind it goes from the least to the most."""
    losses, series = [], {stack: [] for stack in NAMES}
    for name, stacks in cells.items():
        if name != PLOTTED and not (name.startswith(f"{PLOTTED}, loss ") and name.count(",") == 3):
            continue
        losses.append("0" if name == PLOTTED else name.rsplit(" ", 2)[1])
        for stack in NAMES:
            series[stack].append([run["mbit"] for run in good(stacks.get(stack, []))])
    lowest, highest = math.log10(0.2), 2.0

    def across(at):
        return LEFT + at * (WIDTH - LEFT - RIGHT) / max(len(losses) - 1, 1)

    def up(mbit):
        return TOP + (highest - math.log10(max(mbit, 0.2))) / (highest - lowest) * (HEIGHT - TOP - BOTTOM)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>']
    for mbit in (0.2, 1, 10, 100):
        out.append(f'<path d="M{LEFT} {up(mbit):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{up(mbit) + 4:.1f}" text-anchor="end">{mbit:g}</text>')
    for at, loss in enumerate(losses):
        out.append(f'<text x="{across(at):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{loss} %</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">random loss; goodput in Mbit/s, 100 Mbit/s, 20 ms</text>')
    for number, (stack, points) in enumerate(series.items()):
        placed = [(across(at) + 3 * number - 6, values) for at, values in enumerate(points) if values]
        line = "L".join(f"{x:.1f} {up(statistics.median(values)):.1f}" for x, values in placed)
        bars = "".join(f"M{x:.1f} {up(min(values)):.1f}V{up(max(values)):.1f}" for x, values in placed)
        out.append(f'<path d="M{line}{bars}" fill="none" stroke="{COLOURS[stack]}" stroke-width="2"/>')
        out.append(f'<text x="{WIDTH - RIGHT + 16}" y="{TOP + 18 * (number + 1)}" fill="{COLOURS[stack]}">{NAMES[stack]}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def web(result, picture):
    parts = ["<!doctype html><html lang=en><meta charset=utf-8><title>Weir beside its peers</title>",
             "<style>body{font:16px/1.5 sans-serif;max-width:70rem;margin:2rem auto}td,th{padding:.2rem .6rem;text-align:left}svg{max-width:40rem}</style>",
             f"<h1>Weir beside its peers</h1><p>{html.escape(str(result['versions']))}, {result['seeds']} seeds of {result['seconds']:g} s, "
             f"load {result['load']}, {html.escape(result['machine']['cpu'])}</p>", picture]
    for title, head, body in tables(result):
        parts.append(f"<h2>{html.escape(title)}</h2><table><tr>" + "".join(f"<th>{html.escape(cell)}" for cell in head))
        parts += ["<tr>" + "".join(f"<td>{html.escape(cell)}" for cell in row) for row in body] + ["</table>"]
    return "\n".join(parts)


def write(result, out):
    picture = plot(result["cells"])
    (out / "goodput.svg").write_text(picture)
    (out / "tables.md").write_text(markdown(result))
    (out / "index.html").write_text(web(result, picture))
