# SPDX-License-Identifier: BSD-2-Clause
"""weir-host at both ends over TAPs, in real time: the work's benchmark from a sender that knows deadlines, and a voice over Weir's real-time
TCP, in-order TCP, UDP, RTP and RTP with one redundant frame, all over the laboratory's link. What the simulated part (weir) says of them,
by the clock. Needs root."""
import random
import wave

import common
import clocked_runs as runs
import network_run

TITLE = "Both ends Weir, UDP and RTP, over TAPs, in real time"
SEEDS, LOSSES, WITHIN = range(5001, 5007), (0, 4, 10), (40, 60, 100)
VOICES = {"tcp": "in-order TCP", "udp": "UDP", "rtp": "RTP", "red": "RTP, one redundant frame (RFC 2198)", "realtime": "Weir at both ends"}
COLOURS = {"tcp": "#999999", "udp": "#777777", "rtp": "#e0a030", "red": "#c8553d", "realtime": "#1b6ca8"}
FRAMES, VOICE_FRAMES, VOICE_LOSS, PORT = 359, 3000, 10, 5004
GOALS = {**{f"tap.weir_sender.met_percent_at_{loss}": (">=", 100) for loss in LOSSES},
         "tap.voice.realtime.within_40_ms_at_10": (">=", 99), "tap.voice.realtime.within_60_ms_at_10": (">=", 99.9)}


class Run(network_run.NetworkRun):
    """The file (over None), or a voice of use for `within` ms."""

    def __init__(self, loss, seed, over=None, within=None, folder=None):
        name = f"tap-file-{loss}-{seed}" if over is None else f"tap-{over}-{within}-{loss}-{seed}"
        super().__init__(name, FRAMES if over is None else VOICE_FRAMES, loss, seed, folder)
        self.over, self.within = over, within

    def voice(self):
        return f"over={self.over} within={self.within} start={self.start_us} frames={VOICE_FRAMES}"

    def start_source(self, sender, receiver):
        if self.over is None:
            media, what = "file", "frame=2048 period=250 within=500 stored=1"
        else:
            media, what = "tone.wav", self.voice()
        connects = self.over in (None, "realtime", "tcp")
        to = "" if connects else f" to={receiver.address}"
        return sender.namespace.start(*sender.common, "--run", f"stream {self.folder / media} {PORT} {what}{to}"), connects

    def play(self):
        return f"{PORT} " + (f"frame=2048 period=250 within=0 frames={FRAMES} buffer=4096 stored=1" if self.over is None else self.voice())

    def take(self):
        found = super().take()
        return found and {**found, "met_percent": round(found["met_percent"], 3)}


def tone(path, count):
    """A cheap one: 8 kHz, 8 bits, 400 Hz."""
    period = bytes((128, 170, 207, 235, 250, 250, 235, 207, 170, 128, 86, 49, 21, 6, 6, 21, 49, 86, 107, 120))
    with wave.open(str(path), "wb") as out:
        out.setparams((1, 1, 8000, 0, "NONE", ""))
        out.writeframes((period * (count // len(period) + 1))[:count])


def make_media(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "file").write_bytes(random.Random(1).randbytes(719 * 1024))
    tone(folder / "tone.wav", 160 * VOICE_FRAMES)


def measure():
    network_run.need_root("T=sim, T=weir and T=boards")
    make_media(common.OUT / "realtime")
    files = {loss: [Run(loss, seed) for seed in SEEDS] for loss in LOSSES}
    voices = {over: {within: [Run(VOICE_LOSS, seed, over, within) for seed in SEEDS] for within in WITHIN} for over in VOICES}
    every = [run for row in files.values() for run in row] + [run for over in voices.values() for row in over.values() for run in row]
    found = runs.all_of("weir-host at both ends", every, runs.at_once(24), network_run.PROGRAMS)
    return {"tap": {"weir_sender": {**{f"met_percent_at_{loss}": runs.mean(found, runs.names(row)) for loss, row in files.items()},
                                    **{f"least_percent_at_{loss}": runs.least(found, runs.names(row)) for loss, row in files.items()}},
                    "voice": {over: {**{f"within_{within}_ms_at_{VOICE_LOSS}": runs.mean(found, runs.names(row)) for within, row in rows.items()},
                                     "jitter_ms": round(max(found[run.name]["jitter_ticks"] for row in rows.values() for run in row) / 8, 2)}
                              for over, rows in voices.items()},
                    "load": runs.loads(found)},
            "tap_runs": found}


def tables(figures):
    tap, load = figures["tap"], figures["tap"]["load"]
    simulated = figures.get("weir_sender_beside", {}).get("weir")
    yield (f"The work's benchmark (719 KB, 2 KB every 250 ms, 4 KB buffer, 10 ms each way), Weir at both ends; {len(SEEDS)} seeds; load {load[0]} to {load[1]}",
           [["% of deadlines met", *(f"{loss} % lost" for loss in LOSSES)],
            ["mean", *(f"{tap['weir_sender'][f'met_percent_at_{loss}']:.2f}" for loss in LOSSES)],
            ["worst run", *(f"{tap['weir_sender'][f'least_percent_at_{loss}']:.2f}" for loss in LOSSES)],
            *([["simulated", *(f"{simulated[str(loss)]['mean']:.2f}" for loss in LOSSES)]] if simulated else [])])
    yield (f"A voice, 160 bytes every 20 ms, {VOICE_LOSS} % lost each way; {len(SEEDS)} seeds: % of {VOICE_FRAMES} frames of use",
           [["", *(f"within {within} ms" for within in WITHIN), "jitter, ms (RFC 3550, at most)"],
            *([label, *(f"{tap['voice'][over][f'within_{within}_ms_at_{VOICE_LOSS}']:.2f}" for within in WITHIN),
               f"{tap['voice'][over]['jitter_ms']:.2f}" if over in ("rtp", "red") else "–"] for over, label in VOICES.items())])


def plots(figures, folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure, axis = pyplot.subplots(figsize=(8, 4))
    for place, (over, label) in enumerate(VOICES.items()):
        for group, within in enumerate(WITHIN):
            value = figures["tap"]["voice"][over][f"within_{within}_ms_at_{VOICE_LOSS}"]
            at = group + (place - 2) * .17
            axis.bar(at, value, width=.15, color=COLOURS[over], label=label if not group else None)
            axis.text(at, value + .4, f"{value:.1f}", ha="center", fontsize=7)
    axis.set_xticks(range(len(WITHIN)), [f"within {within} ms" for within in WITHIN])
    axis.set(ylim=(70, 103), ylabel=f"frames of use at {VOICE_LOSS} % loss, %")
    axis.legend(fontsize=7, ncols=3, loc="upper center", bbox_to_anchor=(.5, 1.18), frameon=False)
    axis.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(folder / "tap.png", dpi=110)
    pyplot.close(figure)
    yield "tap.png", "A voice by the clock, weir-host at both ends"
