#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Rules that the text of the sources shows: which headers a layer may include, no #if inside a function body of src/, line
length, the licence line first, C linkage of public headers in C++, no paths of the machine somebody worked on; the RFC that each conversation script holds Weir to."""
import itertools
import os
import pathlib
import re
import subprocess
import sys

from layers import EXEMPT, VISIBLE, layer

ROOT = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = 120
HEADER_LINES, FUNCTION_LINES = 300, 64   # of src/
DOCUMENT_COLUMNS = 120   # of docs/ and of the pages beside it
WIDE_TABLES = ("docs/conformance.md", "docs/security.md", "docs/proof.md")   # a row names its tests, or its functions, by which tools/check_conformance.py finds them: Markdown cannot wrap it
FREESTANDING = {"stdint.h", "stddef.h", "stdbool.h", "string.h"}
FOR_PORTS = "include/weir/atomic.h"   # not for the core, which has no atomic objects
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
CITATION = re.compile(r"\bRFC \d+ §\w")
MACHINE = re.compile(r"(?<![\w.])/(home|root|work|Users)/\w")
TEXT = {".c", ".h", ".cpp", ".pkt", ".py", ".sh", ".mk", ".md", ".toml", ".txt", ".yml", ""}
MADE = ("options.h", "configuration.h", "cc_list.h", "sources.h")   # by tools/options.py
NO_LICENCE_LINE = {".md", ".txt", ".toml", ""}
problems = []


def complain(path, number, sentence):
    problems.append(f"{path}:{number}: {sentence}")


def files():
    listing = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [pathlib.PurePosixPath(p) for p in listing.split("\n") if p and (ROOT / p).is_file()]


def resolve(path, name):
    """The file of ours that an include means, or None."""
    for folder in (path.parent, "include", "src", "api", "apps", ".", "tests/unit"):
        candidate = pathlib.PurePosixPath(os.path.normpath(pathlib.PurePosixPath(folder) / name))
        if (ROOT / candidate).is_file():
            return candidate
    return None


def include_allowed(path, target):
    """Whether the file `path` may include our file `target`."""
    top, target_top = path.parts[0], target.parts[0]
    if target_top == "include":
        if top == "src" and str(target) == FOR_PORTS:
            return False
        return top != "drivers" or target.name not in ("socket.h", "cc.h", "realtime.h", "stats.h", "instance.h")
    if top == "src":
        return target_top == "src" and (str(target) in EXEMPT or str(path) in EXEMPT or layer(target) in VISIBLE.get(layer(path), ()))
    if top == "drivers":
        return target_top == "drivers"
    if top == "kernel":
        return path.parts[:2] == target.parts[:2]
    if top == "ports":   # (ports/preempt has both sides of the socket calls of processes, ports/micro the process's)
        return target.parts[:2] in (path.parts[:2], ("ports", "common")) or target_top == "kernel" or (path.parts[1] in ("preempt", "micro") and target.parts[:2] in (("api", "flock"), ("api", "bsd")))
    if path.parts[:2] == ("api", "romantiki"):   # a personality of the cooperative kernel's, and of BSD sockets
        return target.parts[:2] in (("api", "romantiki"), ("api", "bsd"), ("kernel", "coop"), ("ports", "coop"))
    if path.parts[:2] == ("api", "linux_netdev") and str(target) == "drivers/port_io.h":   # Linux's inb and its kin
        return True
    if path.parts[:2] in (("api", "lyraos"), ("api", "linux_netdev"), ("api", "flock"), ("api", "cmsis_rtos2")):   # their kernel parts over the preemptive one
        return target_top == "api" or target.parts[:2] == ("kernel", "preempt")
    if path.parts[:2] == ("api", "tls"):   # over streams of either kind, and over nothing else
        return target.parts[:2] in (("api", "tls"), ("api", "bsd"))
    if top == "api":
        return target_top == "api"
    if path.parts[:3] == ("apps", "run", "preload"):   # lives in other people's programs
        return target.parts[:3] == path.parts[:3] or str(target) == "apps/run/protocol.h"
    if path.parts[:2] in (("apps", "host"), ("apps", "run")):   # puts the parts together
        return target_top in ("apps", "api", "ports", "drivers")
    if top == "sim" and path.parts[1] != "script":
        return target_top in ("sim", "api", "drivers", "ports")
    if top == "apps":
        return target_top == "apps" or target.parts[:2] in (("api", "bsd"), ("api", "tls"))
    return True


def check_includes(path, lines):
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        target = resolve(path, match.group(2))
        if path.parts[0] in ("src", "include") and target is None and match.group(2) not in FREESTANDING and str(path) != FOR_PORTS:
            complain(path, number, f"<{match.group(2)}> is not a header that a freestanding core may include")
        elif target is not None and not include_allowed(path, target):
            complain(path, number, f"may not include {target}: see the layers in docs/build.md")


def blank_comments(text):
    """The text with comments and literals blanked, lines kept."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def check_function_bodies(path, text):
    """A '{' at depth 0 after a ')' opens a function; until it closes, no conditional directive."""
    depth, inside, last = 0, False, ""
    for number, line in enumerate(blank_comments(text).split("\n"), 1):
        if line.lstrip().startswith("#"):
            if inside and re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else)\b", line):
                complain(path, number, "#if inside a function body: make the feature a file, or its header an empty inline")
            continue
        for character in line:
            if character == "{":
                inside = inside or (depth == 0 and last == ")")
                depth += 1
            elif character == "}":
                depth -= 1
                inside = inside and depth > 0
            if not character.isspace():
                last = character


