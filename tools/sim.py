#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs build/host/weir-sim many times, on all cores, with progress, and puts together what comes out. docs/simulator.md.

  sim.py campaign [--seconds N] [--seed N]   random networks for so long, plain and with sanitizers; each failure with its replay
  sim.py grid [--seconds N] [--seeds N] [--cc NAMES] [--loss PERCENTS] [--greeting BYTES]   goodput over algorithm, rate and loss → build/lab/sim-grid.json
  sim.py fairness [--seconds N]              two and ten flows, alone and beside cubic and bbr → build/lab/fairness.json
  sim.py ticks [--seeds N]                   the thesis's 5 MB with the clock doubled, a tenth of it, and its period doubled and a tenth → build/lab/sim-ticks.json
  sim.py golden [--renew]                    compares sim/golden/goodput.txt with what comes out now; --renew writes it
  sim.py bench                               → build/bench/sim.json
  sim.py plot TRACE.csv [OUT.png]            time–sequence, cwnd, round-trip time and queue of one --trace file"""
import argparse
import concurrent.futures
import csv
import difflib
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "sim/golden/goodput.txt"
RATES, LOSSES = (10, 100), (0, 0.1, 1, 2, 5, 10, 15)
WORKERS = os.cpu_count() or 1


def program(variant="host"):
    return ROOT / f"build/{variant}/weir-sim"


def settings(**values):
    return [word for name, value in values.items() for word in (f"--{name}", str(value))]


def shown(words):
    return " ".join(str(word).replace(f"{ROOT}/", "") for word in words)


class Failed(Exception):
    pass


def run(**values):
    """One run's line of JSON."""
    command = [str(program()), *settings(**values)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise Failed(f"{shown(command)}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def algorithms():
    return subprocess.run([str(program()), "--scenario", "algorithms"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()


class Progress:
    """One line; on anything but a terminal one every ten seconds."""

    def __init__(self, title, steps):
        self.title, self.steps, self.done, self.began, self.told = title, steps, 0, time.monotonic(), 0.0

    def step(self, text=""):
        self.done += 1
        now, last = time.monotonic(), self.done == self.steps
        if now - self.told < (0.1 if sys.stderr.isatty() else 10) and not last:
            return
        self.told = now
        line = f"{self.title}: {self.done}/{self.steps} ({now - self.began:.0f} s) {text}"
        print(f"\r{line[:110]:<110}" if sys.stderr.isatty() else line, end="" if sys.stderr.isatty() and not last else "\n", file=sys.stderr, flush=True)


def run_all(title, jobs):
    """{key: JSON} of {key: settings}."""
    progress, results = Progress(title, len(jobs)), {}
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        waiting = {pool.submit(run, **values): key for key, values in jobs.items()}
        for future in concurrent.futures.as_completed(waiting):
            results[waiting[future]] = future.result()
            progress.step(" ".join(str(part) for part in waiting[future]))
    return results


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1) + "\n")
    print(f"wrote {shown([path])}")


# --- the grid ------------------------------------------------------------------------------------------------------------------------------

def chosen(asked, there, what):
    """Those of `there` that `asked` names, with commas between; all, if it is empty."""
    words = asked.split(",") if asked else [str(one) for one in there]
    unknown = [word for word in words if word not in map(str, there)]
    if unknown:
        raise Failed(f"there is no {what} {', '.join(unknown)}; there are {', '.join(map(str, there))}")
    return [one for one in there if str(one) in words]


def grid(options):
    names, losses = chosen(options.cc, algorithms(), "congestion control"), chosen(options.loss, LOSSES, "loss (%)")
    more = {"greeting": options.greeting} if options.greeting else {}
    jobs = {(name, rate, loss, seed): {"cc": name, "rate": rate, "loss": loss, "seconds": options.seconds, "seed": seed, **more}
            for name in names for rate in RATES for loss in losses for seed in range(1, options.seeds + 1)}
    found = run_all("grid", jobs)
    result = {"weir": {}, "spread": {}, "timeouts": {}, "srtt_ms": {}}
    for name in names:
        for rate in RATES:
            for loss in losses:
                runs = [found[name, rate, loss, seed] for seed in range(1, options.seeds + 1)]
                values = [one["mbit"] for one in runs]
                mean = sum(values) / len(values)
                row = {"weir": round(mean, 4), "spread": round((max(values) - min(values)) / mean, 4) if mean else 0,
                       "timeouts": sum(one["flows"][0]["timeouts"] for one in runs) / len(runs),
                       "srtt_ms": round(sum(one["flows"][0]["srtt_ms"] for one in runs) / len(runs), 2)}
                for kind, value in row.items():
                    result[kind].setdefault(name, {}).setdefault(str(rate), {})[str(loss)] = value
                    if kind in ("weir", "spread"):
                        result[f"{kind}.{name}.{rate}.{loss}"] = value
    result["command"] = shown([program(), *settings(cc="NAME", rate="R", loss="L", seconds=options.seconds, seed="1 …", **more)])
    for rate in RATES:
        print(f"\n{rate} Mbit/s, 20 ms, {options.seconds} s, {options.seeds} seeds: mean, Mbit/s (spread, %)")
        print("            " + "".join(f"{loss:>13} %" for loss in losses))
        for name in names:
            cells = ((result["weir"][name][str(rate)][str(loss)], result["spread"][name][str(rate)][str(loss)]) for loss in losses)
            print(f"  {name:<10}" + "".join(f"{mean:9.2f} ({100 * spread:3.0f})" for mean, spread in cells))
    write(options.out or ROOT / "build/lab/sim-grid.json", result)


# --- fairness ------------------------------------------------------------------------------------------------------------------------------

def fairness(options):
    names, jobs = algorithms(), {}
    for name in names:
        for count in (2, 10):
            common = {"rate": 100, "seconds": options.seconds, "start": 0.1}
            jobs[name, "alone", count] = {"cc": name, "flows": count, **common}
            for other in ("cubic", "bbr"):
                if other in names and other != name:
                    jobs[name, other, count] = {"cc": name, "flows": count // 2, "others": count // 2, "other_cc": other, **common}
    found, result = run_all("fairness", jobs), {}
    print(f"\n100 Mbit/s, 20 ms, {options.seconds} s: Jain index, share of the algorithm, mean queueing delay (ms)")
    for (name, other, count), one in found.items():
        own = sum(flow["received"] for flow in one["flows"] if flow["cc"] == name)
        every = sum(flow["received"] for flow in one["flows"])
        value = {"jain": one["jain"], "share": round(own / every, 4) if every else 0, "queue_ms": one["queue_ms"], "mbit": one["mbit"]}
        result.setdefault(name, {}).setdefault(other, {})[str(count)] = value
    for name in names:
        for other, counts in sorted(result[name].items()):
            cells = (f"  {count:>2} flows: {v['jain']:.3f} {100 * v['share']:4.0f} % {v['queue_ms']:6.2f}" for count, v in sorted(counts.items(), key=lambda c: int(c[0])))
            print(f"  {name:<10} {'alone' if other == 'alone' else 'with ' + other:<11}" + "".join(cells))
    write(options.out or ROOT / "build/lab/fairness.json", result)


# --- ticks ---------------------------------------------------------------------------------------------------------------------------------

TICKS = {10000: "of the thesis's kind", 50: "Weir's on POSIX"}   # µs


def tick_variants(base):
    """The clock doubled and a tenth of it, as in the thesis's section 5.1; and the period doubled and a tenth of it."""
    return base // 2, 10 * base, 2 * base, base // 10


def middle(values):
    values = sorted(values)
    return (values[len(values) // 2] + values[(len(values) - 1) // 2]) / 2


def average(values):
    return sum(values) / len(values)


def change(kind, values, base, draws=500):
    """Percent by which the median or mean of values is above that of base, and between what 95 of 100 repetitions would find it (bootstrap). A seed's
    losses fall on the same frames for each tick, until one of them is sent that the other spares: the two are drawn together."""
    dice, pairs, found = random.Random(1), list(zip(values, base)), []
    for _ in range(draws):
        drawn = dice.choices(pairs, k=len(pairs))
        found.append(kind([one for one, _ in drawn]) / kind([other for _, other in drawn]))
    found.sort()
    return [round(100 * (ratio - 1), 1) for ratio in (kind(values) / kind(base), found[draws // 40], found[-1 - draws // 40])]


# A link without a limit, and what lies between two of the laboratory's TAPs: 1.2 Gbit/s and a ring of 255 frames, far less than passes in a tick.
TICK_LINKS = {"": {"rate": 0, "queue": 100000}, "ring": {"rate": 1200, "queue": 386000}}


def ticks(options):
    """5 MB over 40 µs there and back: whatever waits for a tick shows."""
    common = {"bytes": 5 << 20, "delay": 0.02, "spare_arp": 1}
    times = sorted({tick for base in TICKS for tick in (base, *tick_variants(base))})
    rows = [(link, name, loss) for link in TICK_LINKS for name in ("reno", "cubic", "bbr") if name in algorithms()
            for loss in (0, 15) if not link or not loss or name == "bbr"]   # the others lose too much at 15 % to fill a queue
    jobs = {(link, name, loss, tick, seed): {"cc": name, "loss": loss, "tick_us": tick, "seed": seed, **TICK_LINKS[link], **common}
            for link, name, loss in rows for tick in times for seed in range(1, (options.seeds if loss else 1) + 1)}
    found, result = run_all("ticks", jobs), {"seconds": {}, "change_percent": {}}
    took = {key: one["flows"][0]["finished_s"] - one["flows"][0]["connected_s"] for key, one in found.items()}
    print(f"\n5 MB, from the connection until all is read: median and mean of {options.seeds} seeds (without loss all are the same), ms; against the tick that is "
          "not multiplied, % (95 % confidence)")
    for link, name, loss in rows:
        seen = {tick: [took[link, name, loss, tick, seed] for seed in range(1, (options.seeds if loss else 1) + 1)] for tick in times}
        for base, what in TICKS.items():
            key, row = f"{name}.{loss}.{base}" + (f".{link}" if link else ""), {tick: seen[tick] for tick in (base, *tick_variants(base))}
            changes = {kind.__name__: {str(tick): change(kind, row[tick], row[base]) for tick in tick_variants(base)} for kind in (middle, average)}
            result["seconds"][key] = {str(tick): {"median": round(middle(values), 6), "mean": round(average(values), 6)} for tick, values in row.items()}
            result["change_percent"][key] = {"median": changes["middle"], "mean": changes["average"]}
            print(f"  {name:<6} {loss:>2} % loss, tick {base:>5} µs ({what}){', ' + link if link else ''}  " +
                  "  ".join(f"{tick:>5}: {1e3 * middle(values):9.2f} {1e3 * average(values):9.2f}" for tick, values in row.items()) +
                  "".join(f"   {kind} " + ", ".join(f"{value:+.1f} ({low:+.1f} to {high:+.1f})" for value, low, high in found.values())
                          for kind, found in result["change_percent"][key].items()))
    result["commands"] = {link or "no limit": shown([program(), *settings(cc="NAME", loss="L", tick_us="T", seed="1 …", **more, **common)])
                          for link, more in TICK_LINKS.items()}
    write(ROOT / "build/lab/sim-ticks.json", result)


# --- golden --------------------------------------------------------------------------------------------------------------------------------

GOLDEN_HEAD = """# Goodput, Mbit/s, of one flow in 10 s over 10 Mbit/s and 20 ms: a change of behaviour is a diff. `make sim-golden` writes this file.
# Rows: algorithm and loss (%). Columns: the bottleneck's queue in bandwidth-delay products, then the receive buffer in bytes.
"""
QUEUES, BUFFERS, GOLDEN_LOSSES = (0.25, 1, 4), (4096, 16384, 65536), (0, 0.1, 1, 5, 15)


def golden_table():
    columns = [("queue", q, {"bdp": q}) for q in QUEUES] + [("buffer", b, {"receive_buffer": b}) for b in BUFFERS]
    names = algorithms()
    jobs = {(name, loss, kind, value): {"cc": name, "loss": loss, "seconds": 10, **more} for name in names for loss in GOLDEN_LOSSES for kind, value, more in columns}
    found = run_all("golden", jobs)
    lines = [f"{'':<10} {'loss':>5}" + "".join(f" {kind[0]}{value:<8}" for kind, value, _ in columns).rstrip()]
    for name in names:
        for loss in GOLDEN_LOSSES:
            lines.append(f"{name:<10} {loss:>5}" + "".join(f" {found[name, loss, kind, value]['mbit']:<9.3f}" for kind, value, _ in columns).rstrip())
    return GOLDEN_HEAD + "\n".join(lines) + "\n"


LONG_HEAD = """
# Long fat paths: queues of one bandwidth-delay product, buffers of 128 MB, seed 2, {seconds}. Rows: rate, algorithm and loss (%).
# Columns: round trip (ms): goodput, Mbit/s; then how many segments were sent again and not lost, and the timeouts.
"""
LONG_SECONDS, LONG_RTTS, LONG_LOSSES, LONG_BUFFER = {100: 15, 1000: 6}, (50, 150, 300), (0, 0.01, 0.1, 1), 128 << 20
LONG_FEW = ("cubic", "bbr", "bbr3")   # at the higher rate, of which a second takes a quarter of one


def long_table():
    names = {rate: [name for name in algorithms() if rate == 100 or name in LONG_FEW] for rate in LONG_SECONDS}
    rows = [(rate, name, loss) for rate in LONG_SECONDS for name in names[rate] for loss in LONG_LOSSES]
    jobs = {(*row, rtt): {"cc": row[1], "rate": row[0], "loss": row[2], "delay": rtt / 2, "seconds": LONG_SECONDS[row[0]], "seed": 2, "send_buffer": LONG_BUFFER,
                          "receive_buffer": LONG_BUFFER} for row in rows for rtt in LONG_RTTS}
    found = run_all("golden, long paths", dict(reversed(jobs.items())))   # those that take longest first
    lines = [f"{'':>5} {'':<10} {'loss':>5}" + "".join(f" {rtt:<8}" for rtt in LONG_RTTS) + "".join(f" again {rtt:<3}" for rtt in LONG_RTTS) +
             "".join(f" rto {rtt:<3}" for rtt in LONG_RTTS)]
    for row in rows:
        runs = [found[(*row, rtt)] for rtt in LONG_RTTS]
        again = [sum(flow["retransmits"] for flow in one["flows"]) - one["dropped"] - one["lost"] for one in runs]
        lines.append(f"{row[0]:>5} {row[1]:<10} {row[2]:>5}" + "".join(f" {one['mbit']:<8.3f}" for one in runs) + "".join(f" {more:<9}" for more in again) +
                     "".join(f" {one['flows'][0]['timeouts']:<7}" for one in runs).rstrip())
    seconds = ", ".join(f"{count} s of {rate} Mbit/s" for rate, count in LONG_SECONDS.items())
    return LONG_HEAD.format(seconds=seconds) + "\n".join(line.rstrip() for line in lines) + "\n"


def golden(options):
    table = golden_table() + long_table()
    if options.renew:
        GOLDEN.parent.mkdir(parents=True, exist_ok=True)
        GOLDEN.write_text(table)
        print(f"wrote {GOLDEN.relative_to(ROOT)}")
        return 0
    kept = GOLDEN.read_text() if GOLDEN.exists() else ""
    if kept == table:
        print("golden: as it was")
        return 0
    sys.stdout.writelines(difflib.unified_diff(kept.splitlines(True), table.splitlines(True), "kept", "now", n=0))
    print("golden: behaviour changed. If it is meant: make sim-golden, and commit the file with the change")
    return 1


# --- campaign ------------------------------------------------------------------------------------------------------------------------------

STUCK = 120   # seconds of real time after its end in which a chunk must have ended: one seed takes a few at the most
ENOUGH = 20   # chunks with failures: enough to look at

def signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def campaign_chunk(variant, seed, count, until):
    """(variant, what it counted, what went wrong: "" or several lines, the replay among them)."""
    seconds = max(1, until - time.monotonic())
    command = [shown([program(variant)]), *settings(scenario="campaign", seed=seed, count=count, seconds=f"{seconds:.0f}")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        try:
            out, told = process.communicate(timeout=seconds + STUCK)
        except subprocess.TimeoutExpired:   # in one seed: its handler tells which
            process.send_signal(signal.SIGABRT)
            out, told = process.communicate()
    status = process.returncode
    try:
        result = json.loads(out)
    except ValueError:   # it died, or never ran
        result = {"seeds": 0, "failed": 0, "events": 0, "virtual_s": 0, "bytes": 0}
    if not status and result["seeds"] and not result["failed"]:
        return variant, result, ""
    result["failed"] = max(1, result["failed"])
    lines = [line for line in told.split("\n") if line.strip() and not line.startswith("campaign:")]
    if not any("to replay: " in line for line in lines):   # it could not tell
        lines += [f"ended by {signal_name(-status)}" if status < 0 else f"ended with exit status {status}", f"  to replay: {shown(command)}"]
    return variant, result, "\n".join(lines)


def campaign(options):
    """Chunks of seeds until the time is over: even chunks plain, odd ones with sanitizers."""
    variants = options.variants.split(",")
    for variant in variants:
        if not program(variant).exists():
            raise Failed(f"{shown([program(variant)])} is not there: make {shown([program(variant)])}")
    sizes, until, seed, tally, failures = {"host": 400, "asan": 40}, time.monotonic() + options.seconds, options.seed, {}, []
    began = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        waiting, turn = set(), 0
        while (time.monotonic() < until and len(failures) < ENOUGH) or waiting:
            while len(waiting) < WORKERS and time.monotonic() < until and len(failures) < ENOUGH:
                variant = variants[turn % len(variants)]
                waiting.add(pool.submit(campaign_chunk, variant, seed, sizes.get(variant, 40), until))
                seed, turn = seed + sizes.get(variant, 40), turn + 1
            done, waiting = concurrent.futures.wait(waiting, timeout=1, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                variant, result, said = future.result()
                sums = tally.setdefault(variant, {"seeds": 0, "failed": 0, "events": 0, "virtual_s": 0.0, "bytes": 0})
                for key in sums:
                    sums[key] += result[key]
                if said:
                    failures.append((variant, said))
            total = {key: sum(sums[key] for sums in tally.values()) for key in ("seeds", "failed", "events", "virtual_s")}
            if sys.stderr.isatty():
                print(f"\rcampaign: {time.monotonic() - began:.0f}/{options.seconds:.0f} s, {total['seeds']:,} seeds, {total['events']:,} events, "
                      f"{total['virtual_s'] / 86400:.1f} days of virtual time, {total['failed']} failed   ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    for variant, sums in sorted(tally.items()):
        print(f"{variant}: {sums['seeds']:,} seeds, {sums['failed']} failed, {sums['events']:,} events, {sums['virtual_s']:,.0f} s of virtual time, {sums['bytes']:,} bytes compared")
    for variant, said in failures:
        for line in said.split("\n"):
            print(f"[{variant}] {line}")
    return 1 if failures or not tally else 0


# --- bench ---------------------------------------------------------------------------------------------------------------------------------

def bench(_options):
    """One 10 Mbit/s flow of ten minutes, invariants on and off; 1,000 hosts in one process. The best of five: other work only adds."""
    def best(**values):
        runs = [run(rate=10, cc="reno", seconds=600, **values) for _ in range(5)]
        return min(runs, key=lambda one: one["cpu_s"])
    checked, unchecked = best(), best(unchecked=1)
    hosts = run(scenario="hosts", hosts=1000)
    result = {"events_per_second": round(checked["events"] / checked["real_s"]), "speed_ratio": round(checked["virtual_s"] / checked["real_s"], 1),
              "speed_ratio_cpu": round(checked["virtual_s"] / checked["cpu_s"], 1), "speed_ratio_unchecked": round(unchecked["virtual_s"] / unchecked["real_s"], 1),
              "hosts": hosts["hosts"], "hosts_run": hosts, "flow": checked, "load": os.getloadavg()[0],
              "goals": {"speed_ratio": ">= 500", "hosts": ">= 1000"},
              "commands": {"flow": shown([program(), *settings(rate=10, cc="reno", seconds=600)]), "hosts": shown([program(), *settings(scenario="hosts", hosts=1000)])}}
    for key in ("events_per_second", "speed_ratio", "speed_ratio_cpu", "speed_ratio_unchecked", "hosts"):
        print(f"  {key:<24} {result[key]:>14,}  {result['goals'].get(key, '')}")
    write(ROOT / "build/bench/sim.json", result)


# --- plot ----------------------------------------------------------------------------------------------------------------------------------

def plot(options):
    os.environ.setdefault("MPLCONFIGDIR", str(ROOT / "build/bench/matplotlib"))
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot
    if not pathlib.Path(options.trace).is_file():
        sys.exit(f"there is no file {options.trace}: weir-sim writes one by --trace FILE.csv")
    with open(options.trace, newline="") as file:
        rows = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]
    times = [row["time_s"] for row in rows]
    panels = [("bytes", ["acked", "received"]), ("bytes", ["cwnd", "ssthresh", "inflight"]), ("ms", ["srtt_us", "min_rtt_us"]), ("bytes", ["queue_bytes"])]
    figure, axes = pyplot.subplots(len(panels), 1, figsize=(11, 12), sharex=True)
    for axis, (unit, keys) in zip(axes, panels):
        for key in keys:
            axis.plot(times, [row[key] / 1000 if unit == "ms" else row[key] or float("nan") if key == "ssthresh" else row[key] for row in rows], label=key, linewidth=1)
        axis.set_ylabel(unit)
        axis.legend(loc="upper left", fontsize=8)
        axis.spines[["top", "right"]].set_visible(False)
    axes[-1].set_xlabel("s")
    figure.tight_layout()
    out = pathlib.Path(options.out or pathlib.Path(options.trace).with_suffix(".png"))
    figure.savefig(out, dpi=110)
    print(f"wrote {out}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(required=True)

    def part(function, **arguments):
        sub = parts.add_parser(function.__name__)
        sub.set_defaults(function=function)
        for name, (kind, otherwise) in arguments.items():
            if kind is bool:
                sub.add_argument(f"--{name}", action="store_true")
            else:
                sub.add_argument(f"--{name}", type=kind, default=otherwise)
        return sub
    part(campaign, seconds=(float, 60.0), seed=(int, 1), variants=(str, "host,asan"))
    part(grid, seconds=(int, 60), seeds=(int, 5), cc=(str, ""), loss=(str, ""), greeting=(int, 0), out=(pathlib.Path, None))
    part(fairness, seconds=(int, 60), out=(pathlib.Path, None))
    part(ticks, seeds=(int, 401))
    part(golden, renew=(bool, False))
    part(bench)
    chart = part(plot)
    chart.add_argument("trace")
    chart.add_argument("out", nargs="?")
    options = parser.parse_args()
    try:
        return options.function(options)
    except Failed as failure:
        print(failure, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
