# SPDX-License-Identifier: BSD-2-Clause
"""What run.py found: tables on the terminal, metal.png, and metal.html. What others measured is quoted, and labelled so."""
import html
import operator
import os
import pathlib
import statistics

import common

# Cortex-M3, gcc 12 -Os, whole images with a memory MAC, 2.5 GHz Xeon's QEMU; Romantiki: its paper, ARM7. RAM without the stack where "+ stack".
QUOTED = [
    ("uIP 1.0, no OS, one segment in flight", 4808, "1,328 + stack", 1320, 8636, "quoted: measured elsewhere by the same method"),
    ("lwIP 2.2 raw, no OS, smallest", 17184, "5,676 + stack", 2403, 6316, "quoted: measured elsewhere by the same method"),
    ("lwIP 2.2 sockets, FreeRTOS", 28668, "14,556 + stack", 5528, 10749, "quoted: measured elsewhere by the same method"),
    ("Romantiki with its OS", 14396, 8064, None, None, "quoted: its paper, ARM7"),
]
MEASURED = [
    ("tiny_echo", "Weir tiny, cooperative kernel, blocking calls"), ("tiny6_echo", "the same over IPv6"),
    ("small_echo", "Weir small, preemptive kernel, BSD sockets"),
    ("lwip_raw", "lwIP raw, no OS"), ("lwip_raw_lto", "lwIP raw, no OS; -flto, our memcpy and sum"),
]
GOALS = [
    ("tiny_echo.code", "<=", 9216), ("tiny_echo.ram", "<=", 4096), ("tiny_echo.insn_1", "<=", 1300), ("tiny_echo.insn_512", "<=", 3000),
    ("tiny6_echo.code", "<=", 11264), ("tiny6_echo.ram", "<=", 5120), ("tiny6_echo.insn_1", "<=", 1600), ("tiny6_echo.insn_512", None, None),
    ("small_echo.code", "<=", 36864), ("small_echo.ram", "<=", 12288), ("small_echo.insn_1", "<=", 3000), ("lwip_raw.insn_1", None, None), ("lwip_raw.insn_512", None, None),
    ("lyra.component.virtio.send", ">=", 1.5), ("lyra.component.virtio.receive", ">=", 1.5), ("lyra.component.ne2k.send", ">=", 1.074),
    ("lyra.component.ne2k.receive", ">=", 1.074), ("lyra.ratio_send", ">=", 1.5), ("lyra.ratio_receive", ">=", 1.5), ("lyra.ratio_min", ">=", 1.5), ("thesis.ratio_min", ">=", 1), ("thesis.api_ratio", "<=", 1.15), ("thesis_loss.ratio_min", ">=", 1),
    ("boot_ms", "<=", 100), ("startup6.dad_ms", "<=", 1200), ("startup6.alone_ms", None, None), ("startup6.optimistic_ms", "<=", 100), ("microkernel_ratio", ">=", 0.6),
]
COMPARE = {"<=": operator.le, ">=": operator.ge}
PARTS = (("lyra.component.virtio", "LyraOS's 10,000 writes, component, pc"), ("lyra.component.ne2k", "LyraOS's 10,000 writes, component, pc-ne2k"),
         ("lyra", "LyraOS's 10,000 writes, no kernel, pc"), ("thesis", "the thesis's 5 MB, arm-virt"), ("thesis_loss", "… with 15 % loss"))


def text(number):
    return "–" if number is None else number if isinstance(number, str) else f"{number:,.3f}".rstrip("0").rstrip(".")


def of(found, key):
    for place in (found, found.get("size", {})):
        for name in key.split("."):
            place = place.get(name) if isinstance(place, dict) else None
        if place is not None:
            return place
    return None


def goals(found):
    """(key, figure, goal, verdict: True, False, None)"""
    for key, how, goal in GOALS:
        figure = of(found, key)
        yield key, figure, f"{how} {goal:,}" if how else "", COMPARE[how](figure, goal) if how and figure is not None else None


def footprint(found):
    yield ["Cortex-M3, -Os, memory MAC", "code", "RAM", "echo of 1 byte", "of 512", "source"]
    for image, name in MEASURED:
        yield [name, *(text(of(found, f"{image}.{key}")) for key in ("code", "ram", "insn_1", "insn_512")), "measured in this run"]
    for name, *figures, source in QUOTED:
        yield [name, *map(text, figures), source]


def guests(found):
    yield ["beside Linux as a guest of the same machine", "Weir, s", "Linux, s", "ratio", "runs"]
    for key, name in PARTS:
        for way in ("send", "receive"):
            of_part = of(found, key) or {}
            seconds = [of_part.get(f"{kind}_{way}_s") for kind in ("weir", "linux")]
            yield [f"{name}: the guest {way}s", *(text(statistics.median(values)) if values else "–" for values in seconds), text(of_part.get(f"ratio_{way}")), text(of_part.get("runs"))]
    for loss in (0, 15):
        for way in ("send", "receive"):
            yield [f"the thesis's 5 MB, xilinx-zynq-a9, {loss} % loss: the board {way}s", text(of(found, f"thesis_zynq.{way}_{loss}_s")), "", "alone", ""]


def about(found):
    machine = found["machine"]
    loads = [load for part in found.get("parts", {}).values() for load in part["load"]]
    return (f"{machine['cpus']} × {machine['cpu']}, Linux {machine['kernel']}, {machine['compiler']}, lwIP {machine['lwip']}; load of the machine while measuring: "
            f"{min(loads, default=0)} to {max(loads, default=0)}; {machine['date']}")


