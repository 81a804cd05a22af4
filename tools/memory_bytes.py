#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes weir_memory.h: WEIR_MEMORY_BYTES, what weir_size() says of a configuration with default limits, known when compiling. The compiler itself is asked,
also one for another machine: it works the call out, and writes its value into an object as an assembler's operand. Nothing is run.
usage: memory_bytes.py OUT --cc 'CC FLAGS' --include FOLDER SOURCE …   (FOLDER: where weir/options.h of the configuration is)"""
import argparse
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
ASK = """
__attribute__((flatten, used)) void weir_memory_ask(void);
void weir_memory_ask(void)
{
    __asm__ volatile(".ascii \\"WEIR_MEMORY_BYTES=%0;\\"" ::"i"(weir_size(0)));
}
"""
HEADER = """\
// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/memory_bytes.py for one configuration and one machine.
#ifndef WEIR_MEMORY_H
#define WEIR_MEMORY_H

// Bytes that weir_create needs for `memory`, with default limits (where there is an allocator: for the fixed part).
{bytes}

#endif
"""
UNKNOWN = '#error "WEIR_MEMORY_BYTES: this compiler did not work it out; ask weir_size() at run time"'


def ask(compiler, include, sources):
    """The number; None: the compiler does not tell. -fwhole-program: GCC leaves out all that the question does not need (Clang ignores it)."""
    with tempfile.TemporaryDirectory() as folder:
        unit, found = pathlib.Path(folder, "unit.c"), pathlib.Path(folder, "unit.o")
        subprocess.run([sys.executable, ROOT / "tools/amalgamate.py", unit, *sources], cwd=ROOT, check=True)
        unit.write_text(unit.read_text() + ASK)
        done = subprocess.run([*shlex.split(compiler), "-O2", "-fno-lto", "-fwhole-program", "-w", "-std=gnu11", f"-I{include}", "-Iinclude", "-Isrc", "-c", unit, "-o", found],
                              cwd=ROOT, capture_output=True)
        told = re.search(rb"WEIR_MEMORY_BYTES=[#$]?(\d+);", found.read_bytes()) if done.returncode == 0 else None
    return int(told.group(1)) if told else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--cc", required=True)
    parser.add_argument("--include", required=True, type=lambda folder: pathlib.Path(folder).resolve())
    parser.add_argument("sources", nargs="+")
    words = parser.parse_args()
    number = ask(words.cc, words.include, words.sources)
    text = HEADER.replace("{bytes}", f"#define WEIR_MEMORY_BYTES {number}" if number is not None else UNKNOWN)
    if not words.out.is_file() or words.out.read_text() != text:
        words.out.write_text(text)


main()
