#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make bench-realtime: the real-time work's benchmark, and what grew out of it. Each part measures and returns figures; all parts' figures
are one object in build/bench/realtime.json, where a part that was not asked for keeps what it had. docs/realtime.md says what is measured.

A part is a module beside this file, PART_part.py, with
    measure() -> dict     figures, nested by the dots of their names: {"paper": {"weir": {"10": 99.9}}}
    GOALS                 {"paper.weir.10": (">=", 99.9)}: what each is held to
    tables(figures)       yields (title, rows): a heading row and rows of text
    plots(figures, folder)  writes PNG files there; yields (file name, title)

usage: bench/realtime/run.py [PART …]
Exit status: 0 when all that was asked for was measured, whether or not a figure reached its goal; 1 with the reason otherwise."""
import html
import importlib
import json
import operator
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(HERE)]
import common  # noqa: E402

FILE = common.OUT / "realtime.json"
FOLDER = common.OUT / "realtime"
COMPARE = {">=": operator.ge, "<=": operator.le}


def parts():
    """All there are: the fast ones first, and last those that need root."""
    names = sorted(path.name.removesuffix("_part.py") for path in HERE.glob("*_part.py"))
    order = ["sim", "weir", "boards"]
    return sorted(names, key=lambda name: (order.index(name) if name in order else len(order), name))


SHARED = ("voice", "measured")   # of several parts; all else is one part's, and new as a whole when that is measured


def merge(into, figures):
    for name, value in figures.items():
        if name in SHARED:
            into.setdefault(name, {}).update(value)
        else:
            into[name] = value


def figure(figures, name):
    """The value of a dotted name (whose last word may hold dots itself: "10.0"); None: not measured."""
    for key in name.split("."):
        if not isinstance(figures, dict) or key not in figures:
            return None
        figures = figures[key]
    return figures


def goals(module, figures):
    for name, (sign, goal) in module.GOALS.items():
        value = figure(figures, name)
        if value is not None:
            yield name, value, f"{sign} {goal}", COMPARE[sign](value, goal)


def terminal(module, figures):
    for title, rows in module.tables(figures):
        rows = [[str(cell) for cell in row] for row in rows]
        widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
        print(f"\n{title}\n")
        for row in rows:
            print("  " + row[0].ljust(widths[0]) + "".join("  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])))
    print()
    for name, value, goal, reached in goals(module, figures):
        print(f"  {name:<42} {value:>10}  {goal:<10} {'reached' if reached else 'NOT REACHED'}")


def section(module, figures):
    body = [f'<p><img src="realtime/{name}" alt="{html.escape(title)}"></p>' for name, title in module.plots(figures, FOLDER)]
    for title, rows in module.tables(figures):
        head, *rest = [[html.escape(str(cell)) for cell in row] for row in rows]
        body.append(f"<h3>{html.escape(title)}</h3><table><tr><th>{'<th>'.join(head)}</tr>")
        body += [f"<tr><td>{'<td>'.join(row)}</tr>" for row in rest]
        body.append("</table>")
    body.append("<h3>Goals</h3><table><tr><th>figure<th>value<th>goal<th></tr>")
    body += [f"<tr><td>{name}<td>{value}<td>{html.escape(goal)}<td>{'reached' if reached else '<b>not reached</b>'}</tr>"
             for name, value, goal, reached in goals(module, figures)]
    return [*body, "</table>"]


def web(modules, figures):
    body = []
    for module in modules:
        body.append(f"<h2>{html.escape(module.TITLE)}</h2>")
        try:
            body += section(module, figures)
        except KeyError as name:
            body.append(f"<p>Measured before there was {html.escape(str(name))}: to be measured anew.</p>")
    style = ("body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#222}table{border-collapse:collapse;margin:1rem 0}"
             "th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #ddd}th:first-child,td:first-child{text-align:left}img{max-width:100%}b{color:#b00}")
    (common.OUT / "realtime.html").write_text(
        f'<!doctype html>\n<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Weir: real-time TCP</title><style>{style}</style><h1>Real-time TCP</h1>\n" + "\n".join(body) + "\n</html>\n")


def main(words):
    known = parts()
    if any(word not in known for word in words):
        sys.exit(f"{__doc__}\nparts: {' '.join(known)}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("MPLCONFIGDIR", str(common.OUT / "matplotlib"))
    figures = {}
    modules = {name: importlib.import_module(name + "_part") for name in known}
    for name in words or known:
        measured = modules[name].measure()
        figures = json.loads(FILE.read_text()) if FILE.exists() else {}   # another part may have been measured meanwhile
        merge(figures, {**measured, "measured": {name: time.strftime("%Y-%m-%d %H:%M")}})
        FILE.write_text(json.dumps(figures, indent=2) + "\n")
        terminal(modules[name], figures)
    web([modules[name] for name in known if name in figures["measured"]], figures)
    print(f"\n{common.shown([FILE])} {common.shown([common.OUT / 'realtime.html'])}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except common.Failed as failure:
        sys.exit(f"bench-realtime: {failure}")
