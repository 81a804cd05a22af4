# SPDX-License-Identifier: BSD-2-Clause
"""build/lab/index.html: tables, plots, and the command behind each; index.md: the tables, as docs/results.md has them."""
import collections
import csv
import html
import itertools
import os
import sys

from runs import OUT, ROOT

os.environ.setdefault("MPLCONFIGDIR", str(OUT / "matplotlib"))
import matplotlib  # noqa: E402

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

sys.path.insert(0, str(ROOT / "tools"))
import svg_plot  # noqa: E402

STYLE = """body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}td,th{padding:.15em .8em;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}
td:first-child,th:first-child{text-align:left}img{max-width:100%}code{background:#f3f3f3;padding:.1em .3em;overflow-wrap:anywhere}pre{background:#f3f3f3;padding:.5em;overflow-x:auto}.bad{color:#a40000}"""
SHOWN = 2   # seconds of a time–sequence plot


def distance(number, first):
    """MB from one sequence number to another."""
    return ((number - first) & 0xffffffff) / 1e6


class Page:
    def __init__(self, heading):
        self.markdown = [f"# {heading}"]
        self.parts = [f"<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><title>{heading}</title><style>{STYLE}</style><h1>{heading}</h1>"]

    def section(self, title, text):
        self.parts.append(f"<h2>{html.escape(title)}</h2><p>{html.escape(text)}</p>")
        self.markdown += [f"## {title}", text]

    def text(self, text):
        self.parts.append(f"<p>{html.escape(text)}</p>")

    def command(self, text):
        self.parts.append(f"<p><code>{html.escape(text)}</code></p>")

    def commands(self, runs):
        """{what: runs, the first of which stands for all}: what each started, in the namespace that stands before it (lab/net.py)."""
        lines = {what: next((run.commands() for run in found if run.commands()), []) for what, found in runs.items()}
        shown = "\n\n".join("\n".join([f"# {what}", *started]) for what, started in lines.items() if started)
        self.parts.append(f"<details><summary>The commands behind each, of its first run</summary><pre>{html.escape(shown)}</pre></details>")

    def table(self, rows):
        def line(cells, tag):
            return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"
        self.parts.append("<table>" + line(rows[0], "th") + "".join(line(row, "td") for row in rows[1:]) + "</table>")
        self.markdown.append("\n".join(f"| {' | '.join(map(str, row))} |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:])))

    def plot(self, name, title):
        pyplot.title(title)
        pyplot.tight_layout()
        pyplot.savefig(OUT / f"{name}.png", dpi=110)
        pyplot.close()
        self.parts.append(f"<p><img src='{name}.png' alt='{html.escape(title)}'></p>")

    def curves(self, name, title, x, y, series, log=False):
        pyplot.figure(figsize=(9, 4.5))
        for (label, points), marker in zip(series.items(), itertools.cycle("os^vD*xP")):
            if points:
                pyplot.plot(*zip(*points), marker=marker, markersize=3, linewidth=1, linestyle="--" if label.startswith("Linux") else "-", label=label)
        if log:
            pyplot.yscale("log")
        pyplot.xlabel(x)
        pyplot.ylabel(y)
        pyplot.grid(alpha=0.3)
        pyplot.legend(fontsize=7, ncol=2)
        self.plot(name, title)

    def svg(self, name, title, *words, **more):
        """What docs/results.md shows, too: tools/svg_plot.py's plot."""
        (OUT / f"{name}.svg").write_text(svg_plot.plot(title, *words, **more))
        self.parts.append(f"<p><img src='{name}.svg' alt='{html.escape(title)}'></p>")

    def trace_plots(self, real, rate, loss):
        """Time and sequence number of what entered the link, of the runs that have a trace."""
        for end, cc in sorted({(end, cc) for end, cc, r, at in real if r == rate and at == loss}):
            file = OUT / "traces" / f"{end}-{cc}-{rate}-{loss:g}.csv"
            if file.exists():
                self.time_sequence(f"sequence-{end}-{cc}", f"{end}, {cc}: the first two seconds at {rate} Mbit/s, {loss:g} % loss", file)

    def time_sequence(self, name, title, file):
        """What entered the link, and whether it ever left: a line is seconds, end, in or out, ports, sequence number, length, acknowledgement."""
        with open(file, newline="") as lines:
            rows = [row for row in csv.reader(lines) if len(row) == 8]
        entered = [row for row in rows if row[1:3] == ["0", "in"] and int(row[6])]
        flows = collections.Counter()
        for row in entered:
            flows[row[3], row[4]] += int(row[6])
        if not flows:
            return
        flow = flows.most_common(1)[0][0]
        entered = [row for row in entered if (row[3], row[4]) == flow]
        began, first = float(entered[0][0]), int(entered[0][5])
        arrived = collections.Counter((row[5], row[6]) for row in rows if row[1:3] == ["1", "out"] and (row[3], row[4]) == flow)
        points = {"passed": [], "lost": []}
        for row in reversed(entered):   # of several with the same number the last ones have arrived
            fate = "passed" if arrived[row[5], row[6]] > 0 else "lost"
            arrived[row[5], row[6]] -= 1
            if float(row[0]) - began < SHOWN:
                points[fate].append((float(row[0]) - began, distance(int(row[5]), first)))
        pyplot.figure(figsize=(9, 4.5))
        for fate, size, colour in (("passed", 2, "#1b6ca8"), ("lost", 5, "#c8553d")):
            if points[fate]:
                pyplot.plot(*zip(*points[fate]), ".", markersize=size, color=colour, label=fate)
        acks = [(float(row[0]) - began, distance(int(row[7]), first)) for row in rows if row[1:3] == ["0", "out"] and (row[4], row[3]) == flow]
        acks = [(at, value) for at, value in acks if 0 <= at < SHOWN and value < 2000]
        if acks:
            pyplot.plot(*zip(*acks), "-", linewidth=0.7, color="#555555", label="acknowledged")
        pyplot.xlabel("s")
        pyplot.ylabel("MB")
        pyplot.legend(fontsize=7)
        self.plot(name, title)

    def failures(self, reasons):
        if reasons:
            self.parts.append("<h2 class=bad>What failed</h2>")
            self.table([["why", "runs", "the first"], *([why, len(keys), str(keys[0])] for why, keys in reasons.items())])

    def write(self):
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / "index.html").write_text("\n".join(self.parts) + "\n")
        (OUT / "index.md").write_text("\n\n".join(self.markdown) + "\n")
