# SPDX-License-Identifier: BSD-2-Clause
"""tests/run.py refuses what it does not know, instead of running every test or none; runs side by side what may be, and
ends all of it."""
import importlib.util
import itertools
import json
import pathlib
import re
import signal
import subprocess
import sys
import threading

import pytest

import building
from patience import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ROOT / "tests/run.py"


def run(*words):
    return subprocess.run([sys.executable, str(RUN), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200)


def test_a_pattern_that_names_nothing_is_an_error_that_shows_what_there_is():
    done = run("tcp/rackk")
    assert done.returncode == 2 and done.stdout == ""
    assert "nothing is called tcp/rackk" in done.stderr
    assert "tcp/rack" in done.stderr.split("near it:")[1].split("\n")[0].split()
    assert {"host", "asan", "interop", "fuzz"} <= set(done.stderr.split("kinds:")[1].split("\n")[0].split())
    assert {"tcp", "wire", "scripts"} <= set(done.stderr.split("folders:")[1].split("\n")[0].split())


def test_one_wrong_pattern_among_right_ones_is_an_error():
    assert run("tcp/rack", "tcp/rackk").returncode == 2


def test_an_option_is_an_error():
    done = run("-k", "tcp/rack")
    assert done.returncode == 2 and "there is no option -k" in done.stderr


def test_help_is_no_error():
    done = run("--help")
    assert done.returncode == 0 and "usage: tests/run.py" in done.stdout


@pytest.fixture(scope="module")
def runner():
    """tests/run.py as a module."""
    spec = importlib.util.spec_from_file_location("tests_run", RUN)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_test_of_one_part_is_built_of_what_it_includes(runner):
    """And not of a whole library; one over an instance is."""
    found = {str(path.relative_to(ROOT)) for path in runner.included(ROOT / "tests/unit/base/intervals_test.c")}
    assert "src/base/intervals.c" in found and len(found) < 10 and not any(name.startswith("src/tcp") for name in found)
    programs = {program.name: program for program in runner.unit_programs() if program.name in ("host/base/intervals", "host/tcp/input")}
    with building.alone():
        runner.build_quickly(list(programs.values()))
    quick = programs["host/base/intervals"]
    assert quick.target == "build/host/quick/base/intervals" and quick.command == [quick.target]
    assert {result for _, result in quick.run().results} == {"passed"}
    assert programs["host/tcp/input"].target == "build/host/tests/tcp/input"


def test_a_part_of_the_tests_builds_what_it_runs(runner):
    _, interop = runner.scripts()

    def goals(*names, partial=True):
        return runner.script_goals({"interop": [program for program in interop if program.name in names], "fuzz": []}, partial)
    assert goals("firmware/test_freertos") == ["build/host/instruction_count.so"]
    assert {"apps", "firmware", "tls-firmware"} <= set(goals("firmware/test_xinu"))   # speaks of programs that it does not build
    assert goals("interop/test_mdns") == ["build/host/liball.a", "apps"]
    assert {"tls-programs", "apps"} <= set(goals("interop/test_tls"))
    everything = goals(*(program.name for program in interop), partial=False)
    assert set(runner.PROGRAMS) | {"firmware", "tls-firmware"} == set(everything)
    assert set(goals(*(program.name for program in interop))) <= set(everything) | {"build/host/instruction_count.so"}


def test_building_says_how_far_it_is(runner, monkeypatch, capsys):
    monkeypatch.setattr(runner, "MAKE", ["sh", "-c", "for n in 1 2 3; do echo '  CC    some.o'; done; echo 'x.c:1: error: no'; echo \"make: *** [x: $2] Error 1\"", "-"])
    monkeypatch.setattr(runner, "PROGRESS_SECONDS", 0)
    failed, complaints = runner.make("build-pretended.log", ["a-target"])
    assert "  3 files compiled, 0 programs linked" in capsys.readouterr().out
    assert failed == {"a-target"} and "error: no" in complaints


def test_what_is_made_before_anything_is_compiled_is_named(runner, monkeypatch, capsys):
    monkeypatch.setattr(runner, "MAKE", ["sh", "-c", "echo x; echo '  VENV  build/venv'; echo x; echo '  CC    some.o'", "-"])
    for seconds in (0, 100):   # what takes long is named at once
        monkeypatch.setattr(runner, "PROGRESS_SECONDS", seconds)
        runner.make("build-pretended.log", [])
        said = capsys.readouterr().out
        assert "  Python packages into build/venv …\n" in said and "0 files compiled" not in said
        assert seconds or re.search("^  make looks at what there is, .*\n  Python packages into build/venv, .* s\n  1 files compiled, 0 programs", said, re.MULTILINE | re.DOTALL)


class Pretended:
    """A program that ends when as many as `wanted` run at once, and notes how many did."""
    now, most, lock, changed = 0, 0, threading.Lock(), threading.Event()

    def __init__(self, name, wanted, alone=False):
        self.name, self.wanted, self.alone, self.beside = name, wanted, alone, 0

    def run(self):
        with Pretended.lock:
            Pretended.now += 1
            Pretended.most = max(Pretended.most, Pretended.now)
            if Pretended.now == self.wanted:
                Pretended.changed.set()
        assert self.alone or Pretended.changed.wait(60)
        self.beside = Pretended.now - 1
        with Pretended.lock:
            Pretended.now -= 1
        return self


def test_so_many_run_side_by_side_and_who_wants_to_be_alone_is(runner):
    first, last = Pretended("first", 3, alone=True), Pretended("last", 3, alone=True)
    programs = [first, *(Pretended(str(number), 3) for number in range(6)), last]
    ended = []
    runner.run_all(programs, 3, ended.append)
    assert Pretended.most == 3 and len(ended) == len(programs)
    assert [(program.name, program.beside) for program in ended[-2:]] == [("first", 0), ("last", 0)]


def test_a_file_says_that_it_is_alone_and_why(runner):
    for text, alone in (("# alone: it measures time\n", True), ("# alone:\n", False), ('"""# alone: no"""\n', False)):
        assert runner.script_facts(text + "def test_it():\n    pass\n") == ({"test_it"}, alone)
    _, interop = runner.scripts()
    alone = {program.name for program in interop if program.alone}
    assert "interop/test_attack" in alone and len(alone) < len(interop)


def test_the_longest_are_programs_that_exist(runner):
    programs = [*itertools.chain(*runner.scripts()), *runner.replays()]
    assert set(runner.LONG) <= {program.name for program in programs}
    first = runner.longest_first(programs)
    assert [runner.LONG[program.name] for program in first[:2]] == sorted(runner.LONG.values())[:-3:-1]
    assert len(first) == len(programs)


def test_a_signal_ends_what_runs_and_starts_nothing_more():
    """Each of what runs may put its things in order; what waits for its turn does not begin."""
    code = ("import importlib.util, signal, sys\n"
            f"spec = importlib.util.spec_from_file_location('tests_run', {str(RUN)!r})\n"
            "run = importlib.util.module_from_spec(spec)\nspec.loader.exec_module(run)\n"
            "signal.signal(signal.SIGINT, run.stop)\n"
            "undo = 'trap \"echo undone >&3; exit\" TERM; echo begun >&3; while :; do sleep 0.1; done'\n"
            "words = ['sh', '-c', 'exec 3>/proc/%d/fd/1; ' % run.os.getpid() + undo]\n"
            "run.run_all([run.Program(str(n), words, 600, lambda p, s: []) for n in range(9)], 3, print)\n")
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        said = [process.stdout.readline().strip() for _ in range(3)]
        process.send_signal(signal.SIGINT)
        said += process.stdout.read().split()
        assert process.wait(60) == 130
    assert said == ["begun"] * 3 + ["undone"] * 3


def test_a_network_of_its_own():
    """A loopback that is up, and nothing else."""
    def told(*before):
        return subprocess.run([*before, "sh", "-c", "readlink /proc/self/ns/net; ip -j link"], cwd=ROOT / "tests",
                              capture_output=True, text=True, check=True).stdout.split("\n", 1)
    outside, (name, links) = told(), told(sys.executable, "-m", "netns")
    assert name != outside[0]
    assert [link["ifname"] for link in json.loads(links) if "UP" in link["flags"]] == ["lo"]


def test_a_figure_is_measured_again_but_not_for_ever():
    for needed, right in ((1, True), (3, True), (4, False)):
        taken = []

        @measured
        def test(figure):
            taken.append(figure)
            assert len(taken) == needed
        if right:
            test(7)
        else:
            with pytest.raises(AssertionError):
                test(7)
        assert taken == [7] * min(needed, 3)
