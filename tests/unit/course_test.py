# SPDX-License-Identifier: BSD-2-Clause
"""docs/course.md: each exercise has a solution that its check passes, and no check passes without one."""
import pathlib
import re
import subprocess
import sys

import pytest

from building import SIM, build

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
CHECK = ROOT / "tests/course/check.py"
EXERCISES = ("icmp", "rack", "cc", "timer")


def check(*words):
    return subprocess.run([sys.executable, CHECK, *words], cwd=ROOT, capture_output=True, text=True, timeout=240)


@pytest.mark.parametrize("name", EXERCISES)
def test_the_solution_passes(name):
    done = check(name, "--solution")
    assert done.returncode == 0 and done.stdout.endswith(f"{name}: passed\n"), done.stdout + done.stderr


def test_without_a_solution_nothing_passes(tmp_path):
    stopped = tmp_path / "stopped.c"
    stopped.write_text('#include "timer.h"\nuint64_t timer_now_us(struct timer *t, uint32_t c) { (void)t; return c * 1000000ull / 32768; }\n')
    program = tmp_path / "mine"   # whose congestion control is reno by another name
    program.write_text(f'#!/bin/sh\n[ "$2" = mine ] && shift 2 && set -- --cc reno "$@"\nexec {ROOT}/build/host/weir-sim "$@"\n')
    program.chmod(0o755)
    build(SIM)
    for words in (("icmp",), ("rack", "reordering-is-no-loss"), ("cc", program), ("timer", stopped)):
        done = check(*words)
        assert done.returncode == 1 and done.stdout.endswith(f"{words[0]}: not yet\n"), done.stdout + done.stderr


def test_the_course_names_every_exercise_and_only_files_that_exist():
    text = (ROOT / "docs/course.md").read_text()
    assert set(re.findall(r"tests/course/check\.py (\w+)", text)) == set(EXERCISES)
    assert len(re.findall(r"^## \d+\. ", text, re.MULTILINE)) == 10
    for path in re.findall(r"`((?:src|include|tests|sim|ports|docs|examples|drivers|api|config)/[^`*… ]*)`", text):
        assert (ROOT / path).exists(), path
