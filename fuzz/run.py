#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the fuzz targets (fuzz/NAME.c, built to build/fuzz/NAME; hostile.c also for the small profile and with MemorySanitizer).

  run.py [--seconds N] [TARGET …]   fuzzes each for N seconds (60), from the seeds and what earlier runs kept in build/fuzz/kept
  run.py --seed S …                 the same mutations each time, as long as the inputs are the same: nothing is taken from earlier runs
  run.py --replay [TARGET …]        runs the seeds (fuzz/seeds.py) and the committed inputs (fuzz/corpus/TARGET) once each
  run.py --list                     names the targets
A crash's input is left in build/fuzz/crashes; once mended, it belongs into fuzz/corpus/TARGET."""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import time

import seeds

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/fuzz"
BUILT_FROM = {"hostile_small": "hostile", "hostile_msan": "hostile"}    # the others are built from the file of their name
TARGETS = sorted([path.stem for path in (ROOT / "fuzz").glob("*.c")] + list(BUILT_FROM))
# Where an input reaches much of the program, libFuzzer's choice of inputs by entropy costs more than to run them.
OPTIONS = {target: ["-entropic=0", "-max_len=1024"] for target in ("hostile", "hostile_small", "hostile_msan", "tiny")}
OPTIONS["paths"] = ["-entropic=0"]


def build(names):
    done = subprocess.run(["make", "-s", "--no-print-directory", *[f"build/fuzz/{name}" for name in names]], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(done.stdout)


def told(output, pattern):
    found = re.findall(pattern, output)
    return found[-1] if found else "?"


def fuzz(name, seconds, seed):
    """Fuzzes one target; returns whether it survived."""
    kept, crashes = BUILD / "kept" / name, BUILD / "crashes"
    if seed:
        kept = BUILD / "kept-seeded" / name
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    command = [BUILD / name, kept, *folders(name), f"-max_total_time={seconds}", "-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1",
               f"-artifact_prefix={crashes}/{name}-", *OPTIONS.get(name, []), *([f"-seed={seed}"] if seed else [])]
    begun = time.monotonic()
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    took = max(time.monotonic() - begun, 0.001)
    runs, edges = told(done.stdout, r"number_of_executed_units: *(\d+)"), told(done.stdout, r"cov: (\d+)")
    rate = f"{int(runs) / took:.0f}" if runs.isdigit() else "?"
    print(f"{'FAIL' if done.returncode else ' ok '}  {name:<14} {runs} runs in {took:.0f} s, {rate} a second, {edges} edges, {len(list(kept.iterdir()))} kept", flush=True)
    if done.returncode:
        print("\n".join(done.stdout.split("\n")[-60:]))
        left = told(done.stdout, r"Test unit written to (\S+)").replace(f"{ROOT}/", "")
        print(f"    again: build/fuzz/{name} {left}")
    return done.returncode == 0


def folders(name):
    """Seeds, made anew, and committed inputs."""
    made, base = BUILD / "seeds" / name, BUILT_FROM.get(name, name)
    seeds.write(base, made)
    return [folder for folder in (made, ROOT / "fuzz/corpus" / base) if folder.is_dir()]


def replay(name):
    inputs = [path for folder in folders(name) for path in sorted(folder.iterdir())]
    if not inputs:
        return True
    crashes = BUILD / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(BUILD / name), "-timeout=10", f"-artifact_prefix={crashes}/{name}-", *map(str, inputs)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    print(f"{'FAIL' if done.returncode else ' ok '}  {name:<14} {len(inputs)} inputs", flush=True)
    if done.returncode:
        print("\n".join(done.stdout.split("\n")[-60:]))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(TARGETS))
        return 0
    names = arguments.targets or TARGETS
    if unknown := set(names) - set(TARGETS):
        sys.exit(f"no such target: {', '.join(sorted(unknown))}")
    build(names)
    good = [replay(name) if arguments.replay else fuzz(name, arguments.seconds, arguments.seed) for name in names]
    return 0 if all(good) else 1


sys.exit(main())