def show(found):
    """Keys without a figure."""
    print(f"\n{about(found)}")
    for table in (list(footprint(found)), list(guests(found))):
        widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
        print()
        for row in table:
            print("  " + row[0].ljust(widths[0]) + "".join("  " + (cell.ljust if at == 5 else cell.rjust)(width) for at, (cell, width) in enumerate(zip(row[1:], widths[1:]), 1)))
    print()
    for key, figure, goal, reached in goals(found):
        print(f"  {key:<30} {'not measured' if figure is None else text(figure):>12}  {goal:<9} {({None: '', True: 'reached', False: 'NOT REACHED'})[reached]}")
    plot(found)
    web(found)
    print(f"\n{common.shown([common.OUT / 'metal.html'])}")
    return [key for key, figure, _, _ in goals(found) if figure is None]


def bars(axis, title, rows, goal):
    rows = [row for row in rows if row[1] is not None][::-1]
    axis.barh([name for name, _, _ in rows], [number for _, number, _ in rows], color=["#1b6ca8" if kind == "weir" else "#c8553d" if kind == "peer" else "#cccccc" for _, _, kind in rows])
    for at, (_, number, _) in enumerate(rows):
        axis.annotate(f"{number:,}", (number, at), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    if goal:
        axis.axvline(goal, color="black", linestyle=":", linewidth=1)
    axis.set_title(title, fontsize=10)
    axis.margins(x=0.2)
    axis.tick_params(labelsize=8)


def dots(axis, found, key, name):
    """Every run of both guests, the medians as lines."""
    rows = [(kind, way) for way in ("receive", "send") for kind in ("linux", "weir")]
    for at, (kind, way) in enumerate(rows):
        seconds = of(found, f"{key}.{kind}_{way}_s") or []
        colour = "#1b6ca8" if kind == "weir" else "#555555"
        axis.plot(seconds, [at] * len(seconds), "o", color=colour, alpha=0.5, markersize=4)
        if seconds:
            axis.plot([statistics.median(seconds)] * 2, [at - 0.3, at + 0.3], color=colour, linewidth=2)
    axis.set_yticks(range(len(rows)), [f"{'Weir' if kind == 'weir' else 'Linux'} {way}s" for kind, way in rows], fontsize=8)
    axis.set_xlim(left=0)
    axis.set_title(f"{name}: seconds", fontsize=10)


def plot(found):
    os.environ.setdefault("MPLCONFIGDIR", str(common.OUT / "matplotlib"))
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure, axes = pyplot.subplots(3, 3, figsize=(15, 10.5))
    quoted = [(f"{name.split(',')[0]} (quoted)", row) for name, *row in QUOTED]
    for axis, key, at, title, goal in ((axes[0][0], "code", 0, "code and constants, bytes", 9216), (axes[0][1], "insn_1", 2, "instructions, echo of 1 byte", 1300),
                                       (axes[0][2], "insn_512", 3, "instructions, echo of 512 bytes", 3000)):
        own = [(image, of(found, f"{image}.{key}"), "weir" if "echo" in image else "peer") for image, _ in MEASURED]
        bars(axis, f"{title} (dotted: goal)", own + [(name, row[at], "quoted") for name, row in quoted], goal)
    below = axes[1:].flatten()
    for axis, (key, name) in zip(below, PARTS):
        dots(axis, found, key, name)
    for axis in below[len(PARTS):]:
        axis.set_visible(False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(common.OUT / "metal.png", dpi=110)
    pyplot.close(figure)


PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Weir on the metal</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;color:#222}
.wide{overflow-x:auto}table{border-collapse:collapse;margin:1rem 0}th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid #ddd}
th:first-child,td:first-child{text-align:left}img{max-width:100%%}.no{color:#b00}.yes{color:#070}small{color:#555}
</style><h1>Weir on the metal</h1>
<p><small>%s</small></p><p><img src="metal.png" alt="Bars of sizes and instructions; dots of each run beside Linux"></p>
%s
</html>
"""


def web(found):
    parts = []
    for head, *body in (list(footprint(found)), list(guests(found))):
        parts.append('<div class="wide"><table><tr>' + "".join(f"<th>{html.escape(cell)}</th>" for cell in head))
        parts.extend("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) for row in body)
        parts.append("</table></div>")
    parts.append('<div class="wide"><table><tr><th>figure</th><th>value</th><th>goal</th><th></th>')
    for key, figure, goal, reached in goals(found):
        verdict = {None: "", True: '<span class="yes">reached</span>', False: '<span class="no">not reached</span>'}[reached]
        parts.append(f"<tr><td>{key}</td><td>{text(figure)}</td><td>{html.escape(goal)}</td><td>{verdict}</td>")
    parts.append("</table></div><h2>Commands</h2><ul>")
    parts.extend(f"<li>{name}: <code>{html.escape(part['command'])}</code>, {part['date']}, load {part['load'][0]} and {part['load'][1]}</li>" for name, part in found.get("parts", {}).items())
    parts.append("<li>sizes: <code>make size</code></li></ul>")
    pathlib.Path(common.OUT / "metal.html").write_text(PAGE % (html.escape(about(found)), "\n".join(parts)))
