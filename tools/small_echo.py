#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The figures of small_echo (examples/firmware/small_echo.c): adds small_echo.code and small_echo.ram to build/size.json. code: text, read-only and
initial data of the image. ram: all of its RAM, stacks included, without the sockets' byte queues, which are told apart."""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
IMAGE = ROOT / "build/metal/small_echo.elf"
OUT = ROOT / "build/size.json"


def sections():
    text = subprocess.run(["arm-none-eabi-size", "-A", IMAGE], capture_output=True, text=True, check=True).stdout
    return {words[0]: int(words[1]) for words in map(str.split, text.split("\n")) if len(words) == 3 and words[1].isdigit()}


def queue_bytes():
    """Of all sockets: what the options of the image say."""
    flags = subprocess.run(["make", "-s", "--no-print-directory", "small-echo-flags"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    text = subprocess.run(["arm-none-eabi-gcc", *flags, "-E", "-dM", "-include", "weir/options.h", "-x", "c", "/dev/null"], cwd=ROOT, capture_output=True, text=True,
                          check=True).stdout
    macros = dict(re.findall(r"#define (WEIR_\w+) (\S+)", text))

    def value(name):
        found = macros["WEIR_CFG_" + name]
        return int(macros.get(found, found))
    return (value("TCP_CONNECTIONS") or value("SOCKETS")) * (value("TCP_SEND_BYTES") + value("TCP_RECEIVE_BYTES"))


def main():
    found, queues = sections(), queue_bytes()
    code = found[".text"] + found.get(".ARM.exidx", 0) + found[".data"]
    ram = found[".data"] + found[".bss"] + found[".stack"]
    whole = json.loads(OUT.read_text()) if OUT.exists() else {}
    whole["small_echo"] = {"code": code, "ram": ram - queues, "queues": queues}
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(whole, indent=2) + "\n")
    print(f"small_echo: code {code} (to reach: 36864), RAM {ram - queues} (to reach: 12288) and {queues} of socket queues")
    budget = tomllib.loads((ROOT / "config/budgets.toml").read_text())["small_echo"]
    problems = [f"small_echo.{key} is {whole['small_echo'][key]}, the budget {limit}" for key, limit in budget.items() if whole["small_echo"][key] > limit]
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


sys.exit(main())
