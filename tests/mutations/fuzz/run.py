#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows that the fuzzers can fail: each patch here plants a fault into src/, which its first line names after the targets that must find
it ("hostile hostile_small: what is wrong"). It is applied to a copy of the tree, the targets are built from it, and each is fuzzed from
its seeds alone, without the inputs that earlier crashes left (fuzz/corpus), until it finds the fault or the time is over. Without a patch
the same inputs must pass.

usage: tests/mutations/fuzz/run.py [--seconds N] [--seed S] [PATCH | TARGET …]"""
import argparse
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
HERE = pathlib.Path(__file__).resolve().parent
COPY = ROOT / "build/mutations/fuzz"
spec = importlib.util.spec_from_file_location("mutations", HERE.parent / "run.py")
mutations = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutations)
mutations.COPY = COPY


def build(target):
    done = subprocess.run(["make", "-s", f"build/fuzz/{target}"], cwd=COPY, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{target} does not build:\n{done.stderr[-2000:]}")


def fuzz(target, seconds, seed):
    """(whether it failed, what was said)"""
    shutil.rmtree(COPY / "fuzz/corpus", ignore_errors=True)
    command = [sys.executable, "fuzz/run.py", "--seconds", str(seconds), "--seed", str(seed), target]
    done = subprocess.run(command, cwd=COPY, capture_output=True, text=True, timeout=seconds + 120)
    runs = re.search(r"(\d+) runs", done.stdout)
    said = re.search(r"[^\n]*not true: [^\n]*|SUMMARY: [^\n]*", done.stdout)
    return done.returncode != 0, f"{runs.group(1) if runs else '?'} runs: {said.group(0)[-150:] if said else 'nothing wrong'}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    pairs = [(patch, target) for patch in sorted(HERE.glob("*.patch")) for target in patch.read_text().split(":", 1)[0].split()
             if not options.names or patch.stem in options.names or target in options.names]
    if not pairs:
        sys.exit("no patch, and no target of one, has such a name")
    missed = 0
    for patch, target in pairs:
        mutations.prepare()
        told = mutations.apply(patch, COPY)
        if told:
            sys.exit(f"{patch.name} does not apply: {told}")
        build(target)
        begun = time.monotonic()
        found, said = fuzz(target, options.seconds, options.seed)
        print(f"{' ok ' if found else 'FAIL'}  {patch.stem:<8} {target:<14} {'found' if found else 'NOT FOUND'} after {time.monotonic() - begun:.0f} s, {said}", flush=True)
        missed += not found
        for name in re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.MULTILINE):
            shutil.copyfile(ROOT / name, COPY / name)    # a new time: built again
    for target in sorted({target for _, target in pairs}):
        build(target)
        failed, said = fuzz(target, min(options.seconds, 20), options.seed)
        print(f"{'FAIL' if failed else ' ok '}  no fault {target:<14} {said}", flush=True)
        missed += failed
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
