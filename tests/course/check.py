#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The checks of docs/course.md's exercises. A student runs one on the tree as it stands:

    tests/course/check.py icmp           the stack answers ICMP timestamp requests
    tests/course/check.py rack NAME …    these scripts of tests/scripts/rack, and no others, catch
                                       tests/mutations/rack.patch
    tests/course/check.py cc PROGRAM     it is as examples/congestion_control.c; its control "mine" beats reno
    tests/course/check.py timer FILE     the file's timer_now_us is a clock (tests/course/timer.h)

--solution, in place of what the exercise asks for, takes ours. Exit status 0 when the check passed."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HERE = ROOT / "tests/course"
OUT = ROOT / "build/course"
HOST = pathlib.Path("build/host")   # from ROOT, where everything runs
FLAGS = "-std=gnu11 -g -O1 -DWEIR_CFG_SELF_CHECK=1".split()


def run(*words, **options):
    return subprocess.run([str(word) for word in words], cwd=ROOT, capture_output=True, text=True, **options)


def must(*words):
    done = run(*words)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def patched(patch, name):
    """A copy of src with the patch applied, and those of its sources that the patch touches."""
    copy = OUT / name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ROOT / "src", copy / "src")
    # Outside a repository of its own git would skip a path.
    subprocess.run(["git", "apply", "--recount", str(patch)], cwd=copy, check=True,
                   env={**os.environ, "GIT_CEILING_DIRECTORIES": str(OUT)})
    return copy / "src", [copy / file for file in re.findall(r"^\+\+\+ b/(\S+\.c)$", patch.read_text(), re.MULTILINE)]


def build(name, sources, src=ROOT / "src"):
    """Sources come before the library: what they define is not taken from it."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / f"{name}-check"
    flags = must("make", "-s", "host-flags").split()
    must("cc", *FLAGS, *flags, f"-I{src}", "-Iinclude", "-I.", "-Iapi", "-Iports", "-Itests/unit", f"-I{HERE}", *sources,
         HOST / "libhelpers.a", HOST / "libapps.a", HOST / "liball.a", "-o", program, "-lcmocka", "-pthread", "-lm")
    return program


def verdict(program):
    done = run(program, timeout=120)
    print(done.stdout + done.stderr, end="")
    return done.returncode == 0


def icmp(solution):
    must("make", "-s", HOST / "libhelpers.a", HOST / "libapps.a", HOST / "liball.a")
    src, sources = patched(HERE / "solutions/icmp.patch", "icmp") if solution else (ROOT / "src", [])
    return verdict(build("icmp", [HERE / "icmp.c", *sources], src))


def rack(solution, *names):
    must("make", "-s", HOST / "weir-script", HOST / "libhelpers.a", HOST / "libapps.a")
    src, sources = patched(ROOT / "tests/mutations/rack.patch", "rack")
    broken = build("rack", [HOST / "obj/sim/script/engine.o", *sources], src)
    done = run(sys.executable, "sim/script/run.py", f"--program={broken}", "--strict", "tests/scripts/rack", timeout=120)
    caught = set(re.findall(r"^FAIL +\S+/(\S+)\.pkt", done.stdout, re.MULTILINE))
    answer = set((HERE / "solutions/rack.txt").read_text().split() if solution else names)
    print(f"{len(answer & caught)} of {len(answer)} are right, {len(caught - answer)} are missing")
    return bool(caught) and answer == caught


def goodput(program, name, seed):
    done = must(program, "--cc", name, "--rate", "100", "--delay", "10", "--loss", "0.1", "--seconds", "20", "--seed", seed)
    return json.loads(done)["flows"][0]["mbit"]


def cc(solution, program=None):
    if solution:
        program = HOST / "examples/congestion_control"
        must("make", "-s", program)
    name = "scalable" if solution else "mine"
    mine, reno = (sum(goodput((ROOT / program), cc, seed) for seed in range(1, 6)) / 5 for cc in (name, "reno"))
    print(f"{name}: {mine:.1f} Mbit/s, reno: {reno:.1f}")
    return mine > reno


def timer(solution, file=None):
    must("make", "-s", HOST / "libhelpers.a", HOST / "libapps.a", HOST / "liball.a")
    return verdict(build("timer", [HERE / "timer.c", HERE / "solutions/timer.c" if solution else file]))


EXERCISES = {"icmp": (icmp, 0), "rack": (rack, None), "cc": (cc, 1), "timer": (timer, 1)}


def main(words):
    solution = "--solution" in words
    name, *given = [word for word in words if word != "--solution"] or [None]
    if name not in EXERCISES or (not solution and EXERCISES[name][1] not in (None, len(given))) or (solution and given):
        sys.exit(__doc__)
    passed = EXERCISES[name][0](solution, *given)
    print(f"{name}: {'passed' if passed else 'not yet'}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
