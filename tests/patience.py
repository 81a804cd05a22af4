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
    """What the kernel gave the process (all threads) and how long it let it wait for a processor, since it began."""
    spent = [tuple(map(int, path.read_text().split()[:2])) for path in pathlib.Path(f"/proc/{process.pid}/task").glob("*/schedstat")]
    return tuple(map(sum, zip(*spent)))


class Slowdown:
    """with Slowdown(process) as it: …; it.factor tells how many times as long the process took as it would have if it had
    had a processor whenever it wanted one."""
    def __init__(self, process):
        self.process = process

    def __enter__(self):
        self.before = scheduled_ns(self.process)
        return self

    def __exit__(self, *unused):
        ran, waited = (now - before for now, before in zip(scheduled_ns(self.process), self.before))
        self.factor = (ran + waited) / ran
