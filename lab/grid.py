# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 3: goodput over loss at 10 and 100 Mbit/s, 20 ms, a queue of one bandwidth-delay product: in the simulator (all algorithms, five
seeds), and in real time (a subset, with Linux beside it) to show that the two agree: what is compared lasted equally long, and began alike."""
import itertools

from net import LINUX_OWN, UML_ONLY, Link, Network, uml_there
from runs import OUT, mean, simulate, write_json

RATES = (10, 100)
LOSSES = (0, 0.1, 1, 2, 5, 10, 15)
AGREE = 10   # percent
IPERF3_GREETING = 37   # bytes: who it is, on each connection. What they do to an estimate of the bandwidth is seen for seconds (westwood)
SIM_SEEDS = 21   # of what the runs in real time are compared with, so that only theirs scatter
CELLS, CELL_COST = (len(LINUX_OWN + UML_ONLY) + 1) * len(RATES) * len(LOSSES), 0.001   # simulated, bbr3 besides; seconds that one takes for a second and seed
SECONDS = 15
ORDERED, LONG = (0, 1), 60   # percent and seconds: the five in user-mode Linux's order. In 15 s single runs scatter by more than two of them differ


def seconds_of(cc, loss, quick):
    return 5 if quick else LONG if cc in UML_ONLY and loss in ORDERED else SECONDS


def queue_bytes(rate):
    return int(rate * 1e6 / 8 * 0.020)


class Grid:
    title = "Goodput over loss: simulated, and in real time with Linux beside it"

    def __init__(self, runs, quick):
        self.quick = quick
        def simulated(cells=CELLS, **settings):
            return runs.run("sim-grid", settings, cells * CELL_COST * settings["seconds"] * settings["seeds"], lambda: simulate("grid", **settings), "sim")
        alike = {"seeds": SIM_SEEDS, "greeting": IPERF3_GREETING}
        self.sim = simulated(seconds=5, seeds=1) if quick else simulated(seconds=LONG, seeds=5)
        self.alike = {5: simulated(seconds=5, **alike)} if quick else {   # by seconds
            SECONDS: simulated(seconds=SECONDS, **alike),
            LONG: simulated(seconds=LONG, **alike, cc=",".join(UML_ONLY), loss=",".join(map(str, ORDERED)), cells=len(RATES) * len(UML_ONLY) * len(ORDERED))}
        rates, losses = ((100,), (1, 10)) if quick else (RATES, LOSSES)
        self.real = {}
        for rate in rates:
            for loss in losses:
                for cc in LINUX_OWN + (UML_ONLY if not quick and loss in (0, 1, 10) else ()):
                    for end in ("linux", "weir"):
                        kind = "uml" if end == "linux" and cc in UML_ONLY else end
                        if kind == "uml" and not uml_there():
                            continue
                        seconds = seconds_of(cc, loss, quick)
                        links = (Link(rate=rate, delay=10, queue=queue_bytes(rate), loss=loss, seed=seed)
                                 for seed in range(1, 1 + (1 if quick else repeats(rate, loss, cc, kind))))
                        self.real[end, cc, rate, loss] = [
                            runs.run("grid", {"rate": rate, "loss": loss, "cc": cc, "sender": kind, "seconds": seconds, "seed": link.seed},
                                     seconds + (5 if kind == "uml" else 2), kind=kind, share=share(rate, loss, cc, kind), link=link,
                                     function=lambda cc=cc, kind=kind, link=link, seconds=seconds: bulk(link, cc, kind, seconds)) for link in links]

    def report(self, page):
        sim, alike = self.sim.result() or {}, {}
        for seconds, run in self.alike.items():   # each cell from the runs that lasted as long as its own in real time
            alike |= {key: value for key, value in (run.result() or {}).items() if "." in key and seconds == seconds_of(*cell_of(key), self.quick)}
        for name, result in (("sim-grid.json", sim), ("sim-alike.json", alike)):
            if result:
                write_json(name, result)
        values, means, missing = {}, {}, {}
        for (end, cc, rate, loss), found in self.real.items():
            cell, seen = f"{end}.{cc}.{rate}.{loss:g}", [run.result()["mbit"] for run in found if run.result()]
            if len(seen) < len(found):
                missing[cell] = f"{len(seen)} of {len(found)}"
            if seen:
                means[cell] = mean(seen)
                values |= {cell: round(means[cell], 3), f"spread.{cell}": round((max(seen) - min(seen)) / means[cell], 3), f"runs.{cell}": len(seen)}
        agreement = {key: round(100 * (value / alike[key] - 1), 1) for key, value in values.items() if key.startswith("weir.") and alike.get(key)}
        orders = {f"{rate}.{loss}": {"user-mode Linux": linux, "Weir": order(means, "weir", rate, loss), "Weir, simulated": order(alike, "weir", rate, loss)}
                  for rate in RATES for loss in ORDERED if (linux := order(means, "linux", rate, loss))}
        write_json("grid.json", {**nested(values), **values, "fewer_runs_than_asked": missing, "real_time_against_simulator_percent": agreement, "order": orders})
        page.section(self.title, "A serialiser, 10 ms each way, a drop-tail queue of one bandwidth-delay product, independent loss behind it, towards the receiver. "
                     "Mbit/s that the receiver's user read.")
        names = sorted({key.split(".")[1] for key in sim if key.startswith("weir.")}, key=lambda name: (name not in LINUX_OWN, name))
        for rate in RATES:
            table = [[f"{rate} Mbit/s", *(f"{loss:g} %" for loss in LOSSES)]]
            for who, source, algorithms in (("simulated", sim, names), ("Weir", values, LINUX_OWN + UML_ONLY), ("Linux", values, LINUX_OWN + UML_ONLY)):
                end = "linux" if who == "Linux" else "weir"
                for cc in algorithms:
                    cells = [source.get(f"{end}.{cc}.{rate}.{loss:g}") for loss in LOSSES]
                    if any(cell is not None for cell in cells):
                        table.append([f"{who}: {cc}", *("" if cell is None else f"{cell:.2f}" for cell in cells)])
            page.table(table)
            page.curves(f"grid-{rate}", f"Goodput at {rate} Mbit/s and 20 ms", "loss, %", "Mbit/s",
                        {f"{cc}": [(loss, sim[f"weir.{cc}.{rate}.{loss:g}"]) for loss in LOSSES if f"weir.{cc}.{rate}.{loss:g}" in sim] for cc in names}
                        | {f"Linux {cc}": [(loss, values[f"linux.{cc}.{rate}.{loss:g}"]) for loss in LOSSES if f"linux.{cc}.{rate}.{loss:g}" in values]
                           for cc in LINUX_OWN}, log=True)
        if agreement:
            within = sum(abs(value) <= AGREE for value in agreement.values())
            page.text(f"Real time and simulator (as many seconds, {SIM_SEEDS} seeds) agree within {AGREE} % in {within} of {len(agreement)} cells; "
                      f"the largest difference is {max(agreement.values(), key=abs):+.1f} %, the mean of all {mean(agreement.values()):+.1f} %.")
        if orders:
            page.table([["fastest first", "", *range(1, 1 + len(UML_ONLY))],
                        *([cell.replace(".", " Mbit/s, ") + " %", who, *(f"{cc} {mbit:.2f}" for cc, mbit in found.items())]
                          for cell, ends in orders.items() for who, found in ends.items())])
            page.text(f"{LONG} s each. " + swapped(orders))
        if missing:
            page.text("Fewer runs than asked for: " + ", ".join(f"{cell} {count}" for cell, count in missing.items()))
        for cc in LINUX_OWN:
            series = {}
            for end in ("linux", "weir"):
                found = self.real.get((end, cc, 100, 1)) or []
                result = found[0].result() if found else None
                if result:
                    series[f"{'Weir' if end == 'weir' else 'Linux'} {cc}"] = [(moment, window / 1448) for moment, _, window, _ in result["intervals"]]
            if series:
                page.curves(f"cwnd-{cc}", f"{cc}: cwnd at 100 Mbit/s, 1 % loss", "s", "segments", series)
        page.trace_plots(self.real, 100, 1)
        for run in (self.sim, *self.alike.values()):
            if run.result():
                page.command(run.result()["command"])
        page.commands({f"{end}, {cc}, {rate} Mbit/s, {loss:g} % loss": found for (end, cc, rate, loss), found in self.real.items()})


def order(values, end, rate, loss):
    """{algorithm: Mbit/s} of the five, the fastest first."""
    found = {cc: values.get(f"{end}.{cc}.{rate}.{loss}") for cc in UML_ONLY}
    return {cc: round(mbit, 4) for cc, mbit in sorted(found.items(), key=lambda one: -(one[1] or 0)) if mbit}


def swapped(orders):
    """Which pairs of algorithms, of those measured on both sides, user-mode Linux has in one order and Weir in the other, and by how much; for people."""
    sentences = []
    for who in ("Weir", "Weir, simulated"):
        pairs = [(cell, ends["user-mode Linux"], ends[who], faster, slower) for cell, ends in orders.items()
                 for faster, slower in itertools.combinations(ends["user-mode Linux"], 2) if {faster, slower} <= ends[who].keys()]
        told = [f"{faster} before {slower} by {100 * (linux[faster] / linux[slower] - 1):.2f} %, here behind it by {100 * (weir[slower] / weir[faster] - 1):.2f} % "
                f"({cell.replace('.', ' Mbit/s, ')} %)" for cell, linux, weir, faster, slower in pairs if weir[faster] < weir[slower]]
        agreed = "every pair is in user-mode Linux's order" if pairs else "nothing to compare"
        sentences.append(f"{who}: {'; '.join(told) or agreed}.")
    return " ".join(sentences)


def cell_of(key):
    """("cubic", 0.1) of "weir.cubic.100.0.1"."""
    _, cc, _, loss = key.split(".", 3)
    return cc, float(loss)


def nested(values):
    """{"weir": {"cubic": {"100": {"0.1": …}}}} of "weir.cubic.100.0.1", as sim-grid.json has both."""
    result = {}
    for key, value in values.items():
        *names, loss = key.split(".", 4 if key.startswith(("spread.", "runs.")) else 3)
        place = result
        for name in names:
            place = place.setdefault(name, {})
        place[loss] = value
    return result


def share(rate, loss, cc, sender):
    """Of the machine: what fills 100 Mbit/s is alone; user-mode Linux boots on a core; the others hardly show."""
    return 1 if rate > 10 and (loss < 1 or cc == "bbr") else 0.5 if sender == "uml" else 0.125


def repeats(rate, loss, cc, sender):
    """Runs of a cell: where losses decide they scatter, and go side by side."""
    if seconds_of(cc, loss, False) == LONG:
        return 3 if loss else 1
    return 7 if share(rate, loss, cc, sender) < 0.5 else 3


def bulk(link, cc, sender, seconds):
    trace = OUT / "traces" / f"{sender}-{cc}-{link.rate}-{link.loss:g}.csv" if link.seed == 1 else None
    if trace:
        trace.parent.mkdir(parents=True, exist_ok=True)
    with Network(link, sender, "linux", OUT / "network", trace=trace) as network:
        return network.bulk(cc, seconds)
