# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 1: chapter 5 of the thesis. 5 MB each way over a near-zero delay, at 0 and 15 % loss on the receiver's input, with the
variations that were tried there, and 270 MB received."""
import random

from net import Link, Network, Options
from runs import OUT, median, write_json

SIZE, BIG = 5 << 20, 270 << 20
KEPT_WITHIN = 5   # percent that a timer's tick may change of Weir
TICK_REPEATS = 201   # what is to be seen is smaller than what two runs differ by
# As the thesis reports them, seconds.
THESIS = {"send, no loss": 44, "send, clock × 2": 36, "send, clock ÷ 10": 31, "Linux, send, no loss": 2.5, "send, 15 %": 204, "Linux, send, 15 %": 47,
          "send, 15 %, receive buffer 5 KB": 628.5, "receive, no loss": 29, "receive without copying": 16, "receive 270 MB": 1230, "Linux, receive 270 MB": 374}
TICK = 10000   # µs: the tick that is doubled and divided


class Thesis:
    title = "The thesis, chapter 5: 5 MB over a near-zero delay"

    def __init__(self, runs, quick):
        self.rows = []
        repeats = 3 if quick else 11
        for cc in ("reno", "cubic", "bbr"):
            for end in ("weir", "linux"):
                self.add(runs, f"send, no loss, {cc}", end, "linux", 0, repeats, 1, cc=cc)
                slow = end == "linux" and cc != "bbr"
                self.add(runs, f"send, 15 % loss, {cc}", end, "linux", 15, (2 if slow else repeats) if quick else repeats, 15 if cc != "bbr" else 1, cc=cc)
        for loss, expected in ((0, 1), (15, 1)):
            base = {"cc": "bbr", "loss_text": f"{loss} % loss"}
            for label, sender, receiver in (("send buffer × 1", Options(send_buffer=262144), Options()), ("send buffer × 5", Options(send_buffer=5 * 262144), Options()),
                                            ("receive buffer 5 KB", Options(), Options(receive_buffer=5120))):
                self.add(runs, f"{label}, {base['loss_text']}, bbr", "weir", "weir", loss, repeats, expected * (5 if "5 KB" in label else 1), cc="bbr",
                         sender_options=sender, receiver_options=receiver)
            begin = len(runs.plan)
            for label, tick in (("tick 10 ms", TICK), ("tick 20 ms", 2 * TICK), ("tick 1 ms", TICK // 10)):
                self.add(runs, f"{label}, {base['loss_text']}, bbr", "weir", "weir", loss, repeats if quick else TICK_REPEATS, 0, cc="bbr",
                         sender_options=Options(tick_us=tick), receiver_options=Options(tick_us=tick), apart=True)
            runs.plan[begin:] = sorted(runs.plan[begin:], key=lambda run: run.key["seed"])   # in turns: the machine is not as fast all the time
            for sender in ("weir", "linux"):
                self.add(runs, f"received, {base['loss_text']}", sender, "weir", loss, repeats if sender == "weir" or not loss else 2, 1 if sender == "weir" or not loss else 12,
                         cc="bbr" if sender == "weir" else "cubic")
        for end in ("weir", "linux"):
            self.add(runs, "270 MB received from Linux", "linux", end, 0, 1 if quick else 3, 4, cc="cubic", size=BIG)
        for copy in (False, True):
            run = runs.run("thesis-copy", {"copy": copy, "quick": quick}, 3 if quick else 8,
                           lambda copy=copy: bulk_rate(Options(copy=copy), 2 if quick else 5))
            self.rows.append((f"receiving {'by copying' if copy else 'in place (peek, consume)'}, Mbit/s", "linux", "weir", [run], "mbit"))

    def add(self, runs, label, sender, receiver, loss, repeats, expected, cc, size=SIZE, sender_options=Options(), receiver_options=Options(),
            apart=False):
        found = []
        for seed in range(1, repeats + 1):
            what = {"label": label, "sender": sender, "receiver": receiver, "loss": loss, "cc": cc, "size": size, "seed": seed,
                    "options": f"{sender_options} {receiver_options}" if (sender_options, receiver_options) != (Options(), Options()) else "",
                    **({"apart": True} if apart else {})}
            waits = loss and cc != "bbr"   # for timeouts, nearly all the time
            found.append(runs.run("thesis", what, expected + 1, weir="weir" in (sender, receiver), share=0.25 if waits else 1, function=lambda seed=seed: transfer(
                Link(loss=loss, spare_arp=1, spare_handshake=int(apart), seed=seed), sender, receiver, size, cc, sender_options, receiver_options, apart)))
        self.rows.append((label, sender, receiver, found, "s"))

    def report(self, page):
        table, values = [["", "from", "to", "median", "smallest", "largest", "runs"]], {}
        for label, sender, receiver, found, unit in self.rows:
            seconds = [run.result() for run in found if run.result() is not None]
            if not seconds:
                continue
            values[f"{label}, {sender} to {receiver}"] = {"unit": unit, "median": round(median(seconds), 4), "all": seconds}
            table.append([label, sender, receiver, *(f"{value:,.3f} {unit}" for value in (median(seconds), min(seconds), max(seconds))), str(len(seconds))])
        best = {end: {label: value["median"] for label, value in values.items() if "15 % loss" in label and label.startswith("send,") and label.endswith(f"{end} to linux")}
                for end in ("weir", "linux")}
        ticks = {loss: {key.split(",")[0]: value["all"] for key, value in values.items() if key.startswith("tick") and f"{loss} % loss" in key} for loss in (0, 15)}
        changes = {str(loss): {tick: change(seen, row["tick 10 ms"]) for tick, seen in row.items() if tick != "tick 10 ms"} for loss, row in ticks.items() if len(row) == 3}
        write_json("thesis.json", {"median_s_at_15": min(best["weir"].values(), default=None), "linux_median_s_at_15": min(best["linux"].values(), default=None),
                                   "by_algorithm_at_15": best, "tick_change_percent": changes, "rows": values, "thesis_s": THESIS})
        page.section(self.title, "Seconds from connect until the receiver has read everything and closed; the link has no rate limit and no delay, losses are independent, "
                     "towards the receiver.")
        page.table(table)
        for loss, row in changes.items():
            page.text(f"At {loss} % loss the clock's tick changes the median (the handshake is spared, the ends share one core, the link has the other): " + "; ".join(
                f"{tick} against 10 ms {value:+.1f} % ({low:+.1f} to {high:+.1f})" for tick, (value, low, high) in row.items()) + f". It may by {KEPT_WITHIN} %.")
        page.table([["in the thesis", "s"], *([label, f"{value:g}"] for label, value in THESIS.items())])
        page.command("build/host/weir-link lab0 lab1 --loss=15; weir-host --packet lab0 --address 10.66.0.1/24 --no-offload --cc bbr --run 'send FILE 10.66.0.2 5001'")


def change(seen, base, draws=1000):
    """Percent by which the median of `seen` is above that of `base`, and between what 95 of 100 repetitions would find it (bootstrap)."""
    dice = random.Random(1)
    found = sorted(median(dice.choices(seen, k=len(seen))) / median(dice.choices(base, k=len(base))) for _ in range(draws))
    return [round(100 * (ratio - 1), 1) for ratio in (median(seen) / median(base), found[draws // 40], found[-1 - draws // 40])]


def transfer(link, sender, receiver, size, cc, sender_options, receiver_options, apart):
    with Network(link, sender, receiver, OUT / "network", sender_options, receiver_options, serve=False, apart=apart) as network:
        return network.transfer(size, cc)


def bulk_rate(receiver_options, seconds):
    with Network(Link(), "linux", "weir", OUT / "network", receiver_options=receiver_options) as network:
        return network.bulk("cubic", seconds)["mbit"]
