# SPDX-License-Identifier: BSD-2-Clause
"""Runs in real time, many side by side. What is measured is kept run by run, so a measurement that was ended goes on where it was, as long
as the programs that it measures are the same; when all is there nothing is kept. A run has
    name, start(), ended() -> bool, take() -> a result or None, close()"""
import hashlib
import json
import os
import shutil
import time

import common

LEAST_S = 0.25


def at_once(default):
    """How many runs go side by side: AT_ONCE in the environment, or what a machine with nothing else to do bears."""
    return int(os.environ.get("AT_ONCE", default))


def first(pid):
    """What else runs on this machine must not make the source, the link or the player late: that would count as the network's doing."""
    try:
        os.sched_setscheduler(pid, os.SCHED_FIFO, os.sched_param(5))
    except OSError:
        pass


def kept_in(title, programs):
    """The folder of the results so far: those of other programs are thrown away."""
    folder = common.OUT / "realtime/kept" / title.replace(" ", "-")
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in programs)).hexdigest()
    if not (folder / "of").exists() or (folder / "of").read_text() != digest:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "of").write_text(digest)
    return folder


def all_of(title, runs, side_by_side, programs):
    """{name: result} of all runs, each with the machine's load while it ran; Failed when one has none."""
    folder = kept_in(title, programs)
    found = {run.name: json.loads((folder / f"{run.name}.json").read_text()) for run in runs if (folder / f"{run.name}.json").exists()}
    waiting, going = [run for run in runs if run.name not in found], []
    progress = common.Progress(f"real time, {title}", len(runs))
    if found:
        progress.done = len(found) - 1
        progress.step(f"{len(found)} runs were there from before")
    try:
        while waiting or going:
            while waiting and len(going) < side_by_side:
                going.append(waiting.pop(0))
                going[-1].start()
            time.sleep(LEAST_S)
            for run in [run for run in going if run.ended()]:
                going.remove(run)
                found[run.name] = result = run.take()
                if result is not None:
                    result["load"] = common.load()
                    (folder / f"{run.name}.json").write_text(json.dumps(result))
                progress.step(f"{run.name}: {'failed' if result is None else format(result['met_percent'], '.2f') + ' %'}")
    finally:
        for run in going:
            run.close()
    failed = [name for name, result in found.items() if result is None]
    if failed:
        raise common.Failed(f"no result of {', '.join(failed)}: see build/bench/realtime")
    shutil.rmtree(folder)
    return found


def names(row):
    return [run.name for run in row]


def mean(found, names):
    return round(sum(found[name]["met_percent"] for name in names) / len(names), 2)


def least(found, names):
    return round(min(found[name]["met_percent"] for name in names), 2)


def loads(found):
    """From the least to the most tasks that wanted this machine's processors while it was measured."""
    seen = [result["load"] for result in found.values()]
    return [min(seen), max(seen)]
