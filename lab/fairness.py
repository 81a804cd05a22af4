# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 4: two and ten flows of each algorithm, alone and against cubic and bbr: Jain's index and the queueing delay, in the simulator."""
import json
import subprocess

from net import BIN
from runs import OUT, ROOT


class Fairness:
    title = "Fairness: two and ten flows"

    def __init__(self, runs, quick):
        self.run = runs.run("fairness", {"quick": quick}, 20 if quick else 180, lambda: simulate(quick))

    def report(self, page):
        result = self.run.result()
        page.section(self.title, "Flows that share a bottleneck in the simulator. Jain's index is 1 when all get the same, 1/n when one has everything.")
        if not result:
            return
        rows = result["rows"]
        columns = list(rows[0])
        page.table([columns, *([f"{row[column]:.3f}" if isinstance(row[column], float) else str(row[column]) for column in columns] for row in rows)])
        page.command("build/host/weir-sim fairness --output build/lab/fairness.json")


def simulate(quick):
    file = OUT / "fairness.json"
    subprocess.run([str(BIN / "weir-sim"), "fairness", "--output", str(file), *(["--quick"] if quick else [])], cwd=ROOT, check=True, stdout=subprocess.DEVNULL,
                   timeout=3600)
    return json.loads(file.read_text())
