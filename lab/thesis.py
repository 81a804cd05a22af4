# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 1: chapter 5 of the thesis. 5 MB each way over a near-zero delay, at 0 and 15 % loss on the receiver's input, with the
variations that were tried there, and 270 MB received."""
import random

from net import Link, Network, Options
from runs import OUT, median, write_json

SIZE, BIG = 5 << 20, 270 << 20
KEPT_WITHIN = 5   # percent that a timer's tick may change of Weir
TICK_NETWORKS, TICK_ROUNDS = 120, 4   # what is to be seen is smaller than what two transfers differ by
# As the thesis reports them, seconds.
THESIS = {"send, no loss": 44, "send, clock × 2": 36, "send, clock ÷ 10": 31, "a desktop's Linux, send, no loss": 2.5, "the Portux's Linux, send, no loss": 3,
          "send, 15 %, clock × 2": 204, "a desktop's Linux, send, 15 %": 47, "send, 15 %, receive buffer 5 KB": 628.5, "receive, no loss": 29,
          "receive without copying": 16, "receive 270 MB": 1230, "a desktop's Linux, receive 270 MB": 374}
# µs. A clock of twice the rate ticks each 5 ms, one of a tenth each 100 ms: those are section 5.1's. The others, twice and a tenth of the period, are
# measured with bbr besides.
BASE, DOUBLED, TENTH = "tick 10 ms", "tick 5 ms (the clock doubled)", "tick 100 ms (a tenth of the clock)"
CLOCKS = {BASE: 10000, DOUBLED: 5000, TENTH: 100000}
TICKS = {**CLOCKS, "tick 20 ms": 20000, "tick 1 ms": 1000}
CLOCK_NETWORKS = 24   # of reno and cubic, whose transfers take seconds, nearly all of them in waiting for timeouts


class Thesis:
    title = "The thesis, chapter 5: 5 MB over a near-zero delay"

    def __init__(self, runs, quick):
        self.rows, self.ticks, self.clocks = [], {}, {}
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
            for sender in ("weir", "linux"):
                self.add(runs, f"received, {base['loss_text']}", sender, "weir", loss, repeats if sender == "weir" or not loss else 2, 1 if sender == "weir" or not loss else 12,
                         cc="bbr" if sender == "weir" else "cubic")
        self.add_ticks(runs, quick)
        for end in ("weir", "linux"):
            self.add(runs, "270 MB received from Linux", "linux", end, 0, 1 if quick else 3, 4, cc="cubic", size=BIG)
        for copy in (False, True):
            run = runs.run("thesis-copy", {"copy": copy, "seconds": 2 if quick else 5}, 3 if quick else 8,
                           lambda copy=copy: bulk_rate(Options(copy=copy), 2 if quick else 5), "weir")
            self.rows.append((f"receiving {'by copying' if copy else 'in place (peek, consume)'}, Mbit/s", "linux", "weir", [run], "mbit"))

    def add_ticks(self, runs, quick):
        for loss in (0, 15):
            self.ticks[loss] = [runs.run("thesis-ticks", {"seed": link.seed, "rounds": TICK_ROUNDS, "cc": "bbr", "ticks": sorted(TICKS.values())}, 5, kind="weir", link=link,
                                         function=lambda link=link: tick_rounds(link, TICK_ROUNDS, "bbr", TICKS)) for link in tick_links(loss, 3 if quick else TICK_NETWORKS)]
        for cc, seconds in (("reno", 10), ("cubic", 25)):
            self.clocks[cc] = [runs.run("thesis-clocks", {"seed": link.seed, "cc": cc, "ticks": sorted(CLOCKS.values())}, 3 * seconds, kind="weir", share=0.125, link=link,
                                        function=lambda link=link, cc=cc: tick_rounds(link, 1, cc, CLOCKS)) for link in tick_links(15, 4 if quick else CLOCK_NETWORKS)]

    def add(self, runs, label, sender, receiver, loss, repeats, expected, cc, size=SIZE, sender_options=Options(), receiver_options=Options()):
        found = []
        for seed in range(1, repeats + 1):
            what = {"label": label, "sender": sender, "receiver": receiver, "loss": loss, "cc": cc, "size": size, "seed": seed,
                    "options": f"{sender_options} {receiver_options}" if (sender_options, receiver_options) != (Options(), Options()) else ""}
            waits = loss and cc != "bbr"   # for timeouts, nearly all the time
            link = Link(loss=loss, spare_arp=1, seed=seed)
            found.append(runs.run("thesis", what, expected + 1, kind="weir" if "weir" in (sender, receiver) else "linux", share=0.125 if waits else 1, link=link,
                                  function=lambda link=link: transfer(link, sender, receiver, size, cc, sender_options, receiver_options)))
        self.rows.append((label, sender, receiver, found, "s"))

    def report(self, page):
        table, values = [["", "from", "to", "median", "smallest", "largest", "runs"]], {}
        ticks = {loss: [run.result() for run in found if run.result()] for loss, found in self.ticks.items()}
        rows = [(label, sender, receiver, [run.result() for run in found if run.result() is not None], unit) for label, sender, receiver, found, unit in self.rows]
        clocks = {cc: [run.result() for run in found if run.result()] for cc, found in self.clocks.items()}
        rows += [(f"{tick}, {loss} % loss, bbr", "weir", "weir", together(found, tick), "s") for loss, found in ticks.items() for tick in TICKS]
        rows += [(f"{tick}, 15 % loss, {cc}", "weir", "weir", together(found, tick), "s") for cc, found in clocks.items() for tick in CLOCKS]
        for label, sender, receiver, seconds, unit in rows:
            if not seconds:
                continue
            values[f"{label}, {sender} to {receiver}"] = {"unit": unit, "median": round(median(seconds), 4), "all": seconds}
            table.append([label, sender, receiver, *(f"{value:,.3f} {unit}" for value in (median(seconds), min(seconds), max(seconds))), str(len(seconds))])
        best = {end: {label: value["median"] for label, value in values.items() if "15 % loss" in label and label.startswith("send,") and label.endswith(f"{end} to linux")}
                for end in ("weir", "linux")}
        changes = {str(loss): {tick: change(found, tick) for tick in TICKS if tick != BASE} for loss, found in ticks.items() if found}
        by_clock = {cc: {tick: change(found, tick) for tick in (DOUBLED, TENTH)} for cc, found in {**clocks, "bbr": ticks.get(15)}.items() if found}
        write_json("thesis.json", {"median_s_at_15": min(best["weir"].values(), default=None), "linux_median_s_at_15": min(best["linux"].values(), default=None),
                                   "by_algorithm_at_15": best, "tick_change_percent": changes, "clock_change_percent": by_clock,
                                   "tick_100ms_percent": {cc: row[TENTH][0] for cc, row in by_clock.items()}, "rows": values, "thesis_s": THESIS})
        page.section(self.title, "Seconds from connect until the receiver has read everything and closed; the link has no rate limit and no delay, losses are independent, "
                     "towards the receiver.")
        page.table(table)
        for loss, row in changes.items():
            page.text(f"At {loss} % loss the clock's tick changes the median (the handshake is spared, the ends share one core, the link has the other; in brackets "
                      "between what 95 of 100 repetitions would find it): " + "; ".join(
                f"{tick} against 10 ms {value:+.1f} % ({low:+.1f} to {high:+.1f}), {verdict(low, high)} {KEPT_WITHIN} %" for tick, (value, low, high) in row.items()) + ".")
        page.text("At 15 % loss the clock's rate changes the median: " + "; ".join(
            f"{cc}: " + ", ".join(f"{tick} {value:+.1f} % ({low:+.1f} to {high:+.1f})" for tick, (value, low, high) in row.items()) for cc, row in by_clock.items()) + ".")
        cells = [(cc, loss) for loss in ("no loss", "15 % loss") for cc in ("reno", "cubic", "bbr")]
        page.svg("thesis-send", "5 MB to Linux, seconds", [f"{cc}, {loss.replace(' loss', '')}" for cc, loss in cells],
                 {who: [values.get(f"send, {loss}, {cc}, {end} to linux", {}).get("median") for cc, loss in cells] for who, end in (("Linux", "linux"), ("Weir", "weir"))},
                 "congestion control, loss", logarithmic=True, joined=False)
        page.table([["in the thesis", "s"], *([label, f"{value:g}"] for label, value in THESIS.items())])
        page.commands({f"{label}, {sender} to {receiver}": found for label, sender, receiver, found, _ in self.rows} | {f"ticks, {loss} % loss": found for loss, found in self.ticks.items()} |
                      {f"clocks, 15 % loss, {cc}": found for cc, found in self.clocks.items()})


def together(networks, tick):
    return [seconds for network in networks for seconds in network[tick]]


def change(networks, tick, draws=1000):
    """Percent by which the median with `tick` is above that with BASE, and between what 95 of 100 repetitions would find it: a bootstrap that draws
    whole networks, in each of which the ticks had their turns."""
    def ratio(chosen):
        return median(together(chosen, tick)) / median(together(chosen, BASE))
    dice = random.Random(1)
    found = sorted(ratio(dice.choices(networks, k=len(networks))) for _ in range(draws))
    return [round(100 * (value - 1), 1) for value in (ratio(networks), found[draws // 40], found[-1 - draws // 40])]


def verdict(low, high):
    if -KEPT_WITHIN <= low and high <= KEPT_WITHIN:
        return "within"
    return "beyond" if low > KEPT_WITHIN or high < -KEPT_WITHIN else "too few runs to tell whether within"


def transfer(link, sender, receiver, size, cc, sender_options, receiver_options):
    with Network(link, sender, receiver, OUT / "network", sender_options, receiver_options, serve=False) as network:
        return network.transfer(size, cc)


def tick_links(loss, count):
    return (Link(loss=loss, spare_arp=1, spare_handshake=1, seed=seed) for seed in range(1, 1 + count))


def tick_rounds(link, rounds, cc, ticks):
    """{tick: [seconds, …]}: each tick in its turn, and another first in the next network: neither place nor hour tells them apart."""
    first, seen = link.seed % len(ticks), {tick: [] for tick in ticks}
    order = list(ticks)[first:] + list(ticks)[:first]
    with Network(link, "weir", "weir", OUT / "network", serve=False, apart=True) as network:
        for tick in order * rounds:
            network.equip(*[Options(tick_us=ticks[tick])] * 2)
            seen[tick].append(network.transfer(SIZE, cc))
    return seen


def bulk_rate(receiver_options, seconds):
    with Network(Link(), "linux", "weir", OUT / "network", receiver_options=receiver_options) as network:
        return network.bulk("cubic", seconds)["mbit"]
