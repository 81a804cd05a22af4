#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs the fuzz targets (fuzz/NAME.c, built to build/fuzz/NAME; NAME_small for the small profile, NAME_msan with
MemorySanitizer).

  run.py [--seconds N] [TARGET …]   fuzzes each for N seconds (60), from the seeds and what earlier runs kept in
                                    build/fuzz/kept; fails where fewer edges are reached than fuzz/floors.json has
  run.py --hours N [TARGET …]       fuzzes all side by side on the cores for N hours, in pieces, and merges after each
  run.py --seed S …                 the same mutations each time, as long as the inputs are the same: nothing is taken
                                    from earlier runs
  run.py --replay [TARGET …]        runs the seeds (fuzz/seeds.py) and the committed inputs once each
  run.py --merge [TARGET …]         leaves of what was kept the smallest inputs that reach as much
  run.py --commit [TARGET …]        the same, of which each edge that seeds do not reach goes to fuzz/corpus/TARGET.b64
  run.py --floors [TARGET …]        writes to fuzz/floors.json how many edges the seeds and committed inputs reach
  run.py --list                     names the targets
A crash's input is left in build/fuzz/crashes; once mended, it belongs into fuzz/corpus/TARGET. What long runs found
stands in fuzz/corpus/TARGET.b64, an input a line."""
import argparse
import base64
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

import seeds

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/fuzz"
SPENT = BUILD / "spent.json"    # seconds of CPU
ACCOUNT_LOCK = threading.Lock()
FLOORS = ROOT / "fuzz/floors.json"
# The others are built from the file of their name.
BUILT_FROM = {"hostile_small": "hostile", "hostile_msan": "hostile", "hostile6_msan": "hostile6",
              "instance_msan": "instance", "apps_msan": "apps"}
TARGETS = sorted([path.stem for path in (ROOT / "fuzz").glob("*.c")] + list(BUILT_FROM))
# Where an input reaches much of the program, libFuzzer's choice of inputs by entropy costs more than to run them.
OPTIONS = {target: ["-entropic=0", "-max_len=1024"]
           for target in ("fragments", "hostile", "hostile_small", "hostile_msan", "hostile6", "hostile6_msan",
                          "apps", "apps_msan", "devices", "paths", "threads", "syscalls", "tiny")}
OPTIONS["fragments"][1] = "-max_len=600"    # a hundred fragments
FLOOR_SHARE = 0.97      # of the edges measured: compilers' versions count a little differently
PIECE_S = 600           # of a long run
COMMITTED_BYTES = 48 * 1024     # of a target, at the most
COMMITTED_INPUT_BYTES = 1536


def build(names):
    if os.environ.get("WEIR_FUZZ_BUILT"):
        return   # tests/run.py has just built them all
    done = subprocess.run(["make", "-s", "--no-print-directory", *[f"build/fuzz/{name}" for name in names]], cwd=ROOT,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(done.stdout)


def told(output, pattern):
    found = re.findall(pattern, output)
    return found[-1] if found else "?"


class Done:
    """A program that ended: returncode, stdout, and the seconds of CPU it took."""
    def __init__(self, words, lowest=False):
        command = [*(["nice", "-n", "19"] if lowest else []), *map(str, words)]
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
            self.returncode = process.returncode = os.waitstatus_to_exitcode(status)
            self.cpu_s = used.ru_utime + used.ru_stime
            output.seek(0)
            self.stdout = output.read().decode(errors="replace")


def limits(name, lowest=False):
    """`lowest`: who has the lowest priority may be kept waiting for long. Others share the cores, too."""
    crashes = BUILD / "crashes"
    crashes.mkdir(parents=True, exist_ok=True)
    return ["-max_len=4096", f"-timeout={200 if lowest else 60}", "-rss_limit_mb=2048",
            f"-artifact_prefix={crashes}/{name}-", *OPTIONS.get(name, [])]


def replace(path, data):
    """Writes a file at once: who reads it beside this process finds the old one or the new one."""
    with tempfile.NamedTemporaryFile(dir=BUILD, delete=False) as made:
        made.write(data)
    os.replace(made.name, path)


def fill(folder, wanted):
    """Makes the files (data by name) all that the folder has. Whoever reads it meanwhile, for the same target, finds
    them."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        if old.name not in wanted:
            old.unlink(missing_ok=True)
    for name, data in wanted.items():
        if not (folder / name).exists() or (folder / name).read_bytes() != data:
            replace(folder / name, data)


