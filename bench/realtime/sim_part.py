# SPDX-License-Identifier: BSD-2-Clause
"""The simulated part: the work's own benchmark with its sender modelled, delay, buffer and period swept, window updates, fairness, and what
the mode costs. Deterministic. The seeds are others than those the mode was made with."""
import collections
import pathlib
import re
import subprocess

import common

TITLE = "In the simulator, from a modelled Embedded Xinu"
SEEDS = "1001-1020"
SWEEP_SEEDS = "1001-1006"
LOSSES = (0, 2, 4, 6, 8, 10)
MODES = ("regular", "regular_update", "skip", "skip_update", "weir")
LABELS = {"regular": "regular TCP", "regular_update": "regular + window update", "skip": "the work: skip", "skip_update": "the work: skip + update",
          "weir": "Weir"}
COLOURS = {"regular": "#999999", "regular_update": "#777777", "skip": "#e0a030", "skip_update": "#c8553d", "weir": "#1b6ca8"}
SWEEPS = {   # at 4 % loss: the option of the program, its values, the label
    "delay_ms": ("delay_us", (1, 5, 10, 25, 50, 100, 200, 400), 1000, "delay each way, ms"),
    "buffer_frames": ("buffer", (1, 2, 3, 4, 8), 2048, "receive buffer, frames"),
    "period_ms": ("period", (20, 50, 100, 250, 500, 1000), 1, "period, ms"),
}
HARD = {   # links and buffers that hardly carry the stream
    "200 ms each way, 4 KB": {"delay_us": 200000}, "200 ms, 8 KB": {"delay_us": 200000, "buffer": 8192}, "200 ms, 16 KB": {"delay_us": 200000, "buffer": 16384},
    "every 20 ms, 4 KB": {"period": 20}, "20 ms, 8 KB": {"period": 20, "buffer": 8192}, "20 ms, 16 KB": {"period": 20, "buffer": 16384}}
FAIR_QUEUES = {   # 100 ms of the link, half and twice that; and one that counts packets
    "12.5 KB": {"queue": 12500}, "25 KB": {"queue": 25000}, "50 KB": {"queue": 50000}, "33 packets": {"queue": 0, "queue_frames": 33}}
FAIR_ORDINARY = {"ordinary": "ordinary TCP", "ordinary_small": "ordinary, segments of 512"}
FAIR_REAL_TIME = {"real_time": "Weir's receiver", "real_time_both": "Weir at both ends"}
FAIR_FLOWS = {"ordinary": {"mode": "off", "buffer": 0}, "ordinary_small": {"mode": "off", "buffer": 0, "mss": 512},
              "real_time": {"mode": "weir", "buffer": 8192}, "real_time_both": {"mode": "weir", "buffer": 8192, "deadline": 500}}
SAME_FRAMES = 0.95   # of what was written, through ordinary connections: less is not "the same frames"
SAME_SHARE = 0.9     # of the frames that the ordinary connections with all defaults carry, at every queue
SWEPT = ("regular_update", "skip_update", "weir")
SWEEP_LOSS = 4
GOALS = {
    **{f"paper.regular.{loss}": ("<=", 2) for loss in LOSSES},
    **{f"paper.skip.{loss}": (sign, value) for loss in LOSSES for sign, value in ((">=", 62),)},
    **{f"paper.skip_update.{loss}": (">=", 100 - loss) for loss in LOSSES},
    **{f"paper.weir.{loss}": (">=", goal) for loss, goal in zip(LOSSES, (100, 100, 100, 100, 99.99, 99.96))},
    "paper_skip_highest": ("<=", 68), "updates_ratio_at_0": ("<=", 0.5), "rt.paper_mode_lines": ("<=", 90), "fairness.cubic_loss_percent": ("<=", 10),
    "weir_minus_skip_update_min": (">=", 0), "packet_queue_frames_ratio": (">=", SAME_SHARE), "fairness.frames_ratio_min": (">=", SAME_SHARE),
}


def simulate(command, **options):
    return common.line([common.ROOT / "build/host/weir-realtime", command, *(f"{name}={value}" for name, value in options.items())])


