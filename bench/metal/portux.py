#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""thesis.portux, into build/bench/metal.json: section 5.1 of the thesis on its own machine, the processor's rate doubled and at a tenth, exactly: 180, 360
and 18 million instructions a second in the model of tools/machines, where nothing else takes time but 100 Mbit/s of Ethernet. 5 MB each way without loss
and with 15 % towards who receives, by processes with the thesis's calls (flock_transfer*.elf; who sends does so with reno, cubic or bbr), and by the
program without a kernel (transfer.elf, cubic).

The other end is Weir in the simulator, 20 µs away, in the machine's time (lab/machine_peer.c): the same seconds on every computer, however busy, and no
privileges. Without loss there is one run; with it the median of --runs. The handshake is in it, as in rates.py.

    portux.py [--runs N]"""
import argparse
import concurrent.futures
import json
import os
import statistics
import subprocess
import sys

import guests

ROOT = guests.ROOT
RATES = {"180 MIPS": 180_000_000, "doubled": 360_000_000, "a tenth": 18_000_000}
CALLS = {"reno": "flock_transfer_sends_reno", "cubic": "flock_transfer", "bbr": "flock_transfer_sends_bbr"}   # by what the board sends with
DELAY_MS, WIRE_MBIT = 0.02, 100
PYTHON, MODEL = ROOT / "build/venv/bin/python", ROOT / "tools/machines/portux920t.py"


def command(program, way, cc, rate, loss, runs, size=guests.THESIS, seed=1):
    """The model's words. The peer's loss is of what the board sends, its back_loss of what it receives."""
    towards = "loss" if way == "send" else "back_loss"
    peer = {"way": way, "bytes": size, "runs": runs, "cc": cc, "delay": DELAY_MS, "rate": WIRE_MBIT, towards: loss, "seed": seed}
    return [PYTHON, MODEL, "--rate", str(rate), "--nic", ",".join(["peer", *(f"{name}={value}" for name, value in peer.items())]),
            ROOT / f"build/boards/portux920t/{program}.elf"]


def transfer(*words, **more):
    """Seconds of each run."""
    done = subprocess.run(command(*words, **more), capture_output=True, text=True, timeout=3600)
    if done.returncode:
        raise guests.Failed(f"portux920t, {words}: {(done.stdout + done.stderr)[-400:]}")
    return [json.loads(line)["seconds"] for line in done.stderr.splitlines() if line.startswith("{")]


def cells(runs):
    """What is measured: (text, rate's name, words for transfer)."""
    for loss, count in ((0, 1), (guests.LOSS, runs)):
        for way in ("send", "receive"):
            for cc in CALLS:
                for rate, number in RATES.items():
                    yield f"the board {way}s, {cc}, by calls, {loss} % loss", rate, (CALLS[cc] if way == "send" else "flock_transfer", way, cc, number, loss, count)
            for rate, number in RATES.items():
                yield f"the board {way}s, cubic, without processes, {loss} % loss", rate, ("transfer", way, "cubic", number, loss, count)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--runs", type=int, default=11)
    figures, plan = {}, list(cells(words.parse_args().runs))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (text, rate, _), seconds in zip(plan, pool.map(lambda cell: transfer(*cell[2]), plan)):
            figures.setdefault(text, {})[rate] = {"median_s": round(statistics.median(seconds), 3), "all_s": [round(one, 3) for one in sorted(seconds)]}
            print(f"  {text}, {rate}: {statistics.median(seconds):.3f} s", flush=True)
    guests.keep({"thesis": {"portux": figures}})


if __name__ == "__main__":
    try:
        main()
    except guests.Failed as error:
        sys.exit(f"bench-metal: {error}")
