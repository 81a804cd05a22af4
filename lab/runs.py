# SPDX-License-Identifier: BSD-2-Clause
"""The memory of the laboratory: every run's result is a file under build/lab/runs, so that an interrupted `make lab` goes on where it was."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "build/lab"
RUNS = OUT / "runs"


def code_version():
    """Changes with what is measured: results of other code are not taken for this one's."""
    program = ROOT / "build/host/weir-host"
    return hashlib.sha256(program.read_bytes()).hexdigest()[:12] if program.exists() else "none"


class Progress:
    """What is being done, how far, and how long it may yet take; one line that is rewritten on a terminal."""

    def __init__(self, total_seconds):
        self.total, self.done, self.began, self.spent = max(total_seconds, 1e-9), 0.0, time.monotonic(), 0.0
        self.live = sys.stderr.isatty()

    def say(self, text):
        left = (self.total - self.done) * (self.spent / self.done if self.done and self.spent > 1 else 1)
        line = f"lab: {100 * self.done / self.total:3.0f} % (about {left / 60:.0f} min left) {text}"
        sys.stderr.write(f"\r\x1b[K{line[:150]}" if self.live else line + "\n")
        sys.stderr.flush()

    def finished(self, expected, took):
        self.done += expected
        self.spent += took

    def end(self):
        if self.live:
            sys.stderr.write("\r\x1b[K")


class Runs:
    """run(name, what, seconds, function): the function's result, from the file of an earlier session if the same was asked for then."""

    def __init__(self, fresh):
        RUNS.mkdir(parents=True, exist_ok=True)
        self.fresh, self.version, self.failures, self.plan, self.progress = fresh, code_version(), [], [], None

    def run(self, experiment, what, seconds, function, weir=True):
        """Plans a run: `what` is a dictionary that tells it apart from all others, `seconds` how long it takes. The result is asked for later."""
        key = {"experiment": experiment, **what, **({"code": self.version} if weir else {})}
        name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]
        planned = Run(key, RUNS / f"{experiment}-{name}.json", seconds, function)
        self.plan.append(planned)
        return planned

    def go(self):
        waiting = [planned for planned in self.plan if self.fresh or not planned.file.exists()]
        if len(waiting) < len(self.plan):
            print(f"lab: {len(self.plan) - len(waiting)} of {len(self.plan)} runs are there already (FRESH=1 repeats them)", file=sys.stderr)
        self.progress = Progress(sum(planned.seconds for planned in waiting))
        for planned in waiting:
            self.progress.say(", ".join(f"{value}" for value in planned.key.values() if value not in ("", self.version)))
            began = time.monotonic()
            try:
                value = planned.function()
            except (Exception, subprocess.TimeoutExpired) as failure:   # one run must not end the laboratory; it is told, and tried again next time
                value = None
                self.failures.append((planned.key, f"{type(failure).__name__}: {failure}"))
            took = time.monotonic() - began
            self.progress.finished(planned.seconds, took)
            if value is not None:
                temporary = planned.file.with_suffix(f".{os.getpid()}")
                temporary.write_text(json.dumps({"key": planned.key, "took": round(took, 2), "result": value}))
                temporary.replace(planned.file)
        self.progress.end()

    def failures_by_reason(self):
        reasons = {}
        for key, why in self.failures:
            reasons.setdefault(why, []).append(key)
        return reasons


class Run:
    def __init__(self, key, file, seconds, function):
        self.key, self.file, self.seconds, self.function = key, file, seconds, function

    def result(self):
        """What the function returned; None: it failed."""
        return json.loads(self.file.read_text())["result"] if self.file.exists() else None


def write_json(name, value):
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def mean(values):
    return sum(values) / len(values)
