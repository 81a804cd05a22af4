#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows that the conversation scripts can fail. For each topic, a folder of tests/scripts, there is a patch of src/ or api/ here that
breaks what the topic is about: TOPIC.patch, its first line says how. Each is applied to a copy of the tree, the player is built from it,
and the topic's scripts must not all pass.

usage: tests/mutations/run.py [--check] [TOPIC…]
  --check   only: every topic has a patch, every patch a topic, and each applies to the tree as it is, those of the simulator (sim/) too"""
import filecmp
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COPY = ROOT / "build/mutations/tree"
for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(variable, None)


def patches():
    return {path.stem: path for path in sorted((ROOT / "tests/mutations").glob("*.patch"))}


def topics():
    return sorted({path.parent.name for path in (ROOT / "tests/scripts").rglob("*.pkt")})


def apply(patch, where, *options):
    """Empty, or what git said. Outside a repository of its own git would skip a path, hence --git-dir."""
    done = subprocess.run(["git", "apply", "--recount", *options, str(patch)], cwd=where, capture_output=True, text=True,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(where.parent)})
    return "" if done.returncode == 0 else done.stderr.strip() or f"status {done.returncode}"


def check():
    wrong = [f"topic {name}: no tests/mutations/{name}.patch" for name in topics() if name not in patches()]
    for name in patches():
        if name not in topics():
            wrong.append(f"tests/mutations/{name}.patch: there is no topic tests/scripts/{name}")
    for path in sorted((ROOT / "tests/mutations").rglob("*.patch")):
        told = apply(path, ROOT, "--check")
        if told:
            wrong.append(f"{path.relative_to(ROOT)}: does not apply any more: {told}")
    print("\n".join(wrong), file=sys.stderr, end="\n" if wrong else "")
    return 1 if wrong else 0


def build():
    done = subprocess.run(["make", "-s", "build/host/weir-script"], cwd=COPY, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def play(name):
    command = [sys.executable, "sim/script/run.py", "--strict", f"tests/scripts/{name}"]
    done = subprocess.run(command, cwd=COPY, capture_output=True, text=True, timeout=600)
    return done.returncode != 0, re.findall(r"^FAIL +\S+/(\S+)\.pkt", done.stdout, re.MULTILINE)


def prepare():
    """The copy, brought up to date; what did not change keeps its time, so that little is built, and what did has a new one: the object
    of a fault that was planted before is newer than the source."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {name for name in listing.split("\n") if name and (ROOT / name).is_file()}
    for name in files:
        (COPY / name).parent.mkdir(parents=True, exist_ok=True)
        if not (COPY / name).is_file() or not filecmp.cmp(ROOT / name, COPY / name, shallow=False):
            shutil.copy(ROOT / name, COPY / name)
    for path in COPY.rglob("*"):
        name = str(path.relative_to(COPY))
        if path.is_file() and name not in files and not name.startswith("build/"):
            path.unlink()


def try_one(name, patch):
    """(caught, text)."""
    told = apply(patch, COPY)
    if told:
        return False, f"does not apply: {told}"
    touched = [COPY / file for file in re.findall(r"^\+\+\+ b/(\S+)", patch.read_text(), re.MULTILINE)]
    try:
        built, log = build()
        if not built:
            return False, "does not build:\n" + "\n".join(log.split("\n")[-15:])
        failed, names = play(name)
        return failed, ("caught by " + ", ".join(names)) if failed else "NOT CAUGHT: all scripts pass"
    finally:
        for path in touched:
            shutil.copyfile(ROOT / path.relative_to(COPY), path)    # a new time: built again


def main():
    words = sys.argv[1:]
    if "--check" in words:
        return check()
    chosen = {name: path for name, path in patches().items() if not words or name in words}
    begun, missed = time.monotonic(), []
    prepare()
    print("building …", flush=True)
    built, log = build()
    if not built:
        sys.exit(log[-3000:])
    for name in topics():
        if (not words or name in words) and name not in chosen:
            missed.append(name)
            print(f"FAIL  {name}: no patch", flush=True)
    for name, patch in chosen.items():
        caught, text = try_one(name, patch)
        if not caught:
            missed.append(name)
        print(f"{' ok ' if caught else 'FAIL'}  {name:<22} {text}", flush=True)
    print(f"{len(chosen) - len([n for n in missed if n in chosen])} passed, {len(missed)} failed ({time.monotonic() - begun:.0f} s)")
    return 1 if missed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
