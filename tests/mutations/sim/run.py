#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows that the simulator's campaign can fail: each patch here plants a fault into src/ (its first line says which). It is applied to a
copy of the tree, weir-sim is built from it, and the campaign must find it. And without a patch the same seeds must pass.

usage: tests/mutations/sim/run.py [--seeds N] [NAME…]"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
COPY = ROOT / "build/mutations/sim"
NOT_NEEDED = {"build", "docs", "tests", "fuzz", "bench", "lab", "examples", ".git"}
PARTS = [path.name for path in sorted(ROOT.iterdir()) if path.name == "Makefile" or (path.is_dir() and path.name not in NOT_NEEDED)]
for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(variable, None)


def prepare():
    """The copy, brought up to date; what did not change keeps its time, so that little is built."""
    for part in PARTS:
        if (ROOT / part).is_dir():
            (COPY / part).mkdir(parents=True, exist_ok=True)
            for path in [p for p in (COPY / part).rglob("*") if p.is_file() and not (ROOT / p.relative_to(COPY)).exists()]:
                path.unlink()
            for path in [p for p in (ROOT / part).rglob("*") if p.is_file()]:
                copy(path)
        else:
            copy(ROOT / part)


def copy(path):
    target = COPY / path.relative_to(ROOT)
    if not target.exists() or target.read_bytes() != path.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)   # with a new time: make builds it again


def apply(patch):
    done = subprocess.run(["git", "apply", "--recount", str(patch)], cwd=COPY, capture_output=True, text=True,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(COPY.parent)})
    return done.stderr.strip() if done.returncode else ""


def campaign(seeds):
    """(failed, what was said about the first failure)"""
    build = subprocess.run(["make", "-s", "build/host/weir-sim"], cwd=COPY, capture_output=True, text=True)
    if build.returncode:
        sys.exit(f"does not build:\n{build.stderr[-2000:]}")
    done = subprocess.run(["build/host/weir-sim", "--scenario", "campaign", "--count", str(seeds), "--seconds", "120"], cwd=COPY, capture_output=True, text=True)
    said = re.findall(r"seed \d+: .*", done.stderr) or [line for line in done.stderr.split("\n") if line.startswith("sim:")]
    tried = json.loads(done.stdout)["seeds"] if done.stdout else "?"
    return done.returncode != 0, said[0] if said else f"exit status {done.returncode}", tried


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3000)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    patches = [patch for patch in sorted(HERE.glob("*.patch")) if not options.names or patch.stem in options.names]
    missed = []
    prepare()
    failed, said, tried = campaign(options.seeds)
    print(f"{'FAIL' if failed else ' ok '}  without a fault: {said if failed else f'{tried} seeds pass'}", flush=True)
    if failed:
        return 1
    for patch in patches:
        prepare()
        told = apply(patch)
        began = time.monotonic()
        failed, said, tried = (False, f"the patch does not apply: {told}", 0) if told else campaign(options.seeds)
        print(f"{' ok ' if failed else 'FAIL'}  {patch.stem:<10} {time.monotonic() - began:5.1f} s  {patch.read_text().splitlines()[0]}\n        "
              f"{said[:200] if failed or told else 'NOT FOUND'}", flush=True)
        if not failed:
            missed.append(patch.stem)
    prepare()
    print(f"{len(patches) - len(missed)} of {len(patches)} faults found" + (f"; missed: {', '.join(missed)}" if missed else ""))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
