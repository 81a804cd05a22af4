# SPDX-License-Identifier: BSD-2-Clause
"""An unmodified Linux sender (this machine's kernel: cubic, RACK-TLP, SACK) over the laboratory's link, and weir-host as the player. Each run
takes its 90 or 60 seconds of real time; many go side by side, each with namespaces and a link of its own. Needs root."""
import platform
import sys

import common
import clocked_runs as runs
import network_run

TITLE = "From Linux's TCP, over TAPs, in real time"
SEEDS = range(4001, 4007)
LOSSES = (0, 2, 4, 6, 8, 10)
WITHIN = (40, 60, 100)
FRAMES, VOICE_FRAMES, PORT = 359, 3000, 5000
GOALS = {**{f"linux_sender.met_percent_at_{loss}": (">=", goal) for loss, goal in ((0, 99.9), (2, 99.9), (4, 99.9), (6, 99.5), (10, 98.5))},
         "voice.linux_sender.within_40_ms_at_10": (">=", 90), "voice.linux_sender.within_60_ms_at_10": (">=", 97),
         "voice.linux_sender.within_100_ms_at_10": (">=", 99.5)}


class Run(network_run.NetworkRun):
    """One connection: frames of the work's benchmark (within None), or a voice of use for `within` ms."""
    sender = "linux"

    def __init__(self, loss, seed, within=None):
        super().__init__(f"{'frames' if within is None else f'voice-{within}'}-{loss}-{seed}", FRAMES if within is None else VOICE_FRAMES, loss, seed)
        self.within = within

    def start_source(self, sender, receiver):
        source = ("file", 719 * 1024) if self.within is None else ("frames", 160, 20, VOICE_FRAMES, self.start_us)
        return sender.namespace.start(sys.executable, common.ROOT / "bench/realtime/linux_source.py", *source, PORT), True

    def play(self):
        if self.within is None:
            return f"{PORT} frame=2048 period=250 within=0 frames={FRAMES} buffer=4096 stored=1"
        return f"{PORT} frame=160 period=20 within={self.within} frames={VOICE_FRAMES} start={self.start_us}"

    def take(self):
        found = super().take()
        return found and {**found, "source": self.source.output().split("\n")[1:]}


def measure():
    network_run.need_root("T=sim, T=weir and T=boards")
    (common.OUT / "realtime/labs").mkdir(parents=True, exist_ok=True)
    files = {loss: [Run(loss, seed) for seed in SEEDS] for loss in LOSSES}
    voices = {within: [Run(10, seed, within) for seed in SEEDS] for within in WITHIN}
    every = [run for row in (*voices.values(), *files.values()) for run in row]
    found = runs.all_of("Linux sender", every, runs.at_once(24), network_run.PROGRAMS)
    return {"linux_sender": {**{f"met_percent_at_{loss}": runs.mean(found, runs.names(row)) for loss, row in files.items()},
                             **{f"least_percent_at_{loss}": runs.least(found, runs.names(row)) for loss, row in files.items()},
                             "kernel": platform.release(), "load": runs.loads(found)},
            "voice": {"linux_sender": {f"within_{within}_ms_at_10": runs.mean(found, runs.names(row)) for within, row in voices.items()}},
            "linux_sender_runs": {name: {**result, "met_percent": round(result["met_percent"], 3)} for name, result in found.items()}}


def tables(figures):
    linux = figures["linux_sender"]
    yield (f"The work's benchmark from Linux {linux['kernel']}: 719 KB, 2 KB every 250 ms, 4 KB buffer, 10 ms each way; {len(SEEDS)} seeds",
           [["% of deadlines met", *(f"{loss} % lost" for loss in LOSSES)],
            ["mean", *(f"{linux[f'met_percent_at_{loss}']:.2f}" for loss in LOSSES)], ["worst run", *(f"{linux[f'least_percent_at_{loss}']:.2f}" for loss in LOSSES)]])
    yield ("A voice from Linux, 160 bytes every 20 ms, 10 % lost each way",
           [["% of frames of use", *(f"within {within} ms" for within in WITHIN)],
            ["Weir's receiver", *(f"{figures['voice']['linux_sender'][f'within_{within}_ms_at_10']:.2f}" for within in WITHIN)],
            ["UDP and RTP (what is not lost)", *("90.00" for _ in WITHIN)]])


def plots(figures, folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure, axis = pyplot.subplots(figsize=(6, 4))
    found = figures["linux_sender_runs"]
    for loss in LOSSES:
        axis.plot([loss] * len(SEEDS), [found[f"frames-{loss}-{seed}"]["met_percent"] for seed in SEEDS], "o", color="#1b6ca8", alpha=.4, markersize=4)
    axis.plot(LOSSES, [figures["linux_sender"][f"met_percent_at_{loss}"] for loss in LOSSES], color="#1b6ca8", label="Weir's receiver, mean")
    axis.plot(LOSSES, [100 * (1 - loss / 100) ** 2 for loss in LOSSES], "--", color="#999999", label="UDP, two datagrams a frame (computed)")
    axis.set_xlabel("% lost each way")
    axis.set_ylabel("% of deadlines met")
    axis.legend()
    axis.grid(alpha=.3)
    figure.tight_layout()
    figure.savefig(folder / "linux-sender.png", dpi=110)
    pyplot.close(figure)
    yield "linux-sender.png", "The work's benchmark from Linux's TCP"
