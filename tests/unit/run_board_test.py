# SPDX-License-Identifier: BSD-2-Clause
"""`make run BOARD=board PROGRAM=program` says which boards and programs there are where one is named that is not there, and knows
each that `make firmware` and `make tls-firmware` build. (What it shows of them: tests/firmware/test_run_board.py.)"""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}


def make(*words):
    done = subprocess.run(["make", *words], cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def refused(*words):
    """What make says, as one sentence, before it does anything."""
    status, said = make("run", *words)
    assert status == 2 and said.count("\n") == 1 and "No rule" not in said
    return said


@pytest.fixture(scope="module")
def firmware():
    """The programs of each board, as the rules of make have them."""
    _, rules = make("-npq", "firmware", "tls-firmware")
    programs = {}
    for goals in re.findall(r"^(?:tls-)?firmware: (.*)$", rules, re.MULTILINE):
        for board, program in re.findall(r"\bbuild/boards/([\w-]+)/(\w+)\.elf", goals):
            programs.setdefault(board, set()).add(program)
    return programs


def test_the_programs_of_each_board_are_known(firmware):
    _, listing = make("-s", "list-board-programs")
    assert {words[0]: set(words[1:]) for words in map(str.split, listing.splitlines())} == firmware
    assert {"thermostat", "tls_echo"} < firmware["mps2-an385"]


def test_an_unknown_board_is_told_which_there_are(firmware):
    found = re.search(r"there is no board nope; there are: (.*)\.  Stop", refused("BOARD=nope"))
    assert set(found.group(1).split()) == set(firmware)


def test_an_unknown_program_is_told_which_the_board_has(firmware):
    found = re.search(r"there is no program nope for mps2-an385; there are: (.*)\.  Stop", refused("BOARD=mps2-an385", "PROGRAM=nope"))
    assert set(found.group(1).split()) == firmware["mps2-an385"]
    assert "there is no program thermostat for pc; there are: " in refused("BOARD=pc", "PROGRAM=thermostat")
