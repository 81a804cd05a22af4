#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make faults: every unit program over an instance, with the address and undefined-behaviour sanitizers, once for each n:
the n-th allocation of each instance fails. A test may then miss what it expects, and says so; but nothing is used after
its end or before its beginning, nothing contradicts itself, and no program hangs.

usage: tests/faults.py [--most N] [PATTERN …]    exit status 1 when something was found"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BAD = re.compile(r"^.*(?:Sanitizer|runtime error|Illegal instruction|Segmentation fault|Aborted).*$", re.MULTILINE)
SECONDS = 120


def run(program, n):
    """Whether an allocation failed, and what went wrong beyond expectations (None: nothing)."""
    environment = {**os.environ, "WEIR_TEST_FAIL": str(n), "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0"}
    try:
        done = subprocess.run([program], capture_output=True, text=True, errors="replace", env=environment,
                              timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True, f"no end within {SECONDS} s"
    out = done.stdout + done.stderr
    found = [line.strip() for line in BAD.findall(out) if not line.startswith("tests/unit/")]   # a test that did not ask
    return "an allocation failed" in done.stderr, found[0] if found else None


def program_runs(program, most):
    found, n = {}, 1
    while n <= most:
        failed, wrong = run(program, n)
        if wrong:
            found.setdefault(wrong, n)
        if not failed:
            break
        n += 1
    return program, n - 1, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=300, help="the last n")
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    folder, bad, runs = ROOT / "build/asan/tests", 0, 0
    programs = [path for path in sorted(folder.rglob("*")) if path.is_file() and os.access(path, os.X_OK)
                and (not options.pattern or any(word in str(path.relative_to(folder)) for word in options.pattern))]
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for program, most, found in pool.map(lambda one: program_runs(one, options.most), programs):
            name, runs = program.relative_to(folder), runs + most
            for wrong, n in found.items():
                print(f"{name}: {wrong}\n    alone: WEIR_TEST_FAIL={n} ASAN_OPTIONS=detect_leaks=0 {program}")
            bad += len(found)
            print(f"  {'BAD' if found else 'ok '}   {name}: {most} allocations", flush=True)
    print(f"{len(programs)} programs, {runs} runs, {bad} found")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
