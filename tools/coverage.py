#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make coverage: what the unit tests run of each part of the tree, in lines and branches, by gcov, held to the floors of
config/coverage.toml. build/coverage/missed.txt has each line that no test ran, and each with a branch that none took.

usage: tools/coverage.py    exit status 1 when a part is below a floor, or a test program failed"""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/coverage"
JOBS = int(os.environ.get("JOBS", "2"))
SECONDS = 600   # a test program
BATCH = 20      # objects a call of gcov


def run_tests():
    """The programs that failed. What each ran is added to the counts beside the objects."""
    for old in BUILD.rglob("*.gcda"):
        old.unlink()
    programs = [path for path in sorted((BUILD / "tests").rglob("*")) if path.is_file() and os.access(path, os.X_OK)]

    def run(program):
        try:
            return subprocess.run([program], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            return 1
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        return [program for program, status in zip(programs, pool.map(run, programs)) if status]


def gcov(objects):
    """For each file of the tree: line -> (times run, [times each branch was taken])."""
    out = subprocess.run(["gcov", "--json-format", "--stdout", "--branch-probabilities", *objects], cwd=ROOT,
                         capture_output=True, text=True, check=True).stdout
    return [file for line in out.splitlines() if line.startswith("{") for file in json.loads(line)["files"]]


def collect(parts):
    """The same of all objects together: a header's lines are those of whoever includes it."""
    objects = [path for part in parts for path in sorted((BUILD / "obj" / part).rglob("*.gcno"))]
    batches = [objects[at:at + BATCH] for at in range(0, len(objects), BATCH)]
    files = {}
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        for file in (file for batch in pool.map(gcov, batches) for file in batch):
            name = os.path.relpath(ROOT / file["file"], ROOT)
            if name.split("/")[0] in parts:
                lines = files.setdefault(name, {})
                for line in file["lines"]:
                    count, taken = lines.get(line["line_number"], (0, []))
                    branches = [branch["count"] for branch in line["branches"]]
                    if len(branches) == len(taken):
                        branches = [one + other for one, other in zip(branches, taken)]
                    elif len(branches) < len(taken):
                        branches = taken
                    lines[line["line_number"]] = (count + line["count"], branches)
    return files


def percent(counts):
    return 100 * sum(count > 0 for count in counts) / len(counts)


def main():
    floors = tomllib.loads((ROOT / "config/coverage.toml").read_text())
    failed = run_tests()
    for program in failed:
        print(f"failed: {program.relative_to(ROOT)}")
    files, below = collect(list(floors)), 0
    print(f"{'':8} {'lines':>8} {'run':>7} {'floor':>6}   {'branches':>8} {'taken':>7} {'floor':>6}")
    for part, floor in floors.items():
        own = [lines for name, lines in files.items() if name.startswith(part + "/")]
        run = [count for lines in own for count, _ in lines.values()]
        taken = [count for lines in own for _, branches in lines.values() for count in branches]
        low = percent(run) < floor["lines"] or percent(taken) < floor["branches"]
        below += low
        print(f"{part:8} {len(run):8} {percent(run):6.1f}% {floor['lines']:5}%   {len(taken):8} {percent(taken):6.1f}% "
              f"{floor['branches']:5}%{'   below' if low else ''}")
    with open(BUILD / "missed.txt", "w") as out:
        for name, lines in sorted(files.items()):
            for number, (count, branches) in sorted(lines.items()):
                if not count or not all(branches):
                    out.write(f"{name}:{number}: {'never run' if not count else 'a branch is never taken'}\n")
    return int(below > 0 or bool(failed))


if __name__ == "__main__":
    sys.exit(main())
