#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The sizes of paper_echo (tools/boards.mk): Romantiki's echo server on lm3s6965evb, the cooperative kernel, tiny and a real MAC's driver. Adds paper_echo.code
and paper_echo.ram to build/size.json. code: text, constants and initial data of the image; ram: all of it, the instance, its queues and the stack included."""
import json
import pathlib
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGE, OUT = ROOT / "build/boards/lm3s6965evb/paper_echo.elf", ROOT / "build/size.json"


def main():
    text = subprocess.run(["arm-none-eabi-size", "-A", IMAGE], capture_output=True, text=True, check=True).stdout
    found = {words[0]: int(words[1]) for words in map(str.split, text.split("\n")) if len(words) == 3 and words[1].isdigit()}
    sizes = {"code": found[".text"] + found.get(".ARM.exidx", 0) + found.get(".data", 0), "ram": found.get(".data", 0) + found[".bss"] + found[".stack"]}
    whole = json.loads(OUT.read_text()) if OUT.exists() else {}
    OUT.write_text(json.dumps(whole | {"paper_echo": sizes}, indent=2) + "\n")
    budget = tomllib.loads((ROOT / "config/budgets.toml").read_text())["paper_echo"]
    print("paper_echo (lm3s6965evb): " + ", ".join(f"{key} {sizes[key]} (the budget {limit})" for key, limit in budget.items()))
    problems = [f"paper_echo.{key} is {sizes[key]}, the budget {limit}" for key, limit in budget.items() if sizes[key] > limit]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


sys.exit(main())
