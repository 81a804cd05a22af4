#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make faults: every unit program with fixtures, with the address and undefined-behaviour sanitizers, with faults that no
test planned (tests/unit/faults.h): each allocation fails, alone or with all of the instance after it; the peer vanishes
at each frame; frames are lost, cut, doubled or late; the driver refuses (WEIR_TEST_DRIVER=full); the clock jumps; the link
flaps. A test may then miss what it expects, and says so; but nothing is used after its end or before its beginning, nothing
contradicts itself, all memory goes back, and no program hangs.

A program runs once for each of the first three kinds: at each place where the fault can happen it has a child, in which
it does. Of a test with more places than --most those after it are tried by call stack: the first 8 times that the same
functions are at work, and at the 16th, the 32nd, the 64th time. A test whose children have taken --seconds of the processor
is tried no further. Both are 0 for all places; how many were not tried is told.

With --points a program runs anew for so many n of each kind, and the n-th allocation of all instances fails: close together
at first and ever further apart, the last one (--most) among them.

usage: tests/faults.py [--kind KIND]… [--most N] [--seconds N] [--points N] [--seeds N] [PATTERN …]
exit status 1 when something was found"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
VARIANTS = ("asan", "small", "small_apps", "small6", "small6_apps", "tiny", "tiny6")
BAD = re.compile(r"^(?:faults: |.*(?:Sanitizer|runtime error|Illegal instruction|Segmentation fault|Aborted)).*$",
                 re.MULTILINE)
COUNTED = {"alloc": 1, "allocs": 1, "vanish": 0}     # for each n from here on, until none happens
SEEDED = ("lose", "truncate", "duplicate", "delay", "clock", "flap")
EACH = ("each-alloc", "each-allocs", "each-vanish")
PROGRESS_SECONDS = 30
SECONDS = 120          # of the processor: a busy machine makes no program hang
ASLEEP_SECONDS = 1200  # of the clock, for one that waits for what does not come


def settings(kind, number):
    return {"WEIR_TEST_FAULT": f"{kind}:{number}", "ASAN_OPTIONS": "detect_leaks=0:handle_segv=0",
            **({"WEIR_TEST_DRIVER": "full"} if kind in SEEDED and number % 2 == 0 else {})}


def sample(name):
    """One kind of fault, and its number, for the program of this name in `make test`."""
    first, kinds = zlib.crc32(name.encode()), [*COUNTED, *SEEDED]
    return kinds[first % len(kinds)], 1 + first // 16 % 8


def over_instance(program):
    """Whether its test knows the fixture: the compiler noted it; where it did not, it may."""
    variant, name = program.relative_to(ROOT / "build").as_posix().split("/tests/", 1)
    noted = ROOT / f"build/{variant}/obj/tests/unit/{name}_test.d"
    return not noted.exists() or "tests/unit/fixture.h" in noted.read_text()


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


class Children:
    """What a program says that has a child at each place: the children so far, and what they did that is wrong."""

    def __init__(self):
        self.count, self.places, self.left, self.found = 0, 0, {}, {}
        self.place, self.excused, self.told = 0, False, set()    # places whose child was complained of: the first line says most
        self.fixtures = False

    def add(self, line):
        if place := re.match(r"a fault happened: (\d+) ", line):
            self.place, self.excused, self.count = int(place[1]), False, self.count + 1
        elif told := re.match(r"places: (\d+) of which (\d+) not tried in (\S+)", line):
            self.places, self.place, self.excused = self.places + int(told[1]), 0, False
            if told[2] != "0":
                self.left[told[3]] = (int(told[2]), int(told[1]))
        elif line.startswith("a fixture opened"):
            self.fixtures = True
        elif line.startswith("tests/unit/") and "runtime error" in line:
            self.excused = True    # a test that did not ask; its process then ends with a status of 1
        elif BAD.match(line) and self.place not in self.told and not (self.excused and line.startswith("faults: ended with status")):
            self.told.add(self.place)
            self.found.setdefault(re.sub(r"==\d+==|0x[0-9a-f]+|pid \d+", "", line).strip(), self.place)


