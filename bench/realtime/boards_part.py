# SPDX-License-Identifier: BSD-2-Clause
"""The work's benchmark between two boards in QEMU, in real time: the modelled Embedded Xinu alone on an arm-virt sends (board_source.c), Weir's
profile small on an mps2-an385 plays (board_player.c), and the laboratory's link is between them, over QEMU's datagram sockets. No
privileges. The columns 0 and 10 % of the simulated part; each run takes its 90 seconds."""
import ctypes
import json
import pathlib
import signal
import subprocess
import sys
import time

import common
import clocked_runs as runs

sys.path.insert(0, str(common.ROOT / "tools"))
import boards  # noqa: E402
from sim_part import COLOURS, LABELS, MODES  # noqa: E402

TITLE = "Between two boards in QEMU"
LOSSES = (0, 10)
SEEDS = {0: range(3001, 3003), 10: range(3001, 3007)}   # without loss there is nothing to draw
FRAMES, DELAY_MS = 359, 10
PLAYER, SOURCE, LINK = "mps2-an385", "arm-virt", common.ROOT / "build/host/weir-link"
GOALS = {**{f"paper_boards.regular.{loss}": ("<=", 2) for loss in LOSSES},
         **{f"paper_boards.skip.{loss}": (">=", 62) for loss in LOSSES}, "paper_boards_skip_highest": ("<=", 68),
         **{f"paper_boards.skip_update.{loss}": (">=", 100 - loss) for loss in LOSSES},
         "paper_boards.weir.0": (">=", 100), "paper_boards.weir.10": (">=", 99.9)}


def begin():
    """In the new process: nothing comes before it, and it ends (SIGTERM, which `timeout` hands on to QEMU) when we do."""
    runs.first(0)
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)   # PR_SET_PDEATHSIG


