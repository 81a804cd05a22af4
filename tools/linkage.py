# SPDX-License-Identifier: BSD-2-Clause
"""The names that a linker sees of the libraries beside the stack: include/weir/linkage/PART.h has a pragma for each function and object that the part's
public headers declare, which puts weir_ before its name in objects (tap_open is weir_tap_open there), and nowhere else. tools/options.py writes them."""
import re
import textwrap

from configuration import ROOT, part_files

OURS = ("weir_", "bsd_", "WEIR_")
NOTHING = re.compile(r'//[^\n]*|/\*.*?\*/|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*|__attribute__\(\(.*?\)\)|WEIR_(?:BEGIN|END)_DECLS|WEIR_NORETURN', re.S | re.M)
BEFORE = r"(?:const |unsigned |struct |enum |extern )*\w+[\s*]*(?:const\s*\*?\s*)?"
FUNCTION = re.compile(BEFORE + r"\b(\w+)\s*\(")
OBJECTS = re.compile(r"extern " + BEFORE + r"\b(\w+\s*(?:\[[^\]]*\]\s*)*(?:,.*)?)$")


def declared(text):
    """The names with external linkage that a header declares."""
    plain = NOTHING.sub(" ", text)
    while re.search(r"\{[^{}]*\}", plain):                 # the members of structs, and the bodies of inline functions, which end without a semicolon
        plain = re.sub(r"\)\s*\{[^{}]*\}", ") ;", plain)
        plain = re.sub(r"\{[^{}]*\}", " ", plain)
    for statement in plain.split(";"):
        statement = " ".join(statement.split())
        if not statement.startswith(("static", "typedef")):
            function, objects = FUNCTION.match(statement), OBJECTS.match(statement)
            if function:
                yield function.group(1)
            elif objects:
                yield from (re.match(r"[\s*]*(\w+)", word).group(1) for word in objects.group(1).split(","))


def names(part):
    """Header → those of its names that the part's sources have and that have no prefix of ours."""
    there = set(re.findall(r"\w+", " ".join((ROOT / path).read_text() for path in part_files(part, "sources"))))
    found = {path: sorted({name for name in declared((ROOT / path).read_text()) if name in there and not name.startswith(OURS)}) for path in part_files(part, "headers")}
    return {path: listed for path, listed in found.items() if listed}


def file_of(part):
    return f"include/weir/linkage/{part}.h"


def header(part, row, licence):
    """The text of file_of(part), or None where there is nothing to name."""
    listed = sorted({name for listed in names(row).values() for name in listed})
    guard = f"WEIR_LINKAGE_{part.upper()}_H"
    return "\n".join([licence, "// Made by tools/options.py from the public headers: run `make options` after a change of them.",
                      *textwrap.wrap(f"What libweir-{part}.a defines begins with weir_ in objects, so that it meets no other library's names there. Programs "
                                     "are written with the names of the headers.", 117, initial_indent="// ", subsequent_indent="// "), f"#ifndef {guard}", f"#define {guard}", "", '#include "weir/language.h"', "",
                      "#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay",
                      *(f"#pragma redefine_extname {name} weir_{name}" for name in listed), "#endif", "", "#endif", ""]) if listed else None


def unnamed(part, row):
    """The part's headers that declare such names and do not include its file."""
    return [path for path in names(row) if f'#include "weir/linkage/{part}.h"' not in (ROOT / path).read_text()]
