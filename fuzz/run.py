#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the fuzz targets (fuzz/NAME.c, built to build/fuzz/NAME).

  run.py [--seconds N] [TARGET …]   fuzzes each for N seconds (60), from the seeds and what earlier runs kept in build/fuzz/kept
  run.py --replay [TARGET …]        runs the seeds (fuzz/seeds.py) and the committed inputs (fuzz/corpus/TARGET) once each
  run.py --list                     names the targets
A crash's input is left in build/fuzz/crashes; once mended, it belongs into fuzz/corpus/TARGET."""
import argparse
import pathlib
import subprocess
import sys

import seeds

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/fuzz"
# libFuzzer's weighing of inputs by how rare what they reach is takes five times as long as playing one of these to both builds.
SETTINGS = {"paths": ["-entropic=0"]}
TARGETS = sorted(path.stem for path in (ROOT / "fuzz").glob("*.c"))


def build(names):
    done = subprocess.run(["make", "-s", "--no-print-directory", *[f"build/fuzz/{name}" for name in names]], cwd=ROOT, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(done.stdout)


def fuzz(name, seconds):
    """Fuzzes one target; returns whether it survived."""
    kept, crashes = BUILD / "kept" / name, BUILD / "crashes"
    kept.mkdir(parents=True, exist_ok=True)
    crashes.mkdir(parents=True, exist_ok=True)
    command = [BUILD / name, kept, *folders(name), f"-max_total_time={seconds}", "-max_len=4096", "-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1", *SETTINGS.get(name, []),
               f"-artifact_prefix={crashes}/{name}-"]
    done = subprocess.run([str(word) for word in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    facts = dict(line[6:].split(":", 1) for line in done.stdout.split("\n") if line.startswith("stat::") and ":" in line[6:])
    runs = facts.get("number_of_executed_units", "?").strip()
    print(f"{'FAIL' if done.returncode else ' ok '}  {name:<12} {runs} inputs in {seconds} s, {len(list(kept.iterdir()))} kept", flush=True)
    if done.returncode:
        print("\n".join(done.stdout.split("\n")[-60:]))
        print(f"    again: {' '.join(str(word) for word in command[:1])} build/fuzz/crashes/{name}-…")
    return done.returncode == 0


def folders(name):
    """Seeds, made anew, and committed inputs."""
    made = BUILD / "seeds" / name
    seeds.write(name, made)
    return [folder for folder in (made, ROOT / "fuzz/corpus" / name) if folder.is_dir()]


def replay(name):
    inputs = [path for folder in folders(name) for path in sorted(folder.iterdir())]
    if not inputs:
        return True
    crashes = BUILD / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(BUILD / name), "-timeout=10", f"-artifact_prefix={crashes}/{name}-", *map(str, inputs)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    print(f"{'FAIL' if done.returncode else ' ok '}  {name:<12} {len(inputs)} inputs", flush=True)
    if done.returncode:
        print("\n".join(done.stdout.split("\n")[-60:]))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
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
    good = [replay(name) if arguments.replay else fuzz(name, arguments.seconds) for name in names]
    return 0 if all(good) else 1


sys.exit(main())
