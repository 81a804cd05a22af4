#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What each recipe (config/recipes) costs on a Cortex-M3, gcc -Os, as `make lib` builds it: code and constants of the
stack and of the parts beside it that the recipe names, before a linker leaves anything out; RAM of an instance, which a program run by qemu-arm is
told by weir_size(). Adds "recipes" to build/size.json and prints a table.
usage: recipes.py [RECIPE …]"""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECIPES = ROOT / "config/recipes"
METAL, FLAGS = "arm-none-eabi-", ("-mcpu=cortex-m3", "-mthumb", "-Os", "-ffunction-sections", "-fdata-sections")


def run(*command):
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run([str(word) for word in command], cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def parts(recipe):
    """The parts beside the stack that it names."""
    return re.search(r"^// Parts beside the stack: (.*)$", (RECIPES / f"{recipe}.h").read_text(), re.M).group(1).split()


def build(recipe):
    folder = ROOT / "build/recipes" / recipe
    run("make", "-s", f"-j{os.cpu_count()}", "-f", "packaging/library.mk", "lib", f"O={folder}", f"CONFIG=config/recipes/{recipe}.h", f"CROSS={METAL}",
        f"CFLAGS={' '.join(FLAGS)}", f"PARTS={' '.join(parts(recipe))}")
    return folder


def code(archive):
    """Text and constants; there is no variable data in libraries but a port's."""
    return sum(int(line.split()[0]) for line in run(METAL + "size", archive).splitlines()[1:])


def instance_bytes(folder):
    """None: an allocator's."""
    if "#define WEIR_CFG_ALLOCATOR 1\n" in (folder / "include/weir/options.h").read_text():
        return None
    run(METAL + "gcc", "-std=gnu11", *FLAGS, f"-I{folder}/include", "-nostartfiles", "-static", "-Wl,--gc-sections", "tools/instance_bytes.c", folder / "libweir.a",
        "-o", folder / "probe")
    return int(run("qemu-arm", folder / "probe"))


def measure(recipe):
    folder = build(recipe)
    return {"stack": code(folder / "libweir.a"), "parts": sum(code(folder / f"libweir-{part}.a") for part in parts(recipe)), "ram": instance_bytes(folder)}


def main(recipes):
    sizes = {recipe: measure(recipe) for recipe in recipes}
    path = ROOT / "build/size.json"
    result = json.loads(path.read_text()) if path.is_file() else {}
    path.write_text(json.dumps({**result, "recipes": sizes}, indent=2) + "\n")
    print(f"\n{'recipe':<16}{'stack':>9}{'parts':>9}{'RAM':>9}")
    for recipe, size in sizes.items():
        print(f"{recipe:<16}{size['stack']:>9}{size['parts']:>9}{size['ram'] or 'heap':>9}   {' '.join(parts(recipe))}")


if __name__ == "__main__":
    main(sys.argv[1:] or sorted(path.stem for path in RECIPES.glob("*.h")))
