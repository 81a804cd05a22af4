# SPDX-License-Identifier: BSD-2-Clause
"""The memory of the laboratory: every run's result is a file under build/lab/runs, so that an interrupted `make lab` goes on where it was."""
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "build/lab"
RUNS = OUT / "runs"


def code_version(files):
    """Changes with what is measured: results of other code are not taken for this one's."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files if file.exists())).hexdigest()[:12]


class Progress:
    """What is being done, how far, and how long it may yet take; one line that is rewritten on a terminal."""

    def __init__(self, total_seconds):
        self.total, self.done, self.began = max(total_seconds, 1e-9), 0.0, time.monotonic()
        self.live = sys.stderr.isatty()

    def say(self, text):
        left = (self.total - self.done) * ((time.monotonic() - self.began) / self.done if self.done else 1)
        line = f"lab: {100 * self.done / self.total:3.0f} % (about {left / 60:.0f} min left) {text}"
        sys.stderr.write(f"\r\x1b[K{line[:150]}" if self.live else line + "\n")
        sys.stderr.flush()

    def finished(self, expected):
        self.done += expected

    def end(self):
        if self.live:
            sys.stderr.write("\r\x1b[K")


class Runs:
    """run(name, what, seconds, function): the function's result, from the file of an earlier session if the same was asked for then."""

    def __init__(self, fresh):
        RUNS.mkdir(parents=True, exist_ok=True)
        self.fresh, self.failures, self.plan, self.progress = fresh, [], [], None
        emulator = [ROOT / "lab/link.c", *sorted(ROOT.glob("sim/*.[ch]"))]   # weir-link itself holds all of the stack, which has no part in it
        self.linux, self.weir = code_version(emulator), code_version([*emulator, ROOT / "build/host/weir-host"])

    def run(self, experiment, what, seconds, function, weir=True, share=1.0):
        """Plans a run: `what` is a dictionary that tells it apart from all others, `seconds` how long it takes, `share` how much of the machine it
        needs: runs go side by side whose shares are at most 1 together. The result is asked for later."""
        key = {"experiment": experiment, **what, "code": self.weir if weir else self.linux}
        name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]
        planned = Run(key, RUNS / f"{experiment}-{name}.json", seconds, function, share)
        self.plan.append(planned)
        return planned

    def go(self):
        waiting = [planned for planned in self.plan if self.fresh or not planned.file.exists()]
        if len(waiting) < len(self.plan):
            print(f"lab: {len(self.plan) - len(waiting)} of {len(self.plan)} runs are there already (FRESH=1 repeats them)", file=sys.stderr)
        self.progress = Progress(sum(planned.seconds * planned.share for planned in waiting))
        under_way = []
        try:
            while waiting or under_way:
                free = 1 - sum(planned.share for planned in under_way)
                planned = next((planned for planned in waiting if planned.share <= free), None)
                if planned:
                    self.progress.say(", ".join(f"{value}" for name, value in planned.key.items() if value != "" and name != "code"))
                    waiting.remove(planned)
                    planned.begin()
                    under_way.append(planned)
                else:
                    self.gather(under_way)
        finally:
            for planned in under_way:
                planned.abandon()
        self.progress.end()

    def gather(self, under_way):
        """Waits until at least one of the runs has ended, and takes those that have from the list."""
        multiprocessing.connection.wait([planned.process.sentinel for planned in under_way])
        for planned in [planned for planned in under_way if not planned.process.is_alive()]:
            under_way.remove(planned)
            self.progress.finished(planned.seconds * planned.share)
            why = planned.failure()
            if why:   # one run must not end the laboratory; it is told, and tried again next time
                self.failures.append((planned.key, why))

    def failures_by_reason(self):
        reasons = {}
        for key, why in self.failures:
            reasons.setdefault(why, []).append(key)
        return reasons


class Run:
    """One run, in a process of its own: what it starts ends with it, also when it is stopped half-way."""

    def __init__(self, key, file, seconds, function, share):
        self.key, self.file, self.seconds, self.function, self.share = key, file, seconds, function, share

    def begin(self):
        fork = multiprocessing.get_context("fork")
        self.complaint, complain = fork.Pipe(duplex=False)
        self.process = fork.Process(target=self.work, args=(complain,))
        self.process.start()
        complain.close()

    def work(self, complain):
        began = time.monotonic()
        try:
            value = self.function()
        except (Exception, subprocess.TimeoutExpired) as failure:
            complain.send(f"{type(failure).__name__}: {failure}")
            return
        temporary = self.file.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"key": self.key, "took": round(time.monotonic() - began, 2), "result": value}))
        temporary.replace(self.file)

    def failure(self):
        """Why it gave no result, once it has ended; None: it gave one."""
        try:
            return self.complaint.recv()
        except EOFError:
            return f"its process ended with {self.process.exitcode}" if self.process.exitcode else None

    def abandon(self):
        self.process.terminate()
        self.process.join()

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
