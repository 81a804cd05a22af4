# SPDX-License-Identifier: BSD-2-Clause
"""For tests of a figure in real time, which other work on the machine can spoil: a rate, a share, a delay."""
import functools
import pathlib


def measured(test):
    """The test measures again, twice at most, what was not as it should be: a busy machine spoils one measurement, a
    fault spoils all."""
    @functools.wraps(test)
    def again(*words, **more):
        for left in (2, 1, 0):
            try:
                return test(*words, **more)
            except AssertionError:
                if not left:
                    raise
    return again


def scheduled_ns(process):
    """Of each thread by its number: what the kernel gave it, and how long it let it wait for a processor, since it began."""
    return {path.parent.name: tuple(map(int, path.read_text().split()[:2])) for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat")}


class Slowdown:
    """with Slowdown(process) as it: …; it.factor tells how many times as long the process's threads took as they would
    have if they had had a processor whenever they wanted one."""
    factor = 1.0

    def __init__(self, process):
        self.process = process

    def __enter__(self):
        self.before = scheduled_ns(self.process)
        return self

    def __exit__(self, kind, *unused):
        if kind:
            return
        after = scheduled_ns(self.process)
        ran, waited = (sum(after[thread][column] - self.before[thread][column] for thread in after.keys() & self.before.keys()) for column in (0, 1))
        if ran > 0:
            self.factor = (ran + waited) / ran
