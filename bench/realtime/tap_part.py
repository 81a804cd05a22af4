# SPDX-License-Identifier: BSD-2-Clause
"""weir-host at both ends over TAPs, in real time: the work's benchmark from a sender that knows deadlines, and a voice over Weir's real-time
TCP, in-order TCP, UDP, RTP and RTP with one redundant frame, all over the laboratory's link. What the simulated part (weir) says of them,
by the clock. Needs root."""
import json
import os
import random
import sys
import time
import wave

import common
import clocked_runs as runs

sys.path.insert(0, str(common.ROOT / "lab"))
import net  # noqa: E402

TITLE = "Both ends Weir, UDP and RTP, over TAPs, in real time"
SEEDS, LOSSES, WITHIN = range(5001, 5007), (0, 4, 10), (40, 60, 100)
VOICES = {"tcp": "in-order TCP", "udp": "UDP", "rtp": "RTP", "red": "RTP, one redundant frame (RFC 2198)", "realtime": "Weir at both ends"}
COLOURS = {"tcp": "#999999", "udp": "#777777", "rtp": "#e0a030", "red": "#c8553d", "realtime": "#1b6ca8"}
FRAMES, VOICE_FRAMES, VOICE_LOSS, PORT, DELAY_MS = 359, 3000, 10, 5004, 10
LATE_START_S = 6   # of a voice: the processes start, and the handshake may be lost a few times
GOALS = {**{f"tap.weir_sender.met_percent_at_{loss}": (">=", 100) for loss in LOSSES},
         "tap.voice.realtime.within_40_ms_at_10": (">=", 99), "tap.voice.realtime.within_60_ms_at_10": (">=", 99.9)}


class Run:
    """The file (over None), or a voice of use for `within` ms."""

    def __init__(self, loss, seed, over=None, within=None, folder=common.OUT / "realtime"):
        self.loss, self.seed, self.over, self.within, self.folder = loss, seed, over, within, folder
        self.name = f"tap-file-{loss}-{seed}" if over is None else f"tap-{over}-{within}-{loss}-{seed}"
        self.frames = FRAMES if over is None else VOICE_FRAMES

    def media(self):
        return self.folder / ("file" if self.over is None else "tone.wav")

    def commands(self, source_address, player_address):
        if self.over is None:
            return (f"stream {self.media()} {PORT} frame=2048 period=250 within=500 stored=1",
                    f"play {source_address} {PORT} frame=2048 period=250 within=0 frames={FRAMES} buffer=4096 stored=1")
        start = int((time.monotonic() + LATE_START_S) * 1e6)
        what = f"over={self.over} within={self.within} start={start}"
        datagrams = self.over in ("udp", "rtp", "red")
        return (f"stream {self.media()} {PORT} {what} frames={VOICE_FRAMES}" + (f" to={player_address}" if datagrams else ""),
                f"play {source_address} {PORT} {what} frames={VOICE_FRAMES}")

    def start(self):
        link = net.Link(delay=DELAY_MS, loss=self.loss, back_loss=self.loss, seed=self.seed, spare_arp=1)
        self.network = net.Network(link, "weir", "weir", self.folder / "labs" / self.name, serve=False)
        self.network.__enter__()
        a, b = self.network.sender, self.network.receiver
        stream, play = self.commands(a.address, b.address)
        self.source = a.namespace.start(*a.common, "--run", stream)
        if self.over in (None, "realtime", "tcp") and not net.until(lambda: "listening" in self.source.output(), 10):
            raise common.Failed(f"the source does not start: {self.source.output()}")
        log = self.folder / "frames" / f"{self.name}.csv"
        log.parent.mkdir(parents=True, exist_ok=True)
        self.player = b.namespace.start(*b.common, "--run", f"{play} log={log}")
        for process in (self.network.emulator, self.source, self.player):
            runs.first(process.pid)
        self.limit = time.monotonic() + 150

    def ended(self):
        return self.player.poll() is not None or time.monotonic() > self.limit

    def take(self):
        text = self.player.output()
        self.close()
        begin = text.find("{")
        if begin < 0:
            return None
        found, _ = json.JSONDecoder().raw_decode(text[begin:])
        return {**found, "met_percent": round(100 * found["met"] / self.frames, 3)}

    def close(self):
        self.network.__exit__(None, None, None)


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
    if os.geteuid() != 0:
        raise common.Failed("TAPs and network namespaces need root: run it as root, or T=sim, T=weir and T=boards without")
    make_media(common.OUT / "realtime")
    files = {loss: [Run(loss, seed) for seed in SEEDS] for loss in LOSSES}
    voices = {over: {within: [Run(VOICE_LOSS, seed, over, within) for seed in SEEDS] for within in WITHIN} for over in VOICES}
    every = [run for row in files.values() for run in row] + [run for over in voices.values() for row in over.values() for run in row]
    found = runs.all_of("weir-host at both ends", every, runs.at_once(24), [net.BIN / "weir-host", net.BIN / "weir-link"])

    def names(row):
        return [run.name for run in row]
    return {"tap": {"weir_sender": {**{f"met_percent_at_{loss}": runs.mean(found, names(row)) for loss, row in files.items()},
                                    **{f"least_percent_at_{loss}": runs.least(found, names(row)) for loss, row in files.items()}},
                    "voice": {over: {**{f"within_{within}_ms_at_{VOICE_LOSS}": runs.mean(found, names(row)) for within, row in rows.items()},
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