def account(name, cpu_s):
    """Adds to what each target was fuzzed by now."""
    with ACCOUNT_LOCK:
        spent = json.loads(SPENT.read_text()) if SPENT.exists() else {}
        spent[name] = round(spent.get(name, 0) + cpu_s)
        replace(SPENT, (json.dumps(spent, indent=4, sort_keys=True) + "\n").encode())


def floors():
    return json.loads(FLOORS.read_text()) if FLOORS.exists() else {}


def complain(name, output):
    print("\n".join(output.split("\n")[-60:]))
    left = told(output, r"Test unit written to (\S+)").replace(f"{ROOT}/", "")
    print(f"    again: build/fuzz/{name} {left}", flush=True)


def fuzz(name, seconds, seed=0, lowest=False):
    """Fuzzes one target; returns whether it survived, and reached as much as it should."""
    kept = BUILD / "kept" / name
    if seed:
        kept = BUILD / "kept-seeded" / name
        shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True, exist_ok=True)
    done = Done([BUILD / name, kept, *folders(name), f"-max_total_time={seconds}", "-print_final_stats=1",
                 *limits(name, lowest), *([f"-seed={seed}"] if seed else [])], lowest)
    account(name, done.cpu_s)
    runs, edges = told(done.stdout, r"number_of_executed_units: *(\d+)"), told(done.stdout, r"cov: (\d+)")
    rate = f"{int(runs) / max(done.cpu_s, 0.001):.0f}" if runs.isdigit() else "?"
    floor = 0 if seed else floors().get(name, 0)
    low = edges.isdigit() and int(edges) < floor
    bad = done.returncode or low
    print(f"{'FAIL' if bad else ' ok '}  {name:<14} {runs} runs in {done.cpu_s:.0f} s of CPU, {rate} a second, {edges} edges"
          f"{f', fewer than its floor of {floor}' if low else ''}, {len(list(kept.iterdir()))} kept", flush=True)
    if done.returncode:
        complain(name, done.stdout)
    return not bad


def unpack(base):
    """The committed inputs of long runs, as files."""
    packed, made = ROOT / "fuzz/corpus" / f"{base}.b64", BUILD / "packed" / base
    if not packed.exists():
        return []
    inputs = [base64.b64decode(line) for line in packed.read_text().split()]
    fill(made, {hashlib.sha1(data).hexdigest(): data for data in inputs})
    return [made]


def folders(name, packed=True):
    """Seeds, made anew, and committed inputs."""
    base = BUILT_FROM.get(name, name)
    made = BUILD / "seeds" / name
    fill(made, seeds.of(base))
    single = ROOT / "fuzz/corpus" / base
    return [folder for folder in (made, single) if folder.is_dir()] + (unpack(base) if packed else [])


def replay(name):
    inputs = [path for folder in folders(name) for path in sorted(folder.iterdir())]
    if not inputs:
        return True
    done = Done([BUILD / name, *limits(name), *inputs])
    print(f"{'FAIL' if done.returncode else ' ok '}  {name:<14} {len(inputs)} inputs", flush=True)
    if done.returncode:
        complain(name, done.stdout)
    return done.returncode == 0


