# SPDX-License-Identifier: BSD-2-Clause
"""The memory of the laboratory: every run's result is a file under build/lab/runs, so that an interrupted `make lab` goes on where it was."""
import dataclasses
import hashlib
import json
import multiprocessing
import multiprocessing.connection
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time

from net import commands

ROOT = pathlib.Path(__file__).resolve().parents[1]
OUT = ROOT / "build/lab"
RUNS = OUT / "runs"


LINK = [ROOT / "lab/link.c", *sorted(ROOT.glob("sim/*.[ch]"))]   # weir-link itself holds all of the stack, which has no part in it
NETWORK = [*LINK, ROOT / "lab/net.py", ROOT / "lab/transfer.py", ROOT / "tests/netns/__init__.py", shutil.which("iperf3")]
# What makes a run of each kind what it is, besides its settings and this machine's kernel.
CODE = {"linux": NETWORK, "uml": [*NETWORK, shutil.which("linux.uml")], "weir": [*NETWORK, ROOT / "build/host/weir-host"],
        "sim": [ROOT / "tools/sim.py", ROOT / "build/host/weir-sim"]}


def code_version(kind):
    """Changes with what is measured: results of other code are not taken for this one's."""
    files = [pathlib.Path(file) for file in CODE[kind] if file]
    return hashlib.sha256(b"".join([platform.release().encode(), *(file.read_bytes() for file in files if file.exists())])).hexdigest()[:12]


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
    """run(name, what, seconds, function, kind): the function's result, from the file of an earlier session if the same was asked for then."""

    def __init__(self, fresh):
        RUNS.mkdir(parents=True, exist_ok=True)
        self.fresh, self.failures, self.plan, self.progress = fresh, [], [], None
        self.versions = {kind: code_version(kind) for kind in CODE}

    def run(self, experiment, what, seconds, function, kind, share=1.0, link=None):
        """Plans a run: `what` is a dictionary that with `link` (a net.Link) tells it apart from all others, `seconds` how long it takes, `kind` whose
        code gives the result (of CODE), `share` how much of the machine it needs: runs go side by side whose shares are at most 1 together. The
        result is asked for later."""
        key = {"experiment": experiment, **what, **({"link": dataclasses.asdict(link)} if link else {}), "code": self.versions[kind]}
        name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:20]
        planned = Run(key, RUNS / f"{experiment}-{name}.json", seconds, function, share)
        self.plan.append(planned)
        return planned

    def go(self):
        if self.fresh:   # a run that fails has no result, not that of another time
            for planned in self.plan:
                planned.file.unlink(missing_ok=True)
        waiting = [planned for planned in self.plan if not planned.file.exists()]
        if len(waiting) < len(self.plan):
            print(f"lab: {len(self.plan) - len(waiting)} of {len(self.plan)} runs are there already (FRESH=1 repeats them)", file=sys.stderr)
        self.progress = Progress(sum(planned.seconds * planned.share for planned in waiting))
        under_way = []
        try:
            while waiting or under_way:
                free = 1 - sum(planned.share for planned in under_way)
                planned = next((planned for planned in waiting if planned.share <= free), None)
                if planned:
                    self.progress.say(", ".join(f"{value}" for name, value in planned.key.items() if value != "" and name not in ("code", "link")))
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
        commands.clear()
        began = time.monotonic()
        try:
            value = self.function()
        except (Exception, subprocess.TimeoutExpired) as failure:
            complain.send(f"{type(failure).__name__}: {failure}")
            return
        temporary = self.file.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"key": self.key, "took": round(time.monotonic() - began, 2), "result": value, "commands": commands}))
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
        return self.kept()["result"] if self.file.exists() else None

    def commands(self):
        """What it started, line by line."""
        return self.kept()["commands"] if self.file.exists() else []

    def kept(self):
        return json.loads(self.file.read_text())


def write_json(name, value):
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / name).write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n")


def simulate(part, **options):
    """What one part of tools/sim.py, grid or fairness, writes."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        done = subprocess.run([sys.executable, ROOT / "tools/sim.py", part, *(f"--{name}={value}" for name, value in options.items()), f"--out={out}"],
                              capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"tools/sim.py {part}: {done.stderr.strip()[-300:]}")
        return json.loads(out.read_text())


def median(values):
    values = sorted(values)
    middle = len(values) // 2
    return values[middle] if len(values) % 2 else (values[middle - 1] + values[middle]) / 2


def mean(values):
    values = list(values)
    return sum(values) / len(values)