def run_each(program, kind, options, progress=lambda children: None):
    """One run of a program, with a child at each place where this kind of fault can happen."""
    environment = {**os.environ, **settings(kind, 0), "WEIR_TEST_PLACES": str(options.most), "WEIR_TEST_SECONDS": str(options.seconds)}
    children, said = Children(), time.monotonic()
    with subprocess.Popen([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          env=environment, cwd=ROOT) as process:
        for line in process.stdout:
            children.add(line)
            if time.monotonic() - said > PROGRESS_SECONDS:
                said = time.monotonic()
                progress(children)
    if process.returncode and children.fixtures and not children.found:
        children.found[f"without a fault its exit status is {process.returncode}"] = 0
    return children


def chosen(kinds, options):
    return [kind for kind in kinds if not options.kind or kind in options.kind]


def each_place(program, options):
    """As program_runs, of the kinds of which each place is tried, with what was left out: {test: (not tried, places)}."""
    runs, happened, found, left = 0, 0, {}, {}
    for kind in chosen(EACH, options):
        name = program.relative_to(ROOT / "build")
        children = run_each(program, kind, options, lambda so_far: print(f"  …     {name}: {so_far.count} of {kind}", flush=True))
        if not children.fixtures:
            break
        runs, happened = runs + 1, happened + children.count
        for complaint, place in children.found.items():
            found.setdefault(complaint, (kind, place))
        left.update({f"{kind} {test}": numbers for test, numbers in children.left.items()})
    return runs, happened, found, left


def program_runs(program, options):
    """So many runs, so many faults in them, and what was found, with the settings; then what was not tried."""
    runs, happened, found, left = (0, 0, {}, {}) if options.points else each_place(program, options)
    for kind in chosen((*COUNTED, *SEEDED) if options.points else SEEDED, options):
        begin = COUNTED.get(kind)
        for number in points(begin, options.most, options.points) if kind in COUNTED else range(1, 1 + options.seeds):
            fault, bad = run(program, kind, number)
            if fault is None:
                return program, runs, happened, found, left
            runs, happened = runs + 1, happened + bool(fault)
            if bad:
                found.setdefault(bad, (kind, number))
            if not fault and kind in COUNTED:
                break
    return program, runs, happened, found, left


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kind", action="append", choices=(*EACH, *COUNTED, *SEEDED), help="only this one")
    parser.add_argument("--most", type=int, default=300, help="places of a test, or n, after which not each is tried; 0: all")
    parser.add_argument("--seconds", type=int, default=20, help="of the processor, for all children of a test; 0: no limit")
    parser.add_argument("--points", type=int, default=0, help="so many n of each kind; 0: each place")
    parser.add_argument("--seeds", type=int, default=4, help="of each kind of fault that has seeds")
    parser.add_argument("pattern", nargs="*")
    options = parser.parse_args()
    if options.points and not options.most:
        parser.error("--points spreads so many n up to --most, which must not be 0")
    if wrong_kinds := set(options.kind or ()) & set(EACH if options.points else COUNTED):
        parser.error(f"--kind {wrong_kinds.pop()} is for runs {'without' if options.points else 'with'} --points")
    build, bad, runs, faults = ROOT / "build", 0, 0, 0
    programs = [path for variant in VARIANTS for path in sorted((build / variant / "tests").rglob("*"))
                if path.is_file() and os.access(path, os.X_OK) and over_instance(path)
                and (not options.pattern or any(word in str(path.relative_to(build)) for word in options.pattern))]
    not_tried = {}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
        for program, count, happened, found, left in pool.map(lambda one: program_runs(one, options), programs):
            runs, faults, bad = runs + count, faults + happened, bad + len(found)
            name = program.relative_to(build)
            for complaint, pair in found.items():
                words = " ".join(f"{key}={value}" for key, value in settings(*pair).items())
                print(f"{name}: {complaint}\n    alone: {words} {program.relative_to(ROOT)}")
            if count:
                print(f"  {'BAD' if found else 'ok '}   {name}: {happened} faults in {count} runs", flush=True)
            for test, numbers in left.items():
                not_tried[f"{name} {test}"] = numbers
                print(f"        {numbers[0]} of {numbers[1]} places not tried: {test}", flush=True)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not_tried:
        print(f"{len(not_tried)} tests not tried at every place: {sum(few for few, _ in not_tried.values())} of "
              f"{sum(all_of for _, all_of in not_tried.values())} places")
    print(f"{len(programs)} programs, {faults} faults in {runs} runs, {bad} found, {usage.ru_utime + usage.ru_stime:.0f} s of the processor")
    return int(bad > 0 or not faults)


if __name__ == "__main__":
    sys.exit(main())