def merge(name):
    """What was kept becomes a smallest set that reaches as much (edges, and how often each)."""
    kept, merged = BUILD / "kept" / name, BUILD / "merged" / name
    if not kept.is_dir():
        return True
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    before = len(list(kept.iterdir()))
    done = Done([BUILD / name, "-merge=1", *limits(name, True), merged, kept], lowest=True)
    if done.returncode:
        complain(name, done.stdout)
        return False
    shutil.rmtree(kept)
    merged.rename(kept)
    print(f" ok   {name:<14} {before} inputs merged into {len(list(kept.iterdir()))}", flush=True)
    return True


def commit(name):
    """Of what was kept, for each edge that neither seeds nor mended crashes reach an input, small ones first."""
    base, chosen = BUILT_FROM.get(name, name), BUILD / "chosen" / name
    shutil.rmtree(chosen, ignore_errors=True)
    chosen.mkdir(parents=True)
    have = folders(name, packed=False)
    for folder in have:
        for path in folder.iterdir():
            shutil.copyfile(path, chosen / path.name)
    known = {path.name for path in chosen.iterdir()}
    found = [folder for folder in [BUILD / "kept" / name, *unpack(base)] if folder.is_dir()]
    done = Done([BUILD / name, "-merge=1", "-use_counters=0", *limits(name, True), chosen, *found], lowest=True)
    if done.returncode:
        complain(name, done.stdout)
        return False
    inputs = sorted((path.read_bytes() for path in chosen.iterdir() if path.name not in known),
                    key=lambda data: (len(data), data))
    room, lines = COMMITTED_BYTES, []
    for data in inputs:
        if len(data) <= min(room, COMMITTED_INPUT_BYTES):
            room -= len(data)
            lines.append(base64.b64encode(data).decode())
    if lines:
        (ROOT / "fuzz/corpus" / f"{base}.b64").write_text("\n".join(lines) + "\n")
    print(f" ok   {name:<14} {len(lines)} of {len(inputs)} inputs, {COMMITTED_BYTES - room} bytes", flush=True)
    return True


def measure_floor(name):
    done = Done([BUILD / name, "-runs=0", *limits(name), *folders(name)])
    edges = told(done.stdout, r"cov: (\d+)")
    if done.returncode or not edges.isdigit():
        complain(name, done.stdout)
        return False
    every = floors() | {name: int(int(edges) * FLOOR_SHARE)}
    FLOORS.write_text(json.dumps(every, indent=4, sort_keys=True) + "\n")
    print(f" ok   {name:<14} {edges} edges, floor {every[name]}", flush=True)
    return True


def long_run(names, hours):
    """All side by side, each core a target at a time, in pieces; a target that failed is left out from then on."""
    cores = os.cpu_count() or 1
    share = hours * 3600 * cores / len(names)
    pieces = max(1, round(share / PIECE_S))
    good = set(names)

    def piece(name):
        if name in good and not (fuzz(name, max(1, int(share / pieces)), lowest=True) and merge(name)):
            good.discard(name)
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        for _ in range(pieces):
            list(pool.map(piece, names))
    spent = json.loads(SPENT.read_text())
    print(f"{sum(spent.values()) / 3600:.2f} hours of CPU by now, see {SPENT.relative_to(ROOT)}")
    return good == set(names)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--seed", type=int, default=0)
    for action in ("replay", "merge", "commit", "floors", "list"):
        parser.add_argument(f"--{action}", action="store_true")
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(TARGETS))
        return 0
    names = arguments.targets or TARGETS
    if unknown := set(names) - set(TARGETS):
        sys.exit(f"no such target: {', '.join(sorted(unknown))}")
    build(names)
    if arguments.hours:
        return 0 if long_run(names, arguments.hours) else 1
    if arguments.commit:    # of those built from one file the plain one speaks
        names = [name for name in names if name not in BUILT_FROM]
    for action in (replay, merge, commit):
        if getattr(arguments, action.__name__):
            return 0 if all([action(name) for name in names]) else 1
    if arguments.floors:
        return 0 if all([measure_floor(name) for name in names]) else 1
    return 0 if all([fuzz(name, arguments.seconds, arguments.seed) for name in names]) else 1


sys.exit(main())
