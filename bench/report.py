# SPDX-License-Identifier: BSD-2-Clause
"""Tables on the terminal, plots, and build/bench/index.html, from what the two parts measured."""
import html
import operator
import os

import common

NAMES = {"weir": "Weir", "weir_frames": "Weir, a frame a call", "lwip": "lwIP", "smoltcp_64k": "smoltcp, 64 KiB", "smoltcp_1m": "smoltcp, 1 MiB",
         "linux": "Linux, offloads on", "linux_plain": "Linux, offloads off"}
COLOURS = {"weir": "#1b6ca8", "weir_frames": "#6fb1de", "lwip": "#c8553d", "smoltcp_64k": "#e0a030", "smoltcp_1m": "#f2cf83", "linux": "#555555",
           "linux_plain": "#aaaaaa"}
PAIR_ROWS = [
    ("insn_bulk", "instructions a segment, in place"), ("insn_copy", "instructions a segment, copying"), ("ns_bulk", "ns a segment, in place"),
    ("ns_copy", "ns a segment, copying"), ("frames_bulk", "frames a segment"), ("insn_echo", "instructions a 1-byte echo"), ("ns_echo", "ns a 1-byte echo"),
    ("insn_connect_0", "instructions a connection, alone"), ("insn_connect_1000", "… beside 1,000 open"), ("insn_connect_10000", "… beside 10,000"),
    ("insn_connect_100000", "… beside 100,000"), ("ns_connect_0", "ns a connection, alone"), ("ns_connect_1000", "… beside 1,000 open"),
    ("ns_connect_10000", "… beside 10,000"), ("ns_connect_100000", "… beside 100,000"), ("bytes_idle", "bytes an idle connection, buffers included"),
]
HOST_ROWS = [("sink", "Linux → stack, Mbit/s"), ("source", "stack → Linux, Mbit/s"), ("echo", "1-byte echoes a second"), ("connect", "connections a second"),
             ("echo_one_core", "1-byte echoes a second, client on the same core"), ("connect_one_core", "connections a second, client on the same core")]
CPU_ROWS = [("sink", "CPU time of the stack, ns for 1460 bytes in"), ("source", "… 1460 bytes out"), ("echo", "… an echo"), ("connect", "… a connection"),
            ("echo_one_core", "… an echo, client on the same core"), ("connect_one_core", "… a connection, client on the same core")]
PAIR_PLOTS = [("insn_bulk", "instructions a segment"), ("ns_bulk", "ns a segment"), ("insn_echo", "instructions an echo"), ("ns_echo", "ns an echo")]


def columns(part, figures):
    return {"weir": figures["weir"], **figures["peers"]} if part == "pair" else figures["medians"]


def rows(part, figures):
    """The table: a heading row, then a row of text for each quantity."""
    stacks = columns(part, figures)
    yield ["", *(NAMES[stack] for stack in stacks)]
    for key, label in PAIR_ROWS if part == "pair" else HOST_ROWS:
        values = [stacks[stack].get(key) for stack in stacks]
        if any(value is not None for value in values):
            yield row(label, values)
    for key, label in CPU_ROWS if "cpu_ns" in figures else ():
        yield row(label, [figures["cpu_ns"].get(stack, {}).get(key) for stack in stacks])


def row(label, values):
    return [label, *("–" if value is None else f"{value:,.2f}" if value < 10 else f"{value:,.0f}" for value in values)]


def goals(figures):
    """(name, value, goal, reached or None) of each figure that stands at the top of the JSON."""
    compare = {"<=": operator.le, ">=": operator.ge}
    for name, value in figures.items():
        if not isinstance(value, (int, float)) or name in ("rounds", "milliseconds"):
            continue
        goal = figures["goals"].get(name)
        reached = compare[goal.split()[0]](value, float(goal.split()[1])) if goal else None
        yield name, value, goal or "", reached


