#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No library for users has a global that another library might have, too: all begin with weir_, bsd_ or WEIR_. Nor do two libraries of one build have
the same one, nor does one ask for what is private to another. usage: check_names.py LIBRARY … (a library for a Cortex-M3 lies below m3/)"""
import pathlib
import subprocess
import sys

OURS = ("weir_", "bsd_", "WEIR_")


def names_of(library, *which):
    nm = "arm-none-eabi-nm" if "m3" in library.parts else "nm"
    listing = subprocess.run([nm, *which, "--format=posix", library], capture_output=True, text=True, check=True).stdout
    return {words[0] for words in map(str.split, listing.split("\n")) if len(words) >= 2 and not words[0].endswith(":")}


def prefixes(library, found):
    wrong = sorted(name for name in found if not name.startswith(OURS))
    if wrong or not found:
        yield f"{library}: {len(wrong)} of {len(found)} globals have no prefix of ours: {' '.join(wrong[:8])}"


def together(libraries):
    """What is wrong with libraries that lie in one folder."""
    for library, found in libraries.items():
        others = {name: other for other, names in libraries.items() if other != library for name in names}
        yield from (f"{library} and {others[name]} both define {name}" for name in sorted(found & others.keys()) if library < others[name])
        for name in sorted(names_of(library, "--undefined-only")):
            owner = others.get(f"weir_private_{name}")
            if owner:
                yield f"{library} needs {name}, which is private to {owner}: its header is no public one (config/parts.toml)"
            elif name.startswith(OURS) and name not in others and name not in found:
                yield f"{library} needs {name}, which nothing defines"


def main():
    libraries = {path: names_of(path, "--defined-only", "--extern-only") for path in map(pathlib.Path, sys.argv[1:])}
    wrong = [line for library, found in libraries.items() for line in prefixes(library, found)]
    for folder in sorted({library.parent for library in libraries}):
        wrong += together({library: found for library, found in libraries.items() if library.parent == folder})
    print("".join(line + "\n" for line in wrong), end="")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
