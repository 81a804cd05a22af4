#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Every row of docs/conformance.md's tables that end with "shown by" names at least one test, and each named test exists:
| RFC 9293 3.4 | requirement | MUST | tests/unit/tcp/input_test.c :: name; tests/interop/bulk.py :: test_name |
The same for docs/security.md: | disclosure | what happens | tests |"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance.md"
SECURITY = ROOT / "docs/security.md"


def exists(path, name):
    """Whether the file has that test: a function that cmocka is given, or a function pytest collects."""
    file = ROOT / path
    if not path.startswith("tests/") or not file.is_file():
        return False
    text = file.read_text()
    if file.suffix == ".py":
        return name.startswith("test_") and re.search(rf"^\s*(async )?def {re.escape(name)}\(", text, re.M) is not None
    given = r"(cmocka_unit|world)_test\w*\(|\bTEST\(|test_with\([^,]*,"   # the second: where an option is built (tests/unit/built.h)
    return re.search(rf"\b({given})\s*{re.escape(name)}\b", text) is not None


def cells(line):
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]


def security_problems():
    problems, rows, listed = [], 0, False
    for number, line in enumerate(SECURITY.read_text().split("\n"), 1):
        if not line.startswith("| "):
            listed = False
        listed |= line.startswith("| disclosure")
        if not listed or line.startswith(("| disclosure", "| ---")):
            continue
        rows += 1
        tests = re.findall(r"([\w./-]+)\s*::\s*(\w+)", cells(line)[-1])
        if not tests:
            problems.append(f"docs/security.md:{number}: no test")
        problems += [f"docs/security.md:{number}: there is no test {path} :: {name}" for path, name in tests if not exists(path, name)]
    return problems or ([] if rows else ["docs/security.md has no row"])


def main():
    if not PAGE.exists():
        print("docs/conformance.md is missing")
        return 1
    problems, rows, heading = [], 0, []
    for number, line in enumerate(PAGE.read_text().split("\n"), 1):
        if not line.startswith("|"):
            heading = []
            continue
        row = cells(line)
        if not heading:
            heading = row
            continue
        if heading[-1] != "shown by" or line.startswith("| ---"):
            continue
        rows += 1
        if len(row) != len(heading):
            problems.append(f"docs/conformance.md:{number}: {len(row)} cells, not {len(heading)}")
            continue
        tests = re.findall(r"([\w./-]+)\s*::\s*(\w+)", row[-1])
        if not tests:
            problems.append(f"docs/conformance.md:{number}: no test for: {row[0]} {row[1]}")
        problems += [f"docs/conformance.md:{number}: there is no test {path} :: {name}" for path, name in tests if not exists(path, name)]
    if not rows:
        problems.append("docs/conformance.md has no row")
    problems += security_problems()
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
