#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The tutorials of docs/start: each is as short as it says, and its program compiles without a warning; and the lines of
code in README.md compile, too. (tests/interop/test_tutorials.py follows the pages in a network of their own; `make
check` runs it after this.)"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from building import host_flags  # noqa: E402
from tutorials import FENCE, PAGES, count, write  # noqa: E402

COMPILER = {"microcontroller": ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "-Ibuild/check/start"]}
STRICT = ["-std=c11", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-O1", "-c", "-o", "/dev/null"]


def compiled(compiler, *words, text=None):
    """Nothing, or what the compiler says against a program."""
    done = subprocess.run([*compiler, *STRICT, *words], cwd=ROOT, input=text, capture_output=True, text=True)
    return done.stderr if done.returncode != 0 else None


def host_compiler():
    return ["cc", *host_flags(), "-Iinclude", "-I.", "-Iapi"]


def readme():
    """What is wrong with the piece of a program in README.md."""
    (_, _, text), = FENCE.findall((ROOT / "README.md").read_text())
    head = "#include <weir/instance.h>\n#include <bsd/posix_names.h>\nint main(void)\n{\nstruct weir *weir = NULL;\n"
    return compiled(host_compiler(), "-x", "c", "-", text=head + text + "}\n")


def wrong(page):
    """What does not hold of a page, one by one."""
    if not 10 < count(page) <= PAGES[page]:
        yield f"{count(page)} lines of code; {PAGES[page]} at most"
    for path in write(page):
        if said := compiled(COMPILER.get(page) or host_compiler(), path):
            yield said


def main():
    faults = [f"docs/start/{page}.md: {fault}" for page in PAGES for fault in wrong(page)]
    if said := readme():
        faults.append(f"README.md: {said}")
    print("\n".join(faults), end="\n" if faults else "")
    return bool(faults)


sys.exit(main())
