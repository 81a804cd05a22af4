#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No library for users has a global that another library might have, too: all begin with weir_, bsd_ or WEIR_, those of the parts beside the stack with
one of the words that config/parts.toml has for it. usage: check_names.py LIBRARY … (a library for a Cortex-M3 lies below m3/)"""
import pathlib
import subprocess
import sys

from configuration import parts

OURS = ("weir_", "bsd_", "WEIR_")


def globals_of(library):
    nm = "arm-none-eabi-nm" if "m3" in library.parts else "nm"
    listing = subprocess.run([nm, "--defined-only", "--extern-only", "--format=posix", library], capture_output=True, text=True, check=True).stdout
    return {words[0] for words in map(str.split, listing.split("\n")) if len(words) >= 3}


def main():
    status = 0
    for library in map(pathlib.Path, sys.argv[1:]):
        part = library.stem.partition("-")[2]
        allowed = OURS + tuple(word + "_" for word in (parts()[part]["names"] if part else []))
        found = globals_of(library)
        wrong = sorted(name for name in found if not name.startswith(allowed))
        if wrong or not found:
            print(f"{library}: {len(wrong)} of {len(found)} globals have no prefix of ours: {' '.join(wrong[:8])}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
