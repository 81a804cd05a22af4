# SPDX-License-Identifier: BSD-2-Clause
"""What the tutorials of docs/start say: their programs, how long these are, and the commands that a reader gives."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGES = {"sockets": 20, "native": 30, "microcontroller": 60, "congestion-control": 20, "simulation": 20}   # lines at most
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
NOT_COUNTED = re.compile(r"\s*[{}]*\s*$|#|(static )?\w.*\)$")   # blank lines, braces, the preprocessor's, heads of functions


def blocks(page):
    return FENCE.findall((ROOT / f"docs/start/{page}.md").read_text())


def programs(page):
    """By name; pieces of one name are one program."""
    found = {}
    for language, name, text in blocks(page):
        if language == "c":
            found[name] = found.get(name, "") + text
    return found


def commands(page):
    """(the command, what the page says it prints or None, whether it stays)."""
    found = []
    for language, _, text in blocks(page):
        if language == "sh":
            for line in text.replace("\\\n", "").splitlines():
                line = line.replace("sudo ", "").strip()
                found.append((line.removesuffix("&"), None, line.endswith("&")))
        elif language == "text":
            found[-1] = (found[-1][0], text, False)
    return found


def count(page):
    """Lines with a declaration or a statement."""
    return sum(not NOT_COUNTED.match(line) for line in "".join(programs(page).values()).splitlines())


def write(page):
    """Puts the programs where the page says they stand; their paths."""
    paths = []
    for name, text in programs(page).items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        paths.append(path)
    return paths