def columns(path, line):
    """How long the line may be; None: as long as it likes."""
    if path.suffix in (".c", ".h", ".cpp"):
        return None if path.name in MADE else COLUMNS
    if path.suffix == ".md" and path.parts[0] in ("docs", path.name):
        return None if str(path) in WIDE_TABLES and line.startswith("|") else DOCUMENT_COLUMNS
    return None


def check_lengths(path, lines):
    """Files of src/ that a reader takes in at a glance: functions and headers end before they are long."""
    if path.suffix == ".h" and len(lines) - 1 > HEADER_LINES:
        complain(path, len(lines), f"{len(lines) - 1} lines; a header has {HEADER_LINES} at most: which noun of it is another file's?")
    opened = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            opened = number
        elif line == "}" and opened:
            if number - opened + 1 > FUNCTION_LINES:
                complain(path, opened, f"a function of {number - opened + 1} lines; {FUNCTION_LINES} at most")
            opened = None


def check_text(path, text, lines):
    if path.suffix in (".c", ".h", ".cpp", ".pkt", ".py", ".sh", ".mk") and not any("SPDX-License-Identifier: BSD-2-Clause" in line for line in lines[:2]):
        complain(path, 1, "the licence line is missing")
    for number, line in enumerate(lines, 1):
        most = columns(path, line)
        if most and len(line) > most:
            complain(path, number, f"{len(line)} columns; {most} at most")
        if MACHINE.search(line):
            complain(path, number, "names a path of somebody's machine")
        if path.suffix in (".c", ".h", ".cpp") and re.search(r"(//|/\*) ?…", line):
            complain(path, number, "a comment begins with an ellipsis; it stands without the line above")


def check_linkage(path, text):
    """A header that users include gives what it declares C linkage in C++: its declarations stand between the two macros of weir/language.h."""
    declares = re.search(r"^(?!typedef\b|#)(?:[A-Za-z_]\w*[\s*]+)+\w+\([^;{]*\)[^;{]*[;{]|^extern\b", blank_comments(text), re.M)
    both = "WEIR_BEGIN_DECLS" in text and "WEIR_END_DECLS" in text or 'extern "C" {' in text
    if declares and not both:
        complain(path, text[:declares.start()].count("\n") + 1, "a declaration without WEIR_BEGIN_DECLS and WEIR_END_DECLS (weir/language.h) around it")


def check_addresses(path, text):
    """Outside src/ip, src/wire and api nothing looks inside an address, so that a second family needs no change there."""
    inside = path.parts[:2] in (("src", "ip"), ("src", "wire")) or path.parts[0] in ("api", "tests", "fuzz") or str(path) in ("include/weir/addr.h", "src/base/addr.h")
    for match in () if inside else re.finditer(r"(\.|->)v4\b", blank_comments(text)):
        complain(path, text[:match.start()].count("\n") + 1, "looks inside a weir_addr: include/weir/addr.h has functions for it")


def check_script(path, lines):
    """docs/scripts.md: each script of ours begins with the sentence of an RFC, in our words, that it holds Weir to."""
    head = itertools.takewhile(lambda line: line.startswith("//"), lines)
    if not CITATION.search(" ".join(line.strip("/ ") for line in head)):
        complain(path, 1, "the comment at its head cites no RFC with its section, in the form RFC 9293 §3.8.6: which rule does it hold Weir to?")
    for number, line in enumerate(lines, 1):
        if line.startswith("--ip_version=") and not re.search(r"//\s*\w", line):
            complain(path, number, "a script of one version of IP says why on this line, behind //")


def main():
    for path in files():
        if path.suffix not in TEXT or path.name == "LICENSE":
            continue
        try:
            text = (ROOT / path).read_text()
        except UnicodeDecodeError:
            continue
        lines = text.split("\n")
        check_text(path, text, lines)
        if path.suffix == ".pkt":
            check_script(path, lines)
        if path.suffix == ".h" and path.parts[0] in ("include", "api", "kernel", "ports", "drivers", "boards"):
            check_linkage(path, text)
        if path.suffix in (".c", ".h"):
            check_includes(path, lines)
            check_addresses(path, text)
            if path.parts[0] == "src":
                check_function_bodies(path, text)
                check_lengths(path, lines)
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
