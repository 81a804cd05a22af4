# SPDX-License-Identifier: BSD-2-Clause
"""Each recipe of config/recipes as a user has it: copied out of the tree, as a configuration of the two files, with a program. (`make size` builds them
for a Cortex-M3, with their parts.)"""
import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "packaging/example"
RECIPES = sorted(path.stem for path in (ROOT / "config/recipes").glob("*.h"))
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "CONFIG", "PROFILE", "OPTIONS")}


def run(*words):
    done = subprocess.run([str(word) for word in words], cwd=ROOT, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.parametrize("recipe", RECIPES)
def test_each_recipe(recipe, tmp_path):
    shutil.copy(ROOT / f"config/recipes/{recipe}.h", tmp_path / "my_config.h")
    run("make", "-s", "amalgamation", f"CONFIG={tmp_path / 'my_config.h'}", f"O={tmp_path}")
    run("cc", "-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-DTWO_FILES", f"-I{tmp_path}", EXAMPLE / "answer.c", tmp_path / "weir.c", "-o", tmp_path / "answer")
    run(tmp_path / "answer")


def test_there_are_six():
    assert RECIPES == ["gateway", "host", "logger", "player", "sensor", "web_server"]
