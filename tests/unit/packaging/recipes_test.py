# SPDX-License-Identifier: BSD-2-Clause
"""Each recipe of config/recipes as a user has it: copied out of the tree, as a configuration of the two files, with a program. (`make size` builds them
for a Cortex-M3, with their parts.)"""
import shutil

import pytest
from packaging_test import EXAMPLE, RECIPES, ROOT, run


@pytest.mark.parametrize("recipe", RECIPES)
def test_each_recipe(recipe, tmp_path):
    shutil.copy(ROOT / f"config/recipes/{recipe}.h", tmp_path / "my_config.h")
    run("make", "-s", "amalgamation", f"CONFIG={tmp_path / 'my_config.h'}", f"O={tmp_path}")
    run("cc", "-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-DTWO_FILES", f"-I{tmp_path}", EXAMPLE / "answer.c", tmp_path / "weir.c", "-o", tmp_path / "answer")
    run(tmp_path / "answer")


def test_there_are_six():
    assert RECIPES == ["gateway", "host", "logger", "player", "sensor", "web_server"]