def player(mode, loss, seeds=SEEDS, **options):
    return simulate("player", mode=mode, loss=loss * 10000, seeds=seeds, **options)


# --- the work's table -----------------------------------------------------------------------------------------------------------------------
def paper(progress):
    met, details, others = collections.defaultdict(dict), collections.defaultdict(dict), collections.defaultdict(dict)
    for mode in MODES:
        for loss in LOSSES:
            progress.step(f"{mode}, {loss} %")
            found = player(mode, loss)
            if found["wrong_frames"]:
                raise common.Failed(f"{mode} at {loss} %: a frame with other bytes than were sent")
            met[mode][str(loss)] = round(found["met_percent"], 2)
            details[mode][str(loss)] = found
            others[mode][str(loss)] = round(player(mode, loss, no_fr=1)["met_percent"], 2)
    every, need = details["skip_update"]["0"]["updates"]["every_read"], sum(details["weir"]["0"]["updates"].values())
    return {"paper": met, "paper_without_fast_retransmit": others, "paper_details": details, "paper_skip_highest": max(met["skip"].values()),
            "paper_regular_resync": {loss: round(found["resync_percent"], 2) for loss, found in details["regular_update"].items()},
            "updates_ratio_at_0": round(need / every, 3) if met["weir"]["0"] == 100 else None}


def sweeps(progress):
    swept = {}
    for name, (option, values, unit, label) in SWEEPS.items():
        swept[name] = {mode: {} for mode in SWEPT}
        for mode in SWEPT:
            progress.step(f"{label.split(',')[0]} swept, {mode}")
            for value in values:
                swept[name][mode][str(value)] = round(player(mode, SWEEP_LOSS, SWEEP_SEEDS, **{option: value * unit})["met_percent"], 2)
    return {"sweeps": swept}


def beside_skip_update(progress):
    """By how much more of its deadlines Weir's mode meets than Embedded Xinu's with window updates: each value of each sweep, at each loss."""
    more = {}
    for name, (option, values, unit, label) in SWEEPS.items():
        progress.step(f"{label.split(',')[0]} swept at every loss")
        for value in values:
            for loss in LOSSES:
                weir, work = (player(mode, loss, **{option: value * unit})["met_percent"] for mode in ("weir", "skip_update"))
                more[f"{name} {value}, {loss} %"] = round(weir - work, 3)
    return {"weir_minus_skip_update": more, "weir_minus_skip_update_min": min(more.values())}


def hard(progress):
    """What hiding losses brings: deadlines met, and how many of the lost segments the sender knew of and sent again."""
    progress.step("links that hardly carry the stream")
    found = {label: {mode: player(mode, SWEEP_LOSS, SWEEP_SEEDS, **options) for mode in ("skip_update", "weir")} for label, options in HARD.items()}
    return {"hard": {label: {mode: {"met_percent": round(run["met_percent"], 2), "retransmits": run["sender"]["retransmits"]} for mode, run in row.items()}
                     for label, row in found.items()}}


# --- fairness, and what it costs ------------------------------------------------------------------------------------------------------------
def fairness(progress):
    """Ten cubic flows beside ten streams, whose sources are the same: a frame each period into a socket with its defaults. Ordinary connections read in
    order, with all defaults, or segments as small as the real-time ones'. The figure is the worst of all comparisons with ordinary connections that
    carry the same frames; where they fall behind and carry fewer, the rest goes to the cubic flows: that difference is kept beside it."""
    progress.step("ten streams beside ten cubic flows")
    alone = simulate("fairness", mode="off", seeds=SWEEP_SEEDS, streams=0)
    wanted = simulate("fairness", mode="off", seeds=SWEEP_SEEDS, flows=0, send=0)["written_kbit"]
    rows, same, fewer = {}, {}, {}
    for queue, of_link in FAIR_QUEUES.items():
        row = rows[queue] = {name: simulate("fairness", seeds=SWEEP_SEEDS, send=0, **of_link, **flows) for name, flows in FAIR_FLOWS.items()}
        for name in FAIR_REAL_TIME:
            for ordinary in FAIR_ORDINARY:
                less = round(100 * (1 - row[name]["cubic_kbit"] / row[ordinary]["cubic_kbit"]), 2)
                (same if row[ordinary]["frames_kbit"] >= SAME_FRAMES * wanted else fewer)[f"{queue}, {name}, {ordinary}"] = less
    ratios = {queue: round(row["real_time"]["frames_kbit"] / row["ordinary"]["frames_kbit"], 3) for queue, row in rows.items()}
    return {"packet_queue_frames_ratio": ratios["33 packets"],
            "fairness": {"frames_ratio": ratios, "frames_ratio_min": min(ratios.values()), "cubic_loss_percent": max(same.values()), "same_frames": same, "fewer_frames": fewer, "cubic_alone_kbit": alone["cubic_kbit"],
                         "frames_kbit": wanted, "by_queue": rows}}


