# SPDX-License-Identifier: BSD-2-Clause
"""examples/congestion_control.c: the simulator finds a registered congestion control by its name, and its flow does as it says."""
import json
import subprocess

import pytest

from building import ROOT, SIM, build

EXAMPLE = "build/host/examples/congestion_control"


@pytest.fixture(scope="module", autouse=True)
def programs():
    build(EXAMPLE)
    build(SIM)


def run(*words, program=EXAMPLE):
    return subprocess.run([ROOT / program, *words], capture_output=True, text=True)


def flow(cc):
    done = run("--cc", cc, "--rate", "100", "--loss", "0.01", "--seconds", "30")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["flows"][0]


def test_the_simulator_finds_it_by_name_and_it_fills_the_link():
    own, reno = flow("scalable"), flow("reno")
    assert own["cc"] == "scalable" and own["timeouts"] == 0
    assert own["mbit"] > 90 > reno["mbit"]   # an eighth less after a loss, not half


def test_it_is_listed_after_those_built_in():
    built_in = run("--scenario", "algorithms", program=SIM).stdout.split()
    assert run("--scenario", "algorithms").stdout.split() == [*built_in, "scalable"]


def test_without_it_the_simulator_knows_no_such_name():
    done = run("--cc", "scalable", program=SIM)
    assert done.returncode == 1 and "there is no congestion control scalable" in done.stderr
