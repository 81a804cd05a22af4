# SPDX-License-Identifier: BSD-2-Clause
"""tests/run.py refuses what it does not know, instead of running every test or none."""
import pathlib
import subprocess
import sys

RUN = pathlib.Path(__file__).resolve().parent.parent / "run.py"


def run(*words):
    return subprocess.run([sys.executable, str(RUN), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


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
