# SPDX-License-Identifier: BSD-2-Clause
"""A wrong option value fails at build time, with the sentence that config/options.toml has for it."""
import pathlib
import subprocess
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPTIONS = tomllib.loads((ROOT / "config/options.toml").read_text())


def build(*flags):
    """Compiles a file that only includes the options; returns (exit status, messages)."""
    done = subprocess.run(["cc", "-std=c11", "-fsyntax-only", f"-I{ROOT}/include", *flags, "-x", "c", "-"], input="#include <weir/options.h>\nint weir;\n",
                          capture_output=True, text=True)
    return done.returncode, done.stderr


@pytest.mark.parametrize("profile", ["TINY", "SMALL", "FULL"])
def test_the_profiles_build(profile):
    assert build(f"-DWEIR_PROFILE_{profile}") == (0, "")


@pytest.mark.parametrize("name", OPTIONS)
def test_values_outside_the_range_stop_the_build_with_a_sentence(name):
    option = OPTIONS[name]
    for value in (option["min"] - 1, option["max"] + 1):
        status, messages = build(f"-DWEIR_CFG_{name}={value}")
        assert status != 0
        assert f"WEIR_CFG_{name} must be {option['min']} to {option['max']}: {option['doc']}" in messages


@pytest.mark.parametrize("name", OPTIONS)
def test_the_ends_of_the_range_are_taken(name):
    option = OPTIONS[name]
    for value in (option["min"], option["max"]):
        assert build(f"-DWEIR_CFG_{name}={value}") == (0, "")
