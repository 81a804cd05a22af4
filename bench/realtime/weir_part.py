# SPDX-License-Identifier: BSD-2-Clause
"""Both ends Weir, in the simulator: the work's benchmark and a voice, from a sender that knows deadlines (WEIR_OPTION_SEND_DEADLINE_US),
beside an ordinary sender, in-order TCP, UDP, RTP, and RTP with one redundant frame. Deterministic; seeds that nothing was tuned on."""
import common

TITLE = "Both ends Weir, in the simulator"
FILE_SEEDS, VOICE_SEEDS, DATAGRAM_SEEDS = "2001-2005", "2001-2006", "2001-2020"
LOSSES = (0, 2, 4, 6, 8, 10)
WITHIN = (40, 60, 100)
FILES = {"weir": "Weir at both ends", "receiver": "Weir's receiver, ordinary Weir sender", "tcp": "in-order TCP"}
VOICES = {"tcp": "in-order TCP", "udp": "UDP", "rtp": "RTP", "rtp_redundant": "RTP, one redundant frame (RFC 2198)",
          "receiver": "Weir's receiver, ordinary Weir sender", "weir": "Weir at both ends"}
DATAGRAMS = {"udp": "UDP, a frame in two fragments", "rtp": "RTP (RFC 3550), likewise"}
DATAGRAM_FRAMES = {"frame": 2048, "period": 250, "within": 250, "frames": 359}   # the work's, from a live source, of use for a period
GOALS = {**{f"weir_sender.met_percent_at_{loss}": (">=", 100) for loss in LOSSES},
         "voice.weir_sender.within_40_ms_at_10": (">=", 99), "voice.weir_sender.within_60_ms_at_10": (">=", 99.9)}


def simulate(command, seeds, **options):
    return common.line(["build/host/weir-realtime-both", command, f"seeds={seeds}", *(f"{name}={value}" for name, value in options.items())])


def measure():
    progress = common.Progress("real time, both ends Weir", len(FILES) * len(LOSSES) + len(DATAGRAMS) + len(VOICES) * len(LOSSES) * len(WITHIN))
    files, voices, sent, datagrams = {}, {}, {}, {}
    for over in FILES:
        for loss in LOSSES:
            progress.step(f"frames, {FILES[over]}")
            found = simulate("file", FILE_SEEDS, over=over, loss=loss * 10000)
            files.setdefault(over, {})[str(loss)] = {"mean": round(found["met_percent"], 2), "least": round(found["least_percent"], 2)}
    for over in DATAGRAMS:
        progress.step(f"frames, {DATAGRAMS[over]}")
        datagrams[over] = {str(loss): round(simulate("voice", DATAGRAM_SEEDS, over=over, loss=loss * 10000, **DATAGRAM_FRAMES)["met_percent"], 2) for loss in LOSSES}
    for over in VOICES:
        for loss in LOSSES:
            for within in WITHIN:
                progress.step(f"voice, {VOICES[over]}")
                found = simulate("voice", VOICE_SEEDS, over=over, loss=loss * 10000, within=within)
                voices.setdefault(over, {})[f"within_{within}_ms_at_{loss}"] = round(found["met_percent"], 2)
                if within == WITHIN[0]:
                    sent.setdefault(over, {})[str(loss)] = {"segments": found["segments"], "kilobytes": found["kilobytes"]}
    return {"weir_sender": {**{f"met_percent_at_{loss}": found["mean"] for loss, found in files["weir"].items()},
                            **{f"least_percent_at_{loss}": found["least"] for loss, found in files["weir"].items()}},
            "weir_sender_beside": files, "paper_datagrams": datagrams, "voice": {"weir_sender": voices.pop("weir"), "simulated": voices}, "voice_sent": sent}


def tables(figures):
    head = ["% of deadlines met", *(f"{loss} % lost" for loss in LOSSES)]
    yield (f"The work's benchmark (719 KB, 2 KB every 250 ms, 4 KB buffer, 10 ms each way); seeds {FILE_SEEDS}",
           [head, *([label, *(f"{found['mean']:.2f}" for found in figures["weir_sender_beside"][over].values())] for over, label in FILES.items())])
    yield (f"The same frames as datagrams, as they are made and of use for {DATAGRAM_FRAMES['within']} ms; seeds {DATAGRAM_SEEDS}",
           [head, *([label, *(f"{found:.2f}" for found in figures["paper_datagrams"][over].values())] for over, label in DATAGRAMS.items())])
    rows = {**figures["voice"]["simulated"], "weir": figures["voice"]["weir_sender"]}
    for loss in (10, 4):
        yield (f"A voice, 160 bytes every 20 ms, {loss} % lost each way; seeds {VOICE_SEEDS}: % of 3000 frames of use",
               [["", *(f"within {within} ms" for within in WITHIN), "packets", "KB sent"],
                *([label, *(f"{rows[over][f'within_{within}_ms_at_{loss}']:.2f}" for within in WITHIN),
                   f"{figures['voice_sent'][over][str(loss)]['segments']:.0f}", f"{figures['voice_sent'][over][str(loss)]['kilobytes']:.0f}"]
                  for over, label in VOICES.items())])


def plots(figures, folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    figure, axes = pyplot.subplots(1, len(WITHIN), figsize=(12, 4), sharey=True)
    rows = {**figures["voice"]["simulated"], "weir": figures["voice"]["weir_sender"]}
    for axis, within in zip(axes, WITHIN):
        for over, label in VOICES.items():
            axis.plot(LOSSES, [rows[over][f"within_{within}_ms_at_{loss}"] for loss in LOSSES], marker="o", markersize=3, label=label, linestyle="--" if over == "udp" else "-", zorder=3 if over == "udp" else 2,
                      linewidth=2.2 if over == "weir" else 1.2)
        axis.set_title(f"within {within} ms")
        axis.set_xlabel("% lost each way")
        axis.grid(alpha=.3)
    axes[0].set_ylabel("% of frames")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(folder / "voice-simulated.png", dpi=110)
    pyplot.close(figure)
    yield "voice-simulated.png", "A voice over a lossy link, in the simulator"
