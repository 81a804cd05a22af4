#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes one translation unit that includes every source given: amalgamate.py OUT SOURCE …

Names private to a file may be taken in another file, too. Here they would meet; so such a name is defined to FILE_NAME while its file
is included, and macros end with their file. All headers come first, so that none of them is read under such a definition."""
import collections
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRIVATE = (re.compile(r"^static\s(?:[^;=({]*[\s*])?(\w+)\s*\(", re.M),                      # functions
           re.compile(r"^static\s[^;=({]*[\s*](\w+)\s*(?:\[[^\]]*\])*\s*=", re.M),          # tables
           re.compile(r"^(?:struct|enum|union)\s+(\w+)\s*\{", re.M))                        # types
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)\s*")
MACRO = re.compile(r"^#define\s+(\w+)", re.M)
INCLUDE = re.compile(r'^#include\s+"([^"]+)"', re.M)


def header_path(source, name):
    """How to name a header from src/ or include/."""
    beside = (ROOT / source).parent / name
    return str(beside.relative_to(ROOT / "src")) if beside.is_file() and not (ROOT / "src" / name).is_file() else name


@functools.cache
def read(source):
    """The headers that a source includes, the names that are its own, and those of its macros."""
    text = (ROOT / source).read_text()
    plain = ATTRIBUTE.sub("", text)
    headers = {header_path(source, name) for name in INCLUDE.findall(text)}
    return headers, {name for pattern in PRIVATE for name in pattern.findall(plain)}, set(MACRO.findall(text))


def unit(sources):
    """The text of the unit."""
    owners = collections.Counter(name for source in sources for name in read(source)[1])
    headers = sorted(set().union(*(read(source)[0] for source in sources)))
    lines = ["// Made by tools/amalgamate.py: the whole library as one translation unit.", "#define WEIR_ONE_UNIT 1"] + [f'#include "{name}"' for name in headers]
    for source in sources:
        _, private, macros = read(source)
        shared = sorted(name for name in private if owners[name] > 1)
        prefix = re.sub(r"\W", "_", source.removeprefix("src/").removesuffix(".c"))
        lines += [f"#define {name} {prefix}__{name}" for name in shared]
        lines.append(f'#include "{source.removeprefix("src/")}"')
        lines += [f"#undef {name}" for name in sorted(set(shared) | macros)]
    return "\n".join(lines) + "\n"


def main():
    pathlib.Path(sys.argv[1]).write_text(unit(sys.argv[2:]))


if __name__ == "__main__":
    main()
