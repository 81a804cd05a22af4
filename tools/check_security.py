#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The table of docs/security.md that says in which small builds each security test runs is what `make list-tests` says,
and where a test does not run the table says why not, which is looked at, too. A security test is one that a row of
that page names, or one of tests/unit/security. --write fills in the columns of the builds and adds rows that are
missing; reasons are written by hand:
    small, tiny: TCP_URGENT          each of these builds lacks this option (one of several, if more are named)
    tiny: tests/unit/compact/a_test.c   the compact stack has other code for it, which this test is of
    tiny: no application             the test is of apps/, which the compact stack does not carry
    small: by itself                 the test is of the simulator or of a kernel, which have no profile"""
import pathlib
import re
import subprocess
import sys

from configuration import Configuration, table

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/security.md"
BUILDS = ("small", "small6", "tiny", "tiny6")
ALSO = {"small_apps": "small", "small6_apps": "small6"}  # what runs applications counts as the build it is made of
CHANGES = {"small": {}, "small6": {"IP4": 0, "IP6": 1, "ADDRESSES": 4}, "tiny": {}, "tiny6": {"IP4": 0, "IP6": 1}}
HEADING = "| test | " + " | ".join(BUILDS) + " | why not there |"
MARKERS = "profiles: (?:tiny|small)|needs IPv6|also without IPv4|only without IPv4|not on mips:|not lean:"
COMPACT_REPLACES = {"cc", "compact", "ip", "link", "rt", "socket", "tcp", "udp"}


def options(build):
    every = table()
    profile = re.match("tiny|small", build).group()
    return {name: CHANGES[build].get(name, row[profile]) for name, row in every.items()}


def runs():
    """By test file, the builds that it runs in."""
    listing = subprocess.run(["make", "-s", "list-tests"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = {}
    for build, name in re.findall(r"^build/(\w+)/tests/(\S+)$", listing, re.M):
        found.setdefault(f"tests/unit/{name}_test.c", set()).add(ALSO.get(build, build))
    return found


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def wrong_reason(path, build, reason, where):
    """What is wrong with a reason; None: nothing."""
    if reason == "no application":
        return None if path.startswith("tests/unit/apps/") and build.startswith("tiny") else "it is no application"
    if reason == "by itself":
        return None if path.split("/")[2] in {"sim", "micro", "kernel"} else "it is of the stack"
    files = re.findall(r"tests/unit/[\w/]+_test\.c", reason)
    if files:
        if not build.startswith("tiny") or path.split("/")[2] not in COMPACT_REPLACES | {"security"}:
            return "only the compact stack has code of its own for it"
        missing = [file for file in files if build not in where.get(file, ())]
        return f"{missing[0]} does not run there" if missing else None
    names, has = re.findall(r"[A-Z][A-Z0-9_]+", reason), options(build)
    unknown = [name for name in names if name not in has]
    if unknown or not names:
        return f"there is no option {unknown[0]}" if unknown else "no reason that can be looked at"
    return None if any(not has[name] for name in names) else f"it has {' and '.join(names)}"


def reasons(cell):
    """{build: reason} of "small, tiny: A; tiny6: B"."""
    found = {}
    for part in filter(None, (part.strip() for part in cell.split(";"))):
        builds, _, reason = part.partition(":")
        found |= {build.strip(): reason.strip() for build in builds.split(",")}
    return found


def row_problems(path, row, where):
    here, problems = where.get(path, set()), []
    for build, cell in zip(BUILDS, row[1:-1]):
        if cell != ("yes" if build in here else "–"):
            problems.append(f"{path}: {'runs' if build in here else 'does not run'} in {build}")
    given = reasons(row[-1])
    for build in BUILDS:
        if (build in here) == (build in given):
            what = "a reason for" if build in here else "no reason why it does not run in"
            problems.append(f"{path}: {what} {build}")
        elif build in given and (wrong := wrong_reason(path, build, given[build], where)):
            problems.append(f"{path}: {build}: {wrong}")
    problems += [f"{path}: there is no build {build}" for build in given if build not in BUILDS]
    return problems


def markers_out_of_place():
    """A marker that does not begin its line is not seen by tools/build.mk."""
    for path in sorted((ROOT / "tests/unit").rglob("*.c")):
        for number, line in enumerate(path.read_text().split("\n"), 1):
            if re.match(f"//.*(?:{MARKERS})", line) and not re.match(f"// (?:{MARKERS})", line):
                yield f"{path.relative_to(ROOT)}:{number}: a marker begins its line, or tools/build.mk does not see it"


def main():
    text, where = PAGE.read_text(), runs()
    before, heading, after = text.partition(HEADING + "\n")
    if not heading:
        print(f"docs/security.md has no table {HEADING}")
        return 1
    lines = after.split("\n")
    end = next(at for at, line in enumerate(lines) if not line.startswith("|"))
    rows = {cells(line)[0].strip("`"): cells(line) for line in lines[1:end]}
    wanted = set(re.findall(r"(tests/unit/[\w/]+_test\.c) ::", before + "\n".join(lines[end:])))
    wanted |= {str(path.relative_to(ROOT)) for path in (ROOT / "tests/unit/security").glob("*_test.c")}
    if "--write" in sys.argv:
        made = [f"| {path} | " + " | ".join("yes" if build in where.get(path, ()) else "–" for build in BUILDS)
                + f" | {rows[path][-1] if path in rows else ''} |" for path in sorted(wanted)]
        PAGE.write_text(before + HEADING + "\n" + "\n".join([lines[0], *made, *lines[end:]]))
        return 0
    problems = [f"{path}: no row" for path in sorted(wanted - rows.keys())]
    problems += [f"{path}: no security test" for path in sorted(rows.keys() - wanted)]
    for path in sorted(wanted & rows.keys()):
        problems += row_problems(path, rows[path], where)
    problems = [f"docs/security.md: {problem}" for problem in problems] + list(markers_out_of_place())
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
