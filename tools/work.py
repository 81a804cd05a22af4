#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make work W=NAME: the tables of one of the five systems that Weir grew out of, with Weir's numbers beside its own, in minutes and
without privileges. What it prints is also in build/work/NAME.md, with plots beside it; docs/results.md has all of them as measured.

usage: tools/work.py lyraos|thesis|xinu|romantiki|linux
The networks of thesis, xinu and linux are simulated, so anybody gets the same numbers; romantiki and lyraos measure objects and images."""
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys

import lyraos_sizes
import svg_plot

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "build/work"
SIM, PLAYER, BOTH = "build/host/weir-sim", "build/host/weir-realtime", "build/host/weir-realtime-both"
SEEDS = range(1, 22)


def draw(name, *words, **more):
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / f"{name}.svg").write_text(svg_plot.plot(*words, **more))


def run(*words):
    done = subprocess.run([str(word) for word in words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}: exit status {done.returncode}\n{done.stderr or done.stdout}")
    return done.stdout


def simulate(**settings):
    return [SIM, *(word for name, value in settings.items() for word in (f"--{name}", value))]


def medians(rows, value):
    """{key: median over its commands of value(line of JSON)}; two of them run at a time."""
    jobs = [(key, command) for key, commands in rows.items() for command in commands]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda job: value(json.loads(run(*job[1]))), jobs))
    return {key: statistics.median(one for (of, _), one in zip(jobs, found) if of == key) for key in rows}


def seconds(line):
    return line["flows"][0]["finished_s"] - line["flows"][0]["connected_s"]


# --- the thesis: 5 MB over a local network -----------------------------------------------------------------------------------------------
def thesis():
    run("make", "-s", SIM)
    common = {"bytes": 5 << 20, "delay": 0.02, "spare_arp": 1, "rate": 100}
    own = {("no loss", 10000): "44 s (36 with the clock doubled, 31 at a tenth)", ("15 %", 10000): "204 s with the clock doubled; a desktop's Linux 47"}
    rows = {(loss, cc, tick): [simulate(**common, cc=cc, loss=loss, tick_us=tick, seed=seed) for seed in SEEDS]
            for loss in (0, 15) for cc in ("reno", "cubic", "bbr") for tick in (10000, 5000, 100000)}
    found = medians(rows, seconds)
    table = [["5 MB, s", "tick 10 ms", "5 ms, doubled", "100 ms, a tenth", "the thesis"]]
    for loss, label in ((0, "no loss"), (15, "15 %")):
        table += [[f"{cc}, {label}", *(f"{found[loss, cc, tick]:.2f}" for tick in (10000, 5000, 100000)), own[label, 10000] if cc == "reno" else ""]
                  for cc in ("reno", "cubic", "bbr")]
    draw("thesis", "5 MB at 15 % loss, seconds (simulated)", ("10 ms", "5 ms, doubled", "100 ms, a tenth"),
         {cc: [found[15, cc, tick] for tick in (10000, 5000, 100000)] for cc in ("reno", "cubic", "bbr")}, "the clock's tick", joined=False)
    yield (f"5 MB, 100 Mbit/s and 40 µs there and back, simulated, median of {len(SEEDS)} seeds: the clock's tick", rows[15, "reno", 10000][0], table)
    buffers = {"send buffer 16 KB": {"send_buffer": 16384}, "send buffer × 5": {"send_buffer": 81920}, "receive buffer 5 KB": {"receive_buffer": 5120}}
    rows = {(name, loss): [simulate(**common, cc="reno", loss=loss, seed=seed, tick_us=10000, **more) for seed in SEEDS]
            for name, more in buffers.items() for loss in (0, 15)}
    found = medians(rows, seconds)
    theirs = {"send buffer × 5": "no effect", "receive buffer 5 KB": "628.5 s at 15 %, after 204"}
    yield ("The same with other buffers (reno, tick 10 ms)", rows["receive buffer 5 KB", 15][0],
           [["5 MB, s", "no loss", "15 %", "the thesis"], *([name, *(f"{found[name, loss]:.2f}" for loss in (0, 15)), theirs.get(name, "")] for name in buffers)])
    rows = {rate: [simulate(bytes=270_000_000, rate=rate, delay=10, cc="cubic", tick_us=10000)] for rate in (10, 100)}
    found = medians(rows, seconds)
    yield ("270 MB from far away: 20 ms there and back, cubic, tick 10 ms, simulated", rows[10][0],
           [["", "10 Mbit/s", "100 Mbit/s", "the thesis", "a desktop's Linux"], ["270 MB, s", *(f"{found[rate]:.1f}" for rate in rows), "1230", "374"]])


# --- Embedded Xinu: figure 4 -----------------------------------------------------------------------------------------------------------------
def xinu():
    run("make", "-s", PLAYER, BOTH)
    labels = {"regular": ("regular TCP", "1 at every loss"), "skip": ("skip", "63 to 67"), "skip_update": ("skip and window update", "in figure 4's plot only"),
              "weir": ("Weir's mode", "–")}
    losses = (0, 2, 4, 6, 8, 10)
    command = lambda mode, loss: [PLAYER, "player", f"mode={mode}", f"loss={loss * 10000}", "seeds=1001-1020"]
    found = medians({(mode, loss): [command(mode, loss)] for mode in labels for loss in losses}, lambda line: line["met_percent"])
    draw("xinu", "% of deadlines met, 2 KB every 250 ms (simulated)", losses,
         {label: [found[mode, loss] for loss in losses] for mode, (label, _) in labels.items()}, "% of the segments lost")
    yield ("2 KB every 250 ms of a file of 719 KB, 4 KB of buffer, 10 ms each way, simulated, 20 seeds", command("weir", 10),
           [["% of deadlines met", *(f"{loss} % lost" for loss in losses), "the work"],
            *([label, *(f"{found[mode, loss]:.1f}" for loss in losses), theirs] for mode, (label, theirs) in labels.items())])
    datagrams = lambda over, loss: [BOTH, "voice", f"over={over}", f"loss={loss * 10000}", "frame=2048", "period=250", "within=250", "frames=359", "seeds=2001-2020"]
    found = medians({(over, loss): [datagrams(over, loss)] for over in ("udp", "rtp") for loss in losses}, lambda line: line["met_percent"])
    yield ("The same frames as datagrams of a live source, in two fragments each, of use for a period", datagrams("udp", 10),
           [["% of frames of use", *(f"{loss} % lost" for loss in losses), "the work"],
            *([over.upper(), *(f"{found[over, loss]:.1f}" for loss in losses), "left to future work"] for over in ("udp", "rtp"))])


# --- the Linux report ------------------------------------------------------------------------------------------------------------------------
def linux():
    run("make", "-s", SIM)
    default = 6291456
    own = {default: "12.9", default // 2: "14.9", default // 3: "17.7", default // 6: "16.9", default // 10: "14.5", 62914: "2.83", 6291: "0.279", 629: "0.031"}
    rows = {size: [simulate(rate=10000, delay=0.02, seconds=0.5, receive_buffer=size)] for size in own}
    found = medians(rows, lambda line: line["mbit"] / 1000)
    yield ("Figure 3: the receive buffer, 10 Gbit/s and 40 µs there and back, simulated; the report's Gbit/s are of two guests of one machine", rows[default][0],
           [["buffer, bytes", "Weir, Gbit/s", "the report, Gbit/s"], *([f"{size:,}", f"{found[size]:.3f}", theirs] for size, theirs in own.items())])
    names = ("cubic", "reno", "bic", "htcp", "vegas", "westwood", "yeah", "bbr")
    rows = {(cc, loss): [simulate(cc=cc, loss=loss, rate=100, delay=10, seconds=15, seed=seed) for seed in (range(1, 8) if loss else (1,))] for cc in names
            for loss in (0, 10)}
    found = medians(rows, lambda line: line["mbit"])
    stable = {"cubic": "12.9", "reno": "12.9", "bic": "12.9", "htcp": "12.8", "vegas": "16.5", "westwood": "12.8"}
    yield ("Figures 4 and 5: eight congestion controls, 100 Mbit/s and 20 ms, simulated, median of 7 seeds where segments are lost", rows["bbr", 10][0],
           [["", "no loss, Mbit/s", "10 % lost, Mbit/s", "the report, no loss, Gbit/s"], *([cc, f"{found[cc, 0]:.1f}", f"{found[cc, 10]:.2f}", stable.get(cc, "–")]
                                                                                        for cc in names)])


# --- Romantiki: table 1 ------------------------------------------------------------------------------------------------------------------------
def romantiki():
    """Of build/size.json, which `make size` writes first."""
    run("make", "-s", "size")
    found = json.loads((ROOT / "build/size.json").read_text())
    tiny, paper = found["tiny_echo"], found["paper_echo"]
    works = {"paper_echo": (paper["code"], paper["ram"]), "tiny_echo": (tiny["code"], tiny["ram"]), "Romantiki": (14396, 8064), "FreeRTOS, uIP": (13112, 9320),
             "FreeRTOS, lwIP": (33176, 16554)}
    draw("romantiki", "The echo server, bytes", works, {what: [one[at] for one in works.values()] for at, what in enumerate(("code", "RAM"))}, "Weir's two, and the paper's",
         joined=False)
    yield ("Table 1: the echo server (Cortex-M3 here, ARM7 there; paper_echo with its MAC's driver, tiny_echo with an invented MAC)", ["make", "size"],
           [["bytes", "code", "RAM"], *([name, f"{code:,}", f"{ram:,}"] for name, (code, ram) in works.items())])


# --- LyraOS: table 3 -----------------------------------------------------------------------------------------------------------------------------
def lyraos():
    run("make", "-s", "build/host/liball.a")
    rows = list(lyraos_sizes.rows(ROOT / "build/host/obj", (lyraos_sizes.TCP,)))
    draw("lyraos", "Object code of the TCP layer, bytes", [row[0] for row in rows], {"Linux 2.0.36, i386": [row[1] for row in rows], "Weir, x86-64": [row[4] for row in rows]},
         "Linux's files", joined=False)
    yield ("Table 3: object code of the TCP layer by file (Linux 2.0.36 on i386 there; here x86-64, gcc -O2, full profile with IPv6)", ["make", "work", "W=lyraos"],
           [["its file", "its bytes", "Weir's files", "how many", "Weir's bytes"],
            *([file, f"{theirs:,}", what, count, f"{ours:,}"] for file, theirs, what, count, ours in rows)])


WORKS = {"lyraos": lyraos, "thesis": thesis, "xinu": xinu, "romantiki": romantiki, "linux": linux}


def page(tables):
    for title, command, (head, *rows) in tables:
        yield f"**{title}** (`{' '.join(map(str, command))}`)\n"
        yield "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, ["---"] * len(head), *rows)) + "\n"


def main(words):
    if len(words) != 1 or words[0] not in WORKS:
        sys.exit(__doc__)
    text = "\n".join(page(WORKS[words[0]]()))
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / f"{words[0]}.md").write_text(text)
    print(text)
    print(f"build/work/{words[0]}.md; {', '.join(f'build/work/{file.name}' for file in sorted(OUT.glob(f'{words[0]}*.svg')))}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
