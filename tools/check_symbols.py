#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What each profile's library asks of the system, on a Cortex-M3, against the committed list config/symbols-PROFILE.txt.
usage: check_symbols.py PROFILE …"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def listed(profile):
    lines = (ROOT / f"config/symbols-{profile}.txt").read_text().split("\n")
    return {word for line in lines if (word := line.split("#")[0].strip())}


def undefined(profile):
    """Symbols that no object of the library defines."""
    library = ROOT / f"build/m3/{profile}/libweir.a"
    output = subprocess.run(["arm-none-eabi-nm", "--format=posix", library], capture_output=True, text=True, check=True).stdout
    needed, defined = set(), set()
    for line in output.split("\n"):
        words = line.split()
        if len(words) >= 2 and not words[0].endswith(":"):
            (needed if words[1] == "U" else defined).add(words[0])
    return needed - defined


def main():
    status = 0
    for profile in sys.argv[1:]:
        extra = sorted(undefined(profile) - listed(profile))
        if extra:
            print(f"{profile} asks the system for {', '.join(extra)}: not in config/symbols-{profile}.txt")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
