# SPDX-License-Identifier: BSD-2-Clause
"""make reads which headers an object had of those folders alone that its goals are of (headers_of, tools/build.mk): so what a goal needs lies in its
own folder, and who names anything else has all of them read."""
import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
HOST = ["liball.a", "weir-host", "weir-run", "weir-sim", "weir-script", "weir-link", "weir-realtime", "weir-realtime-both", "weir-machine-peer", "weir-host-tls",
        "micro/weir-server", "examples/congestion_control", "examples/thermostat/thermostat", "tests/tcp/loss", "tests/tls/tls", "quick/base/wheel"]


def make(*words, text=None):
    return subprocess.run(["make", "--no-print-directory", *words], cwd=ROOT, env=ENVIRONMENT, input=text, capture_output=True, text=True).stdout


def boards():
    return [line.split() for line in make("-s", "list-board-programs").splitlines()]


def compiled(*goals):
    """The objects that make would compile for the goals if there were none."""
    said = make("-n", "-B", "--keep-going", *goals).replace("\\\n", " ")
    return set(re.findall(r"^(?!echo).* -MMD -MP -c \S+ -o (\S+)", said, re.M))


@pytest.mark.parametrize("folder, names", [("host", HOST), ("asan", ["weir-host", "weir-sim", "micro/weir-client", "tests/tcp/loss"]), ("small", ["liball.a"])])
def test_a_program_needs_objects_of_its_own_variant(folder, names):
    found = compiled(*(f"build/{folder}/{name}" for name in names))
    assert len(found) > 50 and not {path for path in found if not path.startswith(f"build/{folder}/")}


def test_a_boards_program_needs_objects_of_its_own_board():
    for board, *programs in boards():
        found = compiled(*(f"build/boards/{board}/{program}.elf" for program in programs))
        assert len(found) > 20 and not {path for path in found if not path.startswith(f"build/boards/{board}/")}, board


READ = """
include Makefile
asked:
\t@echo $(foreach folder,$(VARIANTS) m3 $(BOARDS:%=boards/%),$(if $(call headers_of,$(folder),yes),$(folder)))
"""


@pytest.mark.parametrize("goals, folders", [
    (["build/host/weir-sim"], ["host"]), (["build/host/tests/tcp/loss", "build/small/liball.a", "host-flags"], ["host", "small"]), (["list-tests"], []),
    (["build/boards/mps2-an385/echo.elf"], ["boards/mps2-an385"]), (["build/venv/ready"], []), (["build/fuzz/hostile"], None), (["apps"], None),
    (["build/host/weir-sim", "tests-small"], None), (["build/host/tls-bearssl"], None), ([], None)])
def test_what_is_read_is_what_the_goals_need(goals, folders):
    said = make("-s", "-f", "-", "asked", f"MAKECMDGOALS={' '.join(goals)}", text=READ).split()
    assert said == folders if folders is not None else {"host", "lean", "m3", "boards/mps2-an385"} <= set(said)


def test_another_variants_objects_would_be_seen():
    assert any(path.startswith("build/asan/") for path in compiled("build/host/tls-bearssl"))   # for which all is read
