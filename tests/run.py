#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Builds and runs every test, shows progress, prints each failure with the command that repeats it alone, and ends with
one line: N passed, N failed. Exit status 1 when any failed or none ran.

Units (cmocka programs, each variant; those over an instance with a fault, too: tests/faults.py), conversation scripts
(tests/scripts, a folder a topic; host and asan) and unit scripts (tests/unit/**/*_test.py) run two at a time; then the interop and firmware tests (tests/interop, tests/firmware), each
file in a network of its own, and the fuzz corpora, four at a time, as most of them wait. At the end, with nothing
beside it, each file that has a line `# alone: reason`, because it measures time.
usage: tests/run.py [PATTERN …]    only programs and tests whose names contain a PATTERN (or match it as a glob)
A PATTERN that matches nothing, and any option, is an error: exit status 2."""
import concurrent.futures
import difflib
import fnmatch
import itertools
import os
import pathlib
import queue
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree

import faults

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = ROOT / "build/venv/bin/python"
UNIT_SECONDS = int(os.environ.get("UNIT_SECONDS", "180"))         # a unit program; twice that with sanitizers or emulation
SCRIPT_SECONDS = int(os.environ.get("SCRIPT_SECONDS", "1800"))   # a file of tests
TEST_SECONDS = int(os.environ.get("TEST_SECONDS", "240"))        # one test in it: it fails, and says where it was
PROGRESS_SECONDS = 10   # between two lines that say how far building is
STEPS = {"VENV": "Python packages into", "FETCH": "fetching", "BUILD": "building"}   # of make that take long and compile nothing of ours
QUICK_SOURCES = 60      # a test that needs more than so many is built with the whole library
UNIT_JOBS = 2
SCRIPT_JOBS = 4     # these wait more than they work
GIGABYTES = 7       # what build/ takes when every test has been built and run
MAKE = ["make", "--no-print-directory"]
for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):   # our makes are not parts of the one that started us
    os.environ.pop(variable, None)
DRIVER_MODES = ("scribble", "full", "sliced", "hold")   # of tests/unit/fixture.h: tests on an instance run again in each, with sanitizers
SLOW_VARIANTS = {"asan": 2, "tsan": 2, "mips": 2, "tiny": 2, "small": 2}


running = set()     # processes, each the leader of a group of its own
stopping = False


def stop(*_):
    """On a signal: ends what runs, so that scripts undo their namespaces, and starts nothing more."""
    global stopping
    stopping = True
    for process in list(running):
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    sys.exit(130)


class Program:
    """One process: a cmocka program, or a pytest file. `results` is a list of (test name, "passed" | "failed" | "skipped")."""

    def __init__(self, name, command, limit, parse, target=None, environment=None):
        self.name, self.command, self.limit, self.parse, self.target = name, command, limit, parse, target
        self.environment = environment or {}
        self.results, self.output, self.seconds = [], "", 0.0
        self.report = None      # the file that a pytest file writes its results to
        self.alone = False      # nothing may run beside it
        self.profiled = False   # the file has tests for some profiles only: none in a variant is no failure
        self.tests = set()      # the names of the tests in it, as far as its source tells before it runs

    def repeat(self):
        """The command, as a person would type it, that runs this program alone."""
        settings = [f"{k}={shlex.quote(v)}" for k, v in self.environment.items()]
        return " ".join(settings + [shlex.quote(str(w).replace(str(ROOT) + "/", "")) for w in self.command])

    def run(self):
        start = time.monotonic()
        if stopping:
            return self
        if self.report:   # of another time
            self.report.parent.mkdir(parents=True, exist_ok=True)
            self.report.unlink(missing_ok=True)
        process = subprocess.Popen(self.command, cwd=ROOT, env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        running.add(process)
        if stopping:   # since it was looked at above
            os.killpg(process.pid, signal.SIGTERM)
        try:
            self.output, _ = process.communicate(timeout=self.limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGTERM)   # lets a script undo its namespaces
            try:
                self.output, _ = process.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                self.output, _ = process.communicate()
            self.output += f"\n[stopped after {self.limit} s]\n"
            process.returncode = -signal.SIGALRM
        running.discard(process)
        self.seconds = time.monotonic() - start
        self.results = self.parse(self, process.returncode)
        return self


def parse_cmocka(program, status):
    """A test that began and never ended, a bad exit status with no failed test, or no test at all, is a failure."""
    results, begun = [], None
    for line in program.output.split("\n"):
        match = re.search(r"\[ *(RUN|OK|FAILED|SKIPPED) *\] (\S+)", line)
        if not match:
            continue
        word, name = match.group(1), match.group(2)
        if word == "RUN":
            begun = name
        elif name == begun:
            results.append((name, {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}[word]))
            begun = None
    if begun:
        results.append((begun, "failed"))
    if status != 0 and not any(r == "failed" for _, r in results):
        results.append((f"exit status {status}", "failed"))
    return results or ([] if program.profiled else [("ran no test", "failed")])


def parse_fault(program, status):
    """Of a program with a fault that no test planned: only what tests/faults.py calls wrong is a failure."""
    bad = status == -signal.SIGALRM or faults.wrong(program.output, status)
    return [("fault", "failed" if bad else "passed")]


def parse_pytest(program, status):
    try:
        cases = list(xml.etree.ElementTree.parse(program.report).iter("testcase"))
    except (OSError, xml.etree.ElementTree.ParseError):
        return [(f"exit status {status}, no report", "failed")]
    results = []
    for case in cases:
        kinds = {child.tag for child in case}
        results.append((case.get("name"), "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"))
    if status != 0 and not any(r == "failed" for _, r in results):
        results.append((f"exit status {status}", "failed"))
    return results or [("ran no test", "failed")]


def parse_conversations(program, status):
    results = [(pathlib.Path(m.group(2)).stem, "passed" if m.group(1) == " ok " else "failed")
               for m in re.finditer(r"^( ok |FAIL) +(\S+\.pkt)$", program.output, re.MULTILINE)]
    if status != 0 and not any(r == "failed" for _, r in results):
        results.append((f"exit status {status}", "failed"))
    return results or [("ran no test", "failed")]


def conversations():
    """Each folder of tests/scripts in each variant that has a player for them, with each version of IP that scripts in it are for."""
    for folder in sorted({path.parent for path in (ROOT / "tests/scripts").rglob("*.pkt")}):
        texts = {path.stem: path.read_text() for path in folder.glob("*.pkt")}
        alone = {name: re.search(r"^--ip_version=(\S+)", text, re.MULTILINE) for name, text in texts.items()}
        for variant, version in itertools.product(("host", "asan"), ("ipv4", "ipv4-mapped-ipv6", "ipv6")):
            target = f"build/{variant}/weir-script"
            command = [sys.executable, "sim/script/run.py", "--strict", f"--ip_version={version}", f"--program={target}",
                       str(folder.relative_to(ROOT))]
            name = f"{variant}/scripts/{folder.name}/{version}"
            program = Program(name, command, UNIT_SECONDS, parse_conversations, target, {"PYTHONDONTWRITEBYTECODE": "1"})
            program.tests = {name for name, only in alone.items() if not only or only.group(1) == version}
            if program.tests:
                yield program


def unit_programs():
    listing = subprocess.run([*MAKE, "-s", "list-tests"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    for target in listing:
        variant, name = re.fullmatch(r"build/(\w+)/tests/(.+)", target).groups()
        emulator = ["qemu-mips"] if variant == "mips" else []
        limit = UNIT_SECONDS * SLOW_VARIANTS.get(variant, 1)
        text = (ROOT / f"tests/unit/{name}_test.c").read_text()
        program = Program(f"{variant}/{name}", emulator + [target], limit, parse_cmocka, target)
        program.profiled = "// profiles:" in text
        program.tests = set(re.findall(r"^static void (\w+)\(void \*\*", text, re.MULTILINE))
        yield program
        if variant == "asan" and re.search(r'#include ".*(fixture|pair|world|talk|packets|frames)', text):
            for mode in DRIVER_MODES:
                again = Program(f"asan-{mode}/{name}", [target], limit, parse_cmocka, target, {"WEIR_TEST_DRIVER": mode})
                again.tests = program.tests
                yield again
            fault = faults.settings(*faults.sample(name))
            yield Program(f"asan-fault/{name}", [target], limit, parse_fault, target, fault)


def script_facts(text):
    """Of a pytest file: the names of its tests, and whether it says that nothing may run beside it."""
    alone = re.search(r"^# alone: \S", text, re.MULTILINE)
    return set(re.findall(r"^ *def (test_\w+)", text, re.MULTILINE)), bool(alone)


def script(path, limit, namespaces, environment=None, suffix=""):
    name = str(path.relative_to(ROOT / "tests").with_suffix("")) + suffix
    report = ROOT / "build/tests" / (name.replace("/", "-") + ".xml")
    command = [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ROOT / "tests", f"--timeout={TEST_SECONDS}", f"--junitxml={report}", path]
    if namespaces:
        command = [PYTHON, "-m", "netns"] + command
    program = Program(name, [str(w) for w in command], limit, parse_pytest, environment={"PYTHONPATH": "tests", "PYTHONDONTWRITEBYTECODE": "1", **(environment or {})})
    program.report = report
    program.tests, program.alone = script_facts(path.read_text())
    return program


def scripts():
    units = [script(p, SCRIPT_SECONDS, False) for p in sorted((ROOT / "tests/unit").rglob("*_test.py"))]
    interop = [script(p, SCRIPT_SECONDS, True) for folder in ("interop", "firmware") for p in sorted((ROOT / "tests" / folder).rglob("test_*.py"))]
    return units, interop


FUZZED = {"hostile": 30, "hostile_small": 15, "hostile_msan": 15, "hostile6": 15}   # seconds


def replays():
    """Each fuzz target over its committed corpus, once; and a minute of mutations, always the same ones, for those of the hostile middlebox."""
    if not (ROOT / "fuzz/run.py").exists():
        return []
    listing = subprocess.run([sys.executable, ROOT / "fuzz/run.py", "--list"], capture_output=True, text=True, check=True).stdout.split()
    command = [sys.executable, str(ROOT / "fuzz/run.py")]

    def program(name, kind, *words):
        return Program(name, command + [*words, name.split("/")[1]], SCRIPT_SECONDS, lambda p, status: [(kind, "failed" if status else "passed")])
    return [program(f"fuzz/{name}", "corpus", "--replay") for name in listing] + [
        program(f"fuzz/{name}/mutations", "mutations", f"--seconds={seconds}", "--seed=1") for name, seconds in FUZZED.items()]


def matches(patterns, text):
    return not patterns or any(pattern in text or fnmatch.fnmatch(text, pattern) for pattern in patterns)


def holds(program, pattern):
    """Whether one of the tests inside has such a name; of test_bulk[1500] the source says only test_bulk."""
    return any(matches([pattern.split("[")[0]], test) for test in program.tests)


def choose(programs, patterns):
    """The programs that a pattern names, or, where it names none, those with a test of that name. Each must name something."""
    chosen, within = [], {}
    for pattern in patterns:
        if pattern.startswith("-"):
            refuse(f"there is no option {pattern}", programs)
        named = [p for p in programs if matches([pattern], p.name)]
        inside = [] if named else [p for p in programs if holds(p, pattern)]
        if not named and not inside:
            refuse(f"nothing is called {pattern}", programs, pattern)
        chosen += named + inside
        for program in inside:
            within.setdefault(program, []).append(pattern)
    for program, words in within.items():
        if program.report and not matches(patterns, program.name) and all(re.fullmatch(r"(?!(and|or|not)$)\w+", word) for word in words):
            program.command += ["-k", " or ".join(words)]   # pytest runs only those tests; other programs are quick, and run whole
    return set(chosen or programs)


def refuse(why, programs, pattern=""):
    """Says what there is instead, nearest names first, and ends with exit status 2."""
    print(f"tests/run.py: {why}. A pattern is a part of a program's or a test's name, or a glob over all of it.", file=sys.stderr)
    names = {p.name.partition("/")[2] or p.name for p in programs} | {test for p in programs for test in p.tests}
    near = difflib.get_close_matches(pattern, sorted(names), n=5, cutoff=0.5) if pattern else []
    if near:
        print(f"    near it:   {'  '.join(near)}", file=sys.stderr)
    for title, part in (("kinds", 0), ("folders", 1)):
        found = sorted({p.name.split("/")[part] for p in programs if p.name.count("/") > part})
        print(f"    {title + ':':<10} {'  '.join(found)}", file=sys.stderr)
    sys.exit(2)


def terminating(process):
    """The lines it prints; who is interrupted meanwhile does not wait for its end."""
    try:
        yield from process.stdout
    except BaseException:
        process.terminate()
        raise


def make(log_name, targets):
    """Builds, and goes on past what does not build; says how far it is. Returns the targets that failed, and the log."""
    log = ROOT / "build/tests" / log_name
    log.parent.mkdir(parents=True, exist_ok=True)
    start = said = time.monotonic()
    made, step = {"CC": 0, "LINK": 0}, ""
    with open(log, "w") as out, subprocess.Popen([*MAKE, "--keep-going", *targets], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                                 stderr=subprocess.STDOUT, text=True, errors="replace") as process:
        for line in terminating(process):
            out.write(line)
            if (word := line.split()[:1]) and word[0] in made:
                made[word[0]] += 1
            elif word and word[0] in STEPS:   # said at once: no line comes of it before it is done
                step = f"  {STEPS[word[0]]} {line.split(maxsplit=1)[1].strip()}"
                print(f"{step} …", flush=True)
            if time.monotonic() - said > PROGRESS_SECONDS:
                said = time.monotonic()
                counts = f"  {made['CC']} files compiled, {made['LINK']} programs linked"
                print(f"{counts if any(made.values()) else step or '  make looks at what there is'}, {said - start:.0f} s", flush=True)
    text = log.read_text()
    failed = set(re.findall(r"Target '(\S+)' not remade because of errors", text)) | set(re.findall(r"\*\*\* \[[^\]]*: (\S+)\]", text))
    return failed, "\n".join(line for line in text.split("\n") if re.search(r"error: |undefined reference|No rule|No space left|\*\*\*", line))


def included(source):
    """The sources that a unit test may need, as its headers tell: beside each header those of its name."""
    seen, waiting = set(), [source]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        if path.suffix == ".h":
            waiting += [*path.parent.glob(f"{path.stem}.c"), *path.parent.glob(f"{path.stem}_*.c")]
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(errors="replace"), re.MULTILINE):
            found = (folder / name for folder in (path.parent, *(ROOT / name for name in ("include", "src", "api", "apps", "tests/unit")), ROOT))
            waiting += [path.resolve() for path in itertools.islice((path for path in found if path.is_file()), 1)]
    return {path for path in seen if path.suffix == ".c" and not path.name.endswith("_test.c")}


def build_quickly(programs):
    """Of the tests of one part, those that need no whole library: builds them of what they include, and has them run so.
    Where that does not link the headers did not tell all, and the test is built with everything as usual."""
    sources, variants = {}, set()
    for program in programs:
        variant, name = re.fullmatch(r"build/(\w+)/tests/(.+)", program.target).groups()
        test = ROOT / f"tests/unit/{name}_test.c"
        if re.search(r'#include "(fixture|pair|world|weir/instance)\.h"', test.read_text()):
            continue   # an instance is everything
        if len(found := included(test)) <= QUICK_SOURCES:
            sources[program.target] = (variant, name, found)
            variants.add(variant)
    if not sources:
        return
    make("build-quick.log", [f"build/{variant}/objects" for variant in sorted(variants)])
    there = {variant: set((ROOT / f"build/{variant}/objects").read_text().split()) for variant in variants}
    rules, quick = [], {}
    for target, (variant, name, found) in sources.items():
        quick[target] = f"build/{variant}/quick/{name}"
        objects = (f"build/{variant}/obj/{path.relative_to(ROOT).with_suffix('.o')}" for path in sorted(found))
        rules.append(f"{quick[target]}: {' '.join(name for name in objects if name in there[variant])}\n")
    listing = ROOT / f"build/tests/quick-{os.getpid()}.mk"
    listing.write_text("".join(rules))
    failed, _ = make("build-quick.log", [f"QUICK={listing}", *sorted(quick.values())])
    listing.unlink()
    for program in programs:
        if (made := quick.get(program.target)) and made not in failed and (ROOT / made).exists():
            program.command = [made if word == program.target else word for word in program.command]
            program.target = made


# Seconds that the longest take, roughly: what runs side by side ends soonest when they begin first.
LONG = {
    "interop/test_tutorials": 120, "interop/test_front_door": 110, "interop/test_apps": 100,
    "unit/packaging/packaging_test": 150, "unit/config_test": 60, "firmware/test_run_board": 70,
    "firmware/test_cable": 55, "unit/sim/golden_test": 55, "interop/test_tcp_bulk": 50, "firmware/test_preempt": 50,
    "interop/test_dhcp6": 50, "interop/test_rtstream": 40, "interop/test_run": 35, "firmware/test_xinu": 30,
    "firmware/test_processes": 30, "fuzz/hostile/mutations": 30, "interop/test_tcp_life": 25,
    "firmware/test_player": 25, "fuzz/fragments": 25, "fuzz/paths": 25, "interop/test_mdns": 20,
    "firmware/test_micro": 20, "interop/test_lab": 20, "interop/test_apps_page": 20, "unit/packaging/recipes_test": 15,
    "unit/packaging/configuration_test": 12, "unit/packaging/metadata_test": 12, "unit/course_test": 8}


def longest_first(programs):
    return sorted(programs, key=lambda program: -LONG.get(program.name, 0))


def run_all(programs, jobs, done):
    """Runs the programs, so many at a time, then each that wants to be alone; `done` is called here with each that has
    ended. A signal is looked at between two waits: one that comes just before a wait does not end it."""
    ended = queue.SimpleQueue()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for group in ([program for program in programs if not program.alone], *([program] for program in programs if program.alone)):
            for program in group:
                pool.submit(program.run).add_done_callback(ended.put)
            left = len(group)
            while left:
                try:
                    done(ended.get(timeout=0.5).result())
                    left -= 1
                except queue.Empty:
                    pass


class Tally:
    def __init__(self, patterns):
        self.patterns, self.counts, self.failures = patterns, {"passed": 0, "failed": 0, "skipped": 0}, []

    def add(self, program):
        # A failure that is no test's (it did not build, it crashed) has a sentence for a name, and always counts.
        whole = matches(self.patterns, program.name)
        results = [(n, r) for n, r in program.results if whole or matches(self.patterns, n) or " " in n.split("[")[0]]
        for _, result in results:
            self.counts[result] += 1
        failed = [name for name, result in results if result == "failed"]
        skipped = sum(result == "skipped" for _, result in results)
        passed = len(results) - len(failed) - skipped
        print(f"{'FAIL' if failed else ' ok '}  {program.name:<44} {passed:4} passed"
              + (f", {len(failed)} failed" if failed else "") + (f", {skipped} skipped" if skipped else "") + f"  {program.seconds:.1f} s", flush=True)
        if failed:
            self.failures.append((program, failed))

    def close(self):
        for program, failed in self.failures:
            print(f"\n--- {program.name}: {', '.join(failed)}")
            print("\n".join(line for line in program.output.split("\n")[-80:] if "[       OK ]" not in line and "[ RUN      ]" not in line))
            print(f"    alone: {program.repeat()}")
        if self.counts["skipped"]:
            print(f"\n{self.counts['skipped']} skipped")
        print(f"{self.counts['passed']} passed, {self.counts['failed']} failed", flush=True)
        return 1 if self.counts["failed"] or not self.counts["passed"] else 0


# What interop tests need of programs, and what the text of those says that do.
PROGRAMS = {"build/host/liball.a": "", "apps": "", "build/host/weir-realtime": "weir-realtime", "lab-programs": r"weir-link|/lab\b|\"lab\"|machine|realtime",
            "tls-programs": "tls", "examples-tls": "tls", "build/host/tls-bearssl": "tls-bearssl", "build/host/examples/thermostat/thermostat": "thermostat",
            "build/v6/weir-host": "build/v6", "build/asan/weir-host": "asan", "micro-asan": "micro"}


def script_text(program):
    """A file of tests, and those of our modules that it imports."""
    text = pathlib.Path(program.command[-1]).read_text()
    modules = (ROOT / "tests" / folder / f"{name}.py" for name in re.findall(r"^(?:from|import) (\w+)", text, re.MULTILINE)
               for folder in ("", "interop", "firmware"))
    return text + "".join(path.read_text() for path in modules if path.is_file() and path.name != "building.py")


def builds_itself(program):
    """Whether what a firmware test runs is built as it asks for it: by boards.elf, and by building."""
    text = pathlib.Path(program.command[-1]).read_text()
    return program.name.startswith("firmware/") and "Machine(" in text and (
        "from building import" in text or not re.search(r"\bbuild/(?!boards/[^\"']*\.log)|tools/machines|\brun_board\b", script_text(program)))


def script_goals(chosen, partial):
    """Goals for the interop, firmware and fuzz programs; of a part of all tests, what that part runs."""
    goals = []
    waiting = [program for program in chosen["interop"] if not (partial and builds_itself(program))]
    if waiting:
        said = "\n".join(script_text(program) for program in waiting)
        goals += [goal for goal, words in PROGRAMS.items() if not partial or re.search(words, said)]
    if any(program.name.startswith("firmware/") for program in waiting):
        goals += ["firmware", "tls-firmware"]
    elif any(program.name.startswith("firmware/") for program in chosen["interop"]):
        goals += ["build/host/instruction_count.so"]   # of the models of machines
    return goals + sorted({f"build/fuzz/{program.name.split('/')[1]}" for program in chosen["fuzz"]})


def build_for_scripts(chosen, partial):
    """All that the interop, firmware and fuzz programs need, so that none builds beside another. Of a part of the tests a
    firmware test builds its own program, while others wait (tests/building.py)."""
    goals = script_goals(chosen, partial)
    if partial:
        os.environ["WEIR_BUILD_BOARDS"] = "1"
        for program in chosen["interop"]:
            program.command = [f"--timeout={3 * TEST_SECONDS}" if str(word).startswith("--timeout=") else word for word in program.command]
    if not goals:
        return
    kinds = sorted({program.name.split("/")[0] for program in chosen["interop"] + chosen["fuzz"]})
    print(f"building for {', '.join(kinds)} …", flush=True)
    failed, complaints = make("build-host.log", goals)
    print(complaints, end="\n" if complaints else "", flush=True)
    if not failed and not complaints:
        os.environ["WEIR_FUZZ_BUILT"] = "1"   # fuzz/run.py need not look again, each time


def warn_of_a_full_disk():
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    taken = int(subprocess.run(["du", "-sk", build], stdout=subprocess.PIPE, text=True).stdout.split()[0]) / 1e6
    free = shutil.disk_usage(build).free / 1e9
    if taken + free < GIGABYTES:
        print(f"the disk has {free:.1f} GB left, and build/ grows by about {GIGABYTES - taken:.1f}: builds may fail for want of room", flush=True)


def main():
    patterns = [word for word in sys.argv[1:] if word]
    if {"-h", "--help"} & set(patterns):
        print(__doc__)
        return 0
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    units = list(unit_programs()) + list(conversations())
    unit_scripts, interop = scripts()
    fuzz = replays()
    wanted = choose(units + unit_scripts + interop + fuzz, patterns)
    programs = {"units": units, "unit_scripts": unit_scripts, "interop": interop, "fuzz": fuzz}
    chosen = {kind: [p for p in members if p in wanted] for kind, members in programs.items()}
    if not patterns:
        warn_of_a_full_disk()
    tally = Tally(patterns)
    broken, complaints = set(), ""
    if chosen["unit_scripts"] or chosen["interop"]:
        make("build-venv.log", ["build/venv/ready"])
        if not (ROOT / "build/venv/ready").exists():
            print("\n".join((ROOT / "build/tests/build-venv.log").read_text().splitlines()[-20:]))
            sys.exit("the tests' Python packages could not be installed (build/tests/build-venv.log)")
    if chosen["units"]:
        print(f"building {len(chosen['units'])} unit programs …", flush=True)
        if patterns:
            build_quickly([program for program in chosen["units"] if "/tests/" in program.target])
        whole = sorted({p.target for p in chosen["units"] if "/quick/" not in p.target})
        broken, complaints = make("build.log", whole) if whole else (set(), "")
    ready = []
    for program in chosen["units"] + chosen["unit_scripts"]:
        if program.target in broken:
            program.results, program.output, program.command = [("did not build", "failed")], complaints, ["make", program.target]
            complaints = "(as above)"
            tally.add(program)
        else:
            ready.append(program)
    run_all(longest_first(ready), UNIT_JOBS, tally.add)
    build_for_scripts(chosen, bool(patterns))
    run_all(longest_first(chosen["interop"] + chosen["fuzz"]), SCRIPT_JOBS, tally.add)
    return tally.close()


if __name__ == "__main__":
    sys.exit(main())