def object_code(path):
    text = subprocess.run(["arm-none-eabi-size", "-A", path], capture_output=True, text=True, check=True).stdout
    return sum(int(size) for size in re.findall(r"^\.(?:text|rodata|data\.rel\.ro)\S*\s+(\d+)", text, re.M))


def cost():
    """Bytes of code on a Cortex-M3 (gcc -Os), profile small, and of a stream's state there; lines of the work's mode, comments included."""
    sources = sorted(str(path.relative_to(common.ROOT)) for path in (common.ROOT / "src/rt").glob("*.c")) + ["src/tcp/realtime.c", "src/socket/realtime.c"]
    objects = [f"build/m3/small/obj/{source[:-2]}.o" for source in sources]
    common.run(["make", "-s", *objects])
    probe = common.OUT / "realtime/probe"
    probe.with_suffix(".c").write_text('#include "rt/rt.h"\nchar probe[sizeof(struct rt)] = {1};\n')
    common.run(["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-DWEIR_PROFILE_SMALL", "-Iinclude", "-Isrc", "-c", probe.with_suffix(".c"), "-o", probe.with_suffix(".o")])
    names, _ = common.run(["arm-none-eabi-nm", "-S", probe.with_suffix(".o")])
    code = {source: object_code(common.ROOT / path) for source, path in zip(sources, objects)}
    return {"rt": {"paper_mode_lines": len(pathlib.Path(common.ROOT / "src/rt/skip2009.c").read_text().splitlines()), "code_bytes": sum(code.values()),
                   "bytes_per_connection": int(names.split()[1], 16), "code": code}}


def measure():
    progress = common.Progress("real time, simulated", len(MODES) * len(LOSSES) + len(SWEEPS) * (len(SWEPT) + 1) + 2)
    return {**paper(progress), **sweeps(progress), **beside_skip_update(progress), **hard(progress), **fairness(progress), **cost()}


# --- shown ------------------------------------------------------------------------------------------------------------------------------------
def by(found, keys):
    """In the order of the keys, which in a file that was merged is not that of the object."""
    return [found[str(key)] for key in keys]


def row(label, values):
    return [label, *(f"{value:.2f}" for value in values)]