def machine_text(figures):
    machine, load = figures["machine"], figures["load"]
    return (f"{machine['cpus']} × {machine['cpu']}, {machine['mhz']} MHz, virtual: {machine['virtual']}, Linux {machine['kernel']}, {machine['compiler']}, "
            f"{machine['rust']}, lwIP {machine['lwip']}, smoltcp {machine['smoltcp']}; load before and after: {load[0]}, {load[1]}; {machine['date']}")


def terminal(found):
    for part, figures in found.items():
        table = list(rows(part, figures))
        widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
        print(f"\n{part}: {machine_text(figures)}\n")
        for row in table:
            print("  " + row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])))
        print()
        for name, value, goal, reached in goals(figures):
            verdict = {None: "", True: "reached", False: "NOT REACHED"}[reached]
            print(f"  {name:<28} {value:>14,}  {goal:<10} {verdict}")
    print(f"\n{common.shown([common.OUT / 'index.html'])}")


def plot(part, figures):
    os.environ.setdefault("MPLCONFIGDIR", str(common.OUT / "matplotlib"))
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    stacks = columns(part, figures)
    panels = PAIR_PLOTS if part == "pair" else HOST_ROWS
    figure, axes = pyplot.subplots(2, 2, figsize=(11, 7))
    for axis, (key, label) in zip(axes.flat, panels):
        names = list(stacks)[::-1]
        values = [stacks[name][key] for name in names]
        rounds = [figures["all"][name][key] if part == "host" else [] for name in names]   # so that the spread is seen
        axis.barh([NAMES[name] for name in names], values, color=[COLOURS[name] for name in names])
        for at, (value, dots) in enumerate(zip(values, rounds)):
            axis.plot(dots, [at] * len(dots), "k.", markersize=3)
            axis.annotate(f"{value:,.0f}", (max([value, *dots]), at), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8)
        axis.locator_params(axis="x", nbins=5)
        axis.set_title(label + (" (less is better)" if part == "pair" else " (more is better)"), fontsize=10)
        axis.margins(x=0.18)
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(common.OUT / f"{part}.png", dpi=110)
    pyplot.close(figure)


TITLES = {"pair": "Two stacks back to back in memory", "host": "One process on a TAP, Linux at the other end"}
PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Weir: measured beside its peers</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #ddd}
th:first-child,td:first-child{text-align:left}td:nth-child(2){font-weight:600}img{max-width:100%%}code{font-size:.8rem}.no{color:#b00}.yes{color:#070}
small{color:#555}
</style><h1>Weir, measured beside its peers</h1>
%s
</html>
"""


def web(found):
    parts = []
    for part, figures in found.items():
        plot(part, figures)
        head, *body = rows(part, figures)
        parts.append(f"<h2>{TITLES[part]}</h2><p><small>{html.escape(machine_text(figures))}</small></p>")
        parts.append(f'<p><img src="{part}.png" alt="{TITLES[part]}: bars"></p><div class="wide"><table><tr>{cells("th", head)}</tr>')
        parts.extend(f"<tr>{cells('td', row)}</tr>" for row in body)
        parts.append('</table></div><div class="wide"><table><tr><th>figure<th>value<th>goal<th>')
        for name, value, goal, reached in goals(figures):
            verdict = {None: "", True: '<span class="yes">reached</span>', False: '<span class="no">not reached</span>'}[reached]
            parts.append(f"<tr><td>{name}<td>{value:,}<td>{html.escape(goal)}<td>{verdict}")
        parts.append("</table></div><h3>Commands</h3><ul>")
        parts.extend(f"<li>{name}: <code>{html.escape(command)}</code>" for name, command in figures["commands"].items())
        parts.append("</ul>")
        if "note" in figures:
            parts.append(f"<p><small>{html.escape(figures['note'])}</small></p>")
    (common.OUT / "index.html").write_text(PAGE % "\n".join(parts))


def cells(tag, row):
    return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)
