#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make faults: every unit program with fixtures, with the address and undefined-behaviour sanitizers, again and again,
each time with a fault that no test planned (tests/unit/faults.h): the n-th allocation of each instance fails, for every
n, alone or with all after it; the peer vanishes after n frames, for every n; frames are lost, cut, doubled or late; the
driver refuses (WEIR_TEST_DRIVER=full); the clock jumps; the link flaps. A test may then miss what it expects, and says
so; but nothing is used after its end or before its beginning, nothing contradicts itself, all memory goes back, and no
program hangs.

Not every n need be tried: with --points, of each kind so many of them, close together at first and ever further apart, the
last one among them.

usage: tests/faults.py [--most N] [--points N] [--seeds N] [PATTERN …]    exit status 1 when something was found"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
VARIANTS = ("asan", "small", "small_apps", "small6", "small6_apps", "tiny", "tiny6")
BAD = re.compile(r"^(?:faults: |.*(?:Sanitizer|runtime error|Illegal instruction|Segmentation fault|Aborted)).*$",
                 re.MULTILINE)
COUNTED = {"alloc": 1, "allocs": 1, "vanish": 0}     # for each n from here on, until none happens
SEEDED = ("lose", "truncate", "duplicate", "delay", "clock", "flap")
SECONDS = 120          # of the processor: a busy machine makes no program hang
ASLEEP_SECONDS = 1200  # of the clock, for one that waits for what does not come


def settings(kind, number):
    return {"WEIR_TEST_FAULT": f"{kind}:{number}", "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0",
            **({"WEIR_TEST_DRIVER": "full"} if kind in SEEDED and number % 2 == 0 else {})}


def sample(name):
    """One kind of fault, and its number, for the program of this name in `make test`."""
    first, kinds = zlib.crc32(name.encode()), [*COUNTED, *SEEDED]
    return kinds[first % len(kinds)], 1 + first // 16 % 8


def points(begin, most, wanted):
    """`wanted` (0: all) of `most` numbers from `begin` on: the first, the last, and the others at distances that grow."""
    if not wanted or wanted >= most:
        return range(begin, begin + most)
    steps = max(1, wanted - 1)
    spread = (begin + max(i, i * i * (most - 1) // (steps * steps)) for i in range(wanted))
    return sorted({min(number, begin + most - 1) for number in spread})


def limit_processor():
    """In a program's process, before it: the signal at the limit is told from all others."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))


def wrong(out, status):
    """What went wrong beyond a test's expectations; None: nothing."""
    found = [line for line in BAD.findall(out) if not line.startswith("tests/unit/")]   # a test that did not ask
    if not found and status == -signal.SIGXCPU:
        found = [f"no end within {SECONDS} s of the processor"]
    if not found and status < 0:
        found = [f"ended by signal {-status}"]
    return found[0].strip() if found else None


def run(program, kind, number):
    """Whether it says that a fault happened (None: it has no fixtures), and what went wrong (None: nothing)."""
    environment = {**os.environ, **settings(kind, number)}
    try:
        done = subprocess.run([program], capture_output=True, text=True, errors="replace", env=environment,
                              timeout=ASLEEP_SECONDS, cwd=ROOT, preexec_fn=limit_processor)
    except subprocess.TimeoutExpired:
        return True, f"no end within {ASLEEP_SECONDS} s"
    happened = "a fault happened" in done.stderr if "a fixture opened" in done.stderr else None
    return happened, wrong(done.stdout + done.stderr, done.returncode)


def program_runs(program, options):
    """So many runs, in so many of which a fault happened, and what was found, with the settings."""
    found, runs, happened = {}, 0, 0
    for kind in (*COUNTED, *SEEDED):
        begin = COUNTED.get(kind)
        for number in points(begin, options.most, options.points) if kind in COUNTED else range(1, 1 + options.seeds):
            fault, bad = run(program, kind, number)
            if fault is None:
                return program, runs, happened, found
            runs, happened = runs + 1, happened + bool(fault)
            if bad:
                found.setdefault(bad, (kind, number))
            if not fault and kind in COUNTED:
                break
    return program, runs, happened, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=300, help="the last n")
    parser.add_argument("--points", type=int, default=0, help="so many n of each kind; 0: all")
    parser.add_argument("--seeds", type=int, default=4, help="of each kind of fault that has seeds")
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    build, bad, runs, faults = ROOT / "build", 0, 0, 0
    programs = [path for variant in VARIANTS for path in sorted((build / variant / "tests").rglob("*"))
                if path.is_file() and os.access(path, os.X_OK)
                and (not options.pattern or any(word in str(path.relative_to(build)) for word in options.pattern))]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for program, count, happened, found in pool.map(lambda one: program_runs(one, options), programs):
            runs, faults, bad = runs + count, faults + happened, bad + len(found)
            for complaint, pair in found.items():
                words = " ".join(f"{key}={value}" for key, value in settings(*pair).items())
                print(f"{program.relative_to(build)}: {complaint}\n    alone: {words} {program.relative_to(ROOT)}")
            if count:
                verdict = "BAD" if found else "ok "
                print(f"  {verdict}   {program.relative_to(build)}: {happened} faults in {count} runs", flush=True)
    print(f"{len(programs)} programs, {faults} faults in {runs} runs, {bad} found")
    return int(bad > 0 or not faults)


if __name__ == "__main__":
    sys.exit(main())
