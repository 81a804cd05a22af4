#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes the stack as two files, weir.h and weir.c, for one configuration: amalgamate.py STAGED OUT SOURCE … (make amalgamation)

weir.h is every public header with the configuration in it (STAGED/include/weir/options.h). weir.c is every header of src/, in the order in which they
include each other, then every source; all of it that weir.h does not declare becomes static. (What a header declares and no source of this configuration
has stays as it is: it is called only where the compiler sees that it is not.) What two files call by the same name gets the file's name in
front, by a macro that lasts as long as the file. The same input makes the same bytes."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from configuration import version  # noqa: E402

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">].*\n?', re.M)
PRIVATE = (re.compile(r"^static\s(?:[^;=({]*[\s*])?(\w+)\s*\(", re.M),
           re.compile(r"^static\s[^;=({]*[\s*](\w+)\s*(?:\[[^\]]*\])*\s*=", re.M),
           re.compile(r"^(?:struct|enum|union)\s+(\w+)\s*\{", re.M))
ATTRIBUTE = re.compile(r"__attribute__\(\(.*?\)\)\s*")
MACRO = re.compile(r"^#define\s+(\w+)", re.M)
NOT_PART = {"weir/atomic.h"}   # for ports and drivers


def blank(text):
    """The text with comments and literals blanked, its length kept."""
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)


def chunks(text):
    """(begin, end) of each declaration and definition at file scope."""
    plain = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), blank(text), flags=re.M)
    begin, depth, bracket = None, 0, False
    for place, character in enumerate(plain):
        if begin is None and not character.isspace():
            begin, bracket = place, False
        if character in "({[":
            if character == "{" and depth == 0:
                bracket = plain[begin:place].rstrip().endswith(")")
            depth += 1
        elif character in ")}]":
            depth -= 1
            if character == "}" and depth == 0 and bracket:
                yield begin, place + 1
                begin = None
        elif character == ";" and depth == 0:
            yield begin, place + 1
            begin = None


def declared(chunk):
    """The name that a chunk declares with external linkage, or None."""
    plain = ATTRIBUTE.sub("", blank(chunk)).strip()
    if re.match(r"(?:[A-Z]+\s+)?(static|typedef|LOCAL|_Static_assert|WEIR_STATIC_ASSERT)\b", plain) or re.match(r"(struct|union|enum)\s*\w*\s*(\{.*\}\s*;|;)", plain, re.S):
        return None
    function = re.match(r"[\w\s*]*?\b(\w+)\s*\(", plain)
    thing = re.match(r"(?:extern\s+)?[\w\s*]*?\b(\w+)\s*(?:\[[^\]]*\]\s*)*(?:[=;,])", plain)
    found = function if function and (not thing or function.end() <= thing.end()) else thing
    return found.group(1) if found else None


def written(text):
    """The names with external linkage that the text defines."""
    defined = (text[begin:end] for begin, end in chunks(text) if text[end - 1] == "}" or not re.search(r"\)\s*;$", text[begin:end]))
    return {name for chunk in defined if not chunk.startswith("extern") and (name := declared(chunk))}


def make_static(text, private):
    """Every name of the text that is private loses its external linkage."""
    out, last = [], 0
    for begin, end in chunks(text):
        name = declared(text[begin:end])
        if name and name in private:
            out += [text[last:begin], "static ", re.sub(r"^extern\s+", "", text[begin:end])]
            last = end
    return "".join(out) + text[last:]


class Headers:
    """Headers, each once and after those that it includes. `find` gives the path of an include, or None for one of the system."""

    def __init__(self, find, change=lambda text: text):
        self.find, self.change, self.done, self.system, self.out = find, change, set(), [], []

    def add(self, path):
        if path in self.done:
            return
        self.done.add(path)
        text = path.read_text()
        for kind, name in INCLUDE.findall(text):
            inner = self.find(path, kind, name)
            if inner:
                self.add(inner)
            elif kind == "<" and name not in self.system:
                self.system.append(name)
        self.out.append(self.change(strip(text)))

    def text(self):
        return "".join(f"#include <{name}>\n" for name in sorted(self.system)) + "\n" + "\n".join(self.out)


def strip(text):
    """Without includes and the licence line."""
    return INCLUDE.sub("", text).removeprefix("// SPDX-License-Identifier: BSD-2-Clause\n").strip("\n") + "\n"


def title(what, version):
    licence = "".join(f"// {line}".rstrip() + "\n" for line in (ROOT / "LICENSE").read_text().strip().split("\n"))
    return f"// SPDX-License-Identifier: BSD-2-Clause\n// Weir {version}: {what}. Made by `make amalgamation`; change the sources that it was made of.\n//\n{licence}\n"


def public_header(staged):
    """(text of weir.h, the names that it declares)."""
    def find(_, kind, name):
        if kind == "<" or name in NOT_PART:
            return None
        return staged / "include" / name if name == "weir/options.h" else ROOT / "include" / name
    headers = Headers(find)
    for path in sorted((ROOT / "include/weir").glob("*.h")):
        if f"weir/{path.name}" not in NOT_PART:
            headers.add(find(path, '"', f"weir/{path.name}"))
    text = headers.text()
    return f"#ifndef WEIR_H\n#define WEIR_H\n\n{text}\n#endif\n", set(re.findall(r"\bweir_\w+", blank(text)))


def private_unit(sources, public):
    def find(path, kind, name):
        if kind == "<" or name.startswith("weir/"):
            return None
        beside, below = path.parent / name, ROOT / "src" / name
        return beside if beside.is_file() else below
    texts = {source: (ROOT / source).read_text() for source in sources}
    ours = set().union(*(written(strip(text)) for text in texts.values())) - public
    headers = Headers(find, lambda text: make_static(text, ours))
    for source in sources:
        for kind, name in INCLUDE.findall(texts[source]):
            inner = find(ROOT / source, kind, name)
            if inner:
                headers.add(inner)
            elif kind == "<" and name not in headers.system:
                headers.system.append(name)
    private = {source: {name for pattern in PRIVATE for name in pattern.findall(ATTRIBUTE.sub("", text))} for source, text in texts.items()}
    out = [headers.text()]
    for source, text in texts.items():
        shared = sorted(name for name in private[source] if any(name in private[other] for other in sources if other != source))
        prefix = re.sub(r"\W", "_", source.removeprefix("src/").removesuffix(".c"))
        macros = sorted(set(shared) | set(MACRO.findall(text)))
        out += [f"// --- {source} ---\n", *(f"#define {name} {prefix}__{name}\n" for name in shared), make_static(strip(text), ours), *(f"#undef {name}\n" for name in macros)]
    return "\n".join(out[:1]) + "".join(out[1:])


def main():
    staged, out, sources = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3:]
    header, public = public_header(staged)
    out.mkdir(parents=True, exist_ok=True)
    (out / "weir.h").write_text(title("all public headers, with one configuration", version()) + header)
    (out / "weir.c").write_text(title("the stack; compile it as C11", version()) + '#include "weir.h"\n\n#define WEIR_ONE_UNIT 1\n'
                                "#ifdef __GNUC__\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n#endif\n\n" + private_unit(sources, public))


main()
