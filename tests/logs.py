# SPDX-License-Identifier: BSD-2-Clause
"""A folder of its own for what a demonstration writes, so that two at once leave each other's alone."""
import fcntl
import itertools
import shutil

held = []    # open files whose locks last as long as this process


def claim(folder):
    """`folder`, emptied; where another run has it still: `folder`-2, and so on. Ours until this process ends."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(1):
        path = folder if number == 1 else folder.with_name(f"{folder.name}-{number}")
        lock = open(path.with_name(f".{path.name}.lock"), "w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        held.append(lock)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        return path
