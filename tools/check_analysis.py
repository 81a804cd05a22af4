#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Holds what gcc -fanalyzer and cppcheck found (build/warnings, build/analysis: a log a source) against config/deviations.toml.
usage: check_analysis.py LOG …"""
import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
GCC = re.compile(r"^(?P<file>[^:\s]+)(?::(?P<line>\d+):\d+)?: warning: (?P<text>.*) \[(?P<rule>-Wanalyzer[\w-]+)\]$", re.M)
CPPCHECK = re.compile(r"^(?P<file>[^:\s]+):(?P<line>\d+):(?P<rule>[\w.-]+):(?P<text>.*)$", re.M)
MISRA = "misra-c2012-"


def findings(log):
    """(file, line, rule, text) of each. gcc names no file where a warning stands in no line: then it is the log's own."""
    text = log.read_text()
    source = re.sub(r"^.*?/(?:warnings|analysis)/(.*)\.log$", r"\1.c", log.as_posix())
    for match in (GCC if "/warnings/" in log.as_posix() else CPPCHECK).finditer(text):
        file = source if match["file"] == "cc1" else match["file"].removeprefix("./")
        yield file, match["line"] or "?", match["rule"], match["text"]


def main(logs):
    table = tomllib.loads((ROOT / "config/deviations.toml").read_text())
    rules = {MISRA + rule for rule in table["misra"]}
    found = {(row["rule"], row["file"]) for row in table["found"]}
    needed, wrong = set(), set()
    for log in map(pathlib.Path, logs):
        for file, line, rule, text in findings(log):
            if rule in rules:
                needed.add(rule)
            elif (rule, file) in found:
                needed.add((rule, file))
            else:
                wrong.add(f"{file}:{line}: {rule}: {text}")
    for line in sorted(wrong):
        print(line)
    if wrong:
        print("mend it, or say in config/deviations.toml why it stays")
    for row in sorted(map(str, (rules | found) - needed)):
        print(f"config/deviations.toml: {row}: nothing needs this row any more")
    return bool(wrong or (rules | found) - needed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
