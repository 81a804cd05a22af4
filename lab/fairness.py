# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 4: two and ten flows of each algorithm, alone and against cubic and bbr: Jain's index and the queueing delay, in the simulator."""
import json
import subprocess
import sys

from runs import OUT, ROOT

COUNTS = ("2", "10")


class Fairness:
    title = "Fairness: two and ten flows"

    def __init__(self, runs, quick):
        self.run = runs.run("fairness", {"quick": quick}, 20 if quick else 180, lambda: simulate(quick))

    def report(self, page):
        result = self.run.result()
        page.section(self.title, "Flows that share a bottleneck in the simulator. Jain's index is 1 when all get the same, 1/n when one has everything.")
        if not result:
            return
        table = [["", "with", *(f"{title}, {count} flows" for count in COUNTS for title in ("Jain's index", "share, %", "queueing delay, ms", "Mbit/s"))]]
        for name, others in result.items():
            for other, counts in others.items():
                cells = (counts[count] for count in COUNTS)
                table.append([name, "its like" if other == "alone" else other,
                              *(text for cell in cells for text in (f"{cell['jain']:.3f}", f"{100 * cell['share']:.0f}", f"{cell['queue_ms']:.2f}", f"{cell['mbit']:.1f}"))])
        page.table(table)
        page.command("make sim-fairness")


def simulate(quick):
    subprocess.run([sys.executable, ROOT / "tools/sim.py", "fairness", *(["--seconds", "15"] if quick else [])], cwd=ROOT, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=7200)
    return json.loads((OUT / "fairness.json").read_text())
