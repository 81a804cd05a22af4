# SPDX-License-Identifier: BSD-2-Clause
"""What `make faults` chooses of the numbers that there are, that it tells a program without end from a slow one, and which
child of a program was at fault."""
import argparse
import itertools
import sys

import pytest

import faults


@pytest.mark.parametrize("begin, most, wanted", list(itertools.product((0, 1), (1, 2, 5, 300), (0, 1, 2, 7, 20, 299, 300))))
def test_points_are_as_many_as_asked_for_and_lie_within(begin, most, wanted):
    chosen = list(faults.points(begin, most, wanted))
    assert chosen == sorted(set(chosen)) and chosen[0] == begin and chosen[-1] <= begin + most - 1
    if wanted != 1:
        assert chosen[-1] == begin + most - 1
    assert len(chosen) == (min(wanted, most) if wanted else most)


def program(folder, text):
    path = folder / "program"
    path.write_text(f"#!{sys.executable}\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_program_that_goes_round_for_ever_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(faults, "SECONDS", 1)
    assert faults.run(program(tmp_path, "while True:\n    pass"), "alloc", 1)[1] == "no end within 1 s of the processor"


def test_a_program_that_waits_for_ever_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(faults, "ASLEEP_SECONDS", 1)
    assert faults.run(program(tmp_path, "import time\ntime.sleep(60)"), "alloc", 1) == (True, "no end within 1 s")


def test_a_program_that_has_less_of_the_processor_than_others_is_not(tmp_path, monkeypatch):
    monkeypatch.setattr(faults, "SECONDS", 2)
    assert faults.run(program(tmp_path, "import time\ntime.sleep(3)"), "alloc", 1) == (None, None)


def test_what_a_child_did_is_told_with_its_place(tmp_path):
    said = ("a fixture opened", "a fault happened: 1 first", "a fault happened: 2 first", "x.c:1: runtime error: null pointer",
            "faults: ended with status 1", "places: 5 of which 3 not tried in first", "a fault happened: 6 second",
            "tests/unit/x_test.c:9: runtime error: null pointer", "faults: ended with status 1", "a fault happened: 7 second",
            "faults: ended by signal 11", "places: 2 of which 0 not tried in second")
    children = faults.run_each(program(tmp_path, f"print({chr(10).join(said)!r})"), "each-alloc", options())
    assert (children.count, children.places, children.left) == (4, 7, {"first": (3, 5)})
    assert children.found == {"x.c:1: runtime error: null pointer": 2, "faults: ended by signal 11": 7}


def test_a_program_that_fails_without_a_fault_is_told(tmp_path):
    children = faults.run_each(program(tmp_path, "print('a fixture opened')\nraise SystemExit(3)"), "each-alloc", options())
    assert children.found == {"without a fault its exit status is 3": 0}


def options():
    return argparse.Namespace(most=300, seconds=20)