def tables(figures):
    head = ["% of deadlines met", *(f"{loss} % lost" for loss in LOSSES)]
    yield ("The work's benchmark: 719 KB, 2 KB every 250 ms, 4 KB buffer, 10 ms each way; 20 seeds",
           [head, *(row(LABELS[mode], by(figures["paper"][mode], LOSSES)) for mode in MODES),
            row("regular + update, player resyncs", by(figures["paper_regular_resync"], LOSSES))])
    yield ("… and a sender without fast retransmit", [head, *(row(LABELS[mode], by(figures["paper_without_fast_retransmit"][mode], LOSSES)) for mode in MODES)])
    counts = [(reason, reason.replace("_", " ")) for reason in figures["paper_details"]["weir"]["0"]["updates"]]
    yield ("Weir's ACKs a run, and why those without news of data left",
           [["", *head[1:]], *(row(label, (found["updates"][reason] for found in by(figures["paper_details"]["weir"], LOSSES))) for reason, label in counts),
            row("all ACKs", (found["acks"] for found in by(figures["paper_details"]["weir"], LOSSES))),
            row("all ACKs of skip + update", (found["acks"] for found in by(figures["paper_details"]["skip_update"], LOSSES)))])
    for name, (_, values, _, label) in SWEEPS.items():
        yield (f"{label.split(',')[0]} swept, {SWEEP_LOSS} % lost",
               [[label, *map(str, values)], *(row(LABELS[mode], by(figures["sweeps"][name][mode], values)) for mode in SWEPT)])
    for name, (_, values, _, label) in SWEEPS.items():
        yield (f"Weir less Embedded Xinu's skip and update, points of the percentage: {label} down, % lost across; 20 seeds",
               [["", *(f"{loss} %" for loss in LOSSES)],
                *(row(str(value), (figures["weir_minus_skip_update"][f"{name} {value}, {loss} %"] for loss in LOSSES)) for value in values)])
    yield (f"Links and buffers that hardly carry the stream, {SWEEP_LOSS} % lost: % of deadlines met / segments the sender knew to be lost, of some 28",
           [["", *HARD], *([LABELS[mode], *(f"{figures['hard'][label][mode]['met_percent']:.2f} / {figures['hard'][label][mode]['retransmits']:.0f}" for label in HARD)]
                           for mode in ("skip_update", "weir"))])
    fair = figures["fairness"]
    flows = {**FAIR_ORDINARY, **FAIR_REAL_TIME}
    yield (f"Ten cubic flows on 2 Mbit/s (alone {fair['cubic_alone_kbit']:.0f}) beside ten streams of 2 KB every 250 ms ({fair['frames_kbit']:.0f}), kbit/s: cubic / frames read",
           [["queue", *flows.values()], *([queue, *(f"{row[name]['cubic_kbit']:.0f} / {row[name]['frames_kbit']:.0f}" for name in flows)]
                                         for queue, row in fair["by_queue"].items())])
    compared = {**fair["same_frames"], **fair["fewer_frames"]}
    yield ("… and what the cubic flows lose by it, %; in brackets: to less than the same frames",
           [["queue", *(f"{FAIR_REAL_TIME[name]}, to {FAIR_ORDINARY[ordinary]}" for name in FAIR_REAL_TIME for ordinary in FAIR_ORDINARY)],
            *([queue, *(f"{compared[key]:.2f}" if key in fair["same_frames"] else f"({compared[key]:.2f})"
                        for key in (f"{queue}, {name}, {ordinary}" for name in FAIR_REAL_TIME for ordinary in FAIR_ORDINARY))] for queue in fair["by_queue"])])
    yield ("What it costs (Cortex-M3, gcc -Os)", [["bytes", ""], *([path, size] for path, size in figures["rt"]["code"].items()),
                                                   ["all code", figures["rt"]["code_bytes"]], ["a stream that uses it", figures["rt"]["bytes_per_connection"]]])


def plots(figures, folder):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    def finish(figure, name, title):
        figure.tight_layout()
        figure.savefig(folder / name, dpi=110)
        pyplot.close(figure)
        return name, title

    figure, axis = pyplot.subplots(figsize=(8, 4.5))
    for mode in MODES:
        axis.plot(LOSSES, by(figures["paper"][mode], LOSSES), "o-", label=LABELS[mode], color=COLOURS[mode])
    axis.plot(LOSSES, [100 - loss for loss in LOSSES], ":", color="#bbbbbb", label="as many as packets arrive")
    axis.set(xlabel="packets lost each way, %", ylabel="deadlines met, %", ylim=(-2, 102))
    axis.legend(fontsize=8, loc="center left")
    axis.spines[["top", "right"]].set_visible(False)
    yield finish(figure, "paper.png", "Deadlines met over loss, the work's modes and Weir's")
    figure, axes = pyplot.subplots(1, 3, figsize=(12, 4))
    for axis, (name, (_, values, _, label)) in zip(axes, SWEEPS.items()):
        for mode in SWEPT:
            axis.plot(values, by(figures["sweeps"][name][mode], values), "o-", label=LABELS[mode], color=COLOURS[mode])
        axis.set(xlabel=label, ylim=(-2, 102), xscale="log")
        axis.set_xticks(values, [str(value) for value in values])
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(f"deadlines met at {SWEEP_LOSS} % loss, %")
    axes[0].legend(fontsize=8)
    yield finish(figure, "sweeps.png", "Deadlines met over delay, buffer and period")