class Run:
    def __init__(self, mode, loss, seed, frames=FRAMES, folder=common.OUT / "realtime/boards"):
        self.mode, self.loss, self.seed, self.frames, self.folder = mode, loss, seed, frames, pathlib.Path(folder)
        self.name = f"{mode}-{loss}-{seed}"
        self.processes = []

    def launch(self, what, words):
        with open(self.folder / f"{self.name}-{what}.log", "wb") as out:
            process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                       preexec_fn=begin)
        self.processes.append(process)
        return process

    def output(self, what):
        return (self.folder / f"{self.name}-{what}.log").read_text(errors="replace")

    def until(self, what, text, process, seconds=60):
        limit = time.monotonic() + seconds
        while text not in self.output(what):
            if process.poll() is not None or time.monotonic() > limit:
                self.close()
                raise common.Failed(f"{self.name}: {what} does not start: {self.output(what).strip()[-300:]}")
            time.sleep(0.02)

    def start(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        here, there, here_too, there_too = boards.free_udp_ports(4)
        link = self.launch("link", (LINK, f"udp:{here}:{there}", f"udp:{here_too}:{there_too}", "--delay", DELAY_MS, "--loss", self.loss, "--back_loss", self.loss,
                                    "--seed", self.seed, "--spare_arp", 1, "--spare_handshake", 1))
        self.until("link", "ready", link)
        source = self.launch("source", boards.command(SOURCE, f"socket,udp=127.0.0.1:{here},localaddr=127.0.0.1:{there}", "realtime_source"))
        self.until("source", "listening", source)
        settings = f"enable=on,target=native,arg=player,arg={self.mode},arg={self.frames}"
        self.player = self.launch("player", (*boards.command(PLAYER, f"socket,udp=127.0.0.1:{here_too},localaddr=127.0.0.1:{there_too}", "realtime_player"),
                                             "-semihosting-config", settings))
        self.limit = time.monotonic() + self.frames * 0.25 + 60

    def ended(self):
        return self.player.poll() is not None or time.monotonic() > self.limit

    def take(self):
        self.close()
        _, _, text = self.output("player").partition("played: ")
        if not text:
            return None
        found = json.loads(text.splitlines()[0])
        if found["wrong"]:
            raise common.Failed(f"{self.name}: a frame with other bytes than were sent")
        return {**found, "met_percent": round(100 * found["in_time"] / self.frames, 3)}

    def close(self):
        for process in reversed(self.processes):
            process.terminate()
        for process in self.processes:
            process.wait()
        self.processes = []


def names(mode, loss):
    return [f"{mode}-{loss}-{seed}" for seed in SEEDS[loss]]


def measure():
    programs = [boards.elf(PLAYER, "realtime_player"), boards.elf(SOURCE, "realtime_source"), LINK]
    # Seed by seed, so that all modes of a seed run by the same load of the machine.
    every = [Run(mode, loss, seed) for loss in LOSSES for seed in SEEDS[loss] for mode in MODES]
    found = runs.all_of("two boards", every, runs.at_once(10), programs)
    means = {mode: {str(loss): runs.mean(found, names(mode, loss)) for loss in LOSSES} for mode in MODES}
    return {"paper_boards": means, "paper_boards_least": {mode: {str(loss): runs.least(found, names(mode, loss)) for loss in LOSSES} for mode in MODES},
            "paper_boards_skip_highest": max(means["skip"].values()), "paper_boards_seeds": {str(loss): len(SEEDS[loss]) for loss in LOSSES},
            "paper_boards_late_beat_ms": round(max(run["late_beat_us"] for run in found.values()) / 1000, 1), "paper_boards_load": runs.loads(found),
            "paper_boards_runs": found}


def tables(figures):
    here, worst, simulated = figures["paper_boards"], figures["paper_boards_least"], figures.get("paper", {})
    beside = [f"simulated, {loss} %" for loss in LOSSES] if simulated else []
    rows = [[LABELS[mode], *(f"{here[mode][str(loss)]:.2f}" for loss in LOSSES), *(f"{worst[mode][str(loss)]:.2f}" for loss in LOSSES),
             *(f"{simulated[mode][str(loss)]:.2f}" for loss in LOSSES if simulated)] for mode in MODES]
    load = figures["paper_boards_load"]
    yield (f"The work's benchmark between an mps2-an385 (Weir, profile small) and an arm-virt (modelled Embedded Xinu); {figures['paper_boards_seeds']['0']} seeds at 0 %, "
           f"{figures['paper_boards_seeds']['10']} at 10 %; load {load[0]} to {load[1]}, the player at most {figures['paper_boards_late_beat_ms']} ms late at a beat",
           [["% of deadlines met", *(f"{loss} % lost" for loss in LOSSES), *(f"worst run, {loss} %" for loss in LOSSES), *beside], *rows])


def plots(figures, folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure, axes = pyplot.subplots(1, len(LOSSES), figsize=(9, 3.6), sharey=True)
    for axis, loss in zip(axes, LOSSES):
        for place, mode in enumerate(MODES):
            axis.bar(place, figures["paper_boards"][mode][str(loss)], color=COLOURS[mode], width=.6)
            seen = [figures["paper_boards_runs"][name]["met_percent"] for name in names(mode, loss)]
            axis.plot([place] * len(seen), seen, "k.", markersize=4)
            if "paper" in figures:
                axis.plot([place - .35, place + .35], [figures["paper"][mode][str(loss)]] * 2, "k-", linewidth=1)
            axis.text(place, max(*seen, figures["paper_boards"][mode][str(loss)]) + 2, f"{figures['paper_boards'][mode][str(loss)]:.1f}", ha="center", fontsize=8)
        axis.set_xticks(range(len(MODES)), [LABELS[mode].replace("the work: ", "").replace("regular + window", "regular +\nwindow") for mode in MODES], fontsize=8)
        axis.set(title=f"{loss} % lost each way", ylim=(0, 109))
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("deadlines met, %\n(dots: runs; lines: the simulator)")
    figure.tight_layout()
    figure.savefig(folder / "boards.png", dpi=110)
    pyplot.close(figure)
    yield "boards.png", "The work's benchmark between two boards in QEMU"
