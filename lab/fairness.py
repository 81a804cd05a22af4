# SPDX-License-Identifier: BSD-2-Clause
"""Experiment 4: two and ten flows of each algorithm, alone and against cubic and bbr: Jain's index and the queueing delay, in the simulator."""
from runs import simulate, write_json

COUNTS = ("2", "10")


class Fairness:
    title = "Fairness: two and ten flows"

    def __init__(self, runs, quick):
        seconds = 15 if quick else 60
        self.run = runs.run("fairness", {"seconds": seconds}, 3 * seconds, lambda: simulate("fairness", seconds=seconds), "sim")

    def report(self, page):
        result = self.run.result()
        page.section(self.title, "Flows that share a bottleneck in the simulator. Jain's index is 1 when all get the same, 1/n when one has everything.")
        if not result:
            return
        write_json("fairness.json", result)
        table = [["", "with", *(f"{title}, {count} flows" for count in COUNTS for title in ("Jain's index", "share, %", "queueing delay, ms", "Mbit/s"))]]
        for name, others in result.items():
            for other, counts in others.items():
                cells = (counts[count] for count in COUNTS)
                table.append([name, "its like" if other == "alone" else other,
                              *(text for cell in cells for text in (f"{cell['jain']:.3f}", f"{100 * cell['share']:.0f}", f"{cell['queue_ms']:.2f}", f"{cell['mbit']:.1f}"))])
        page.table(table)
        page.command("make sim-fairness")
