#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes page.c from page.html. --check only compares."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


COLUMNS = 110   # of a literal without its quotes


def literals(line):
    """The line as pieces of C string literals, no escape cut in two."""
    piece = ""
    for byte in line.encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        word = chr(byte) if plain else {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("?"): "\\?"}.get(byte) or f"\\{byte:03o}"
        if len(piece) + len(word) > COLUMNS:
            yield piece
            piece = ""
        piece += word
    yield piece


def main():
    lines = (HERE / "page.html").read_text().splitlines(keepends=True)
    text = "\n".join(["// SPDX-License-Identifier: BSD-2-Clause", "// Made by embed.py from page.html: change that file.", '#include "status/server.h"', "",
                      "const char status_page[] ="] + [f'    "{piece}"' for line in lines for piece in literals(line)]) + ";\n"
    text += "const uint32_t status_page_length = sizeof status_page - 1;\n"
    path = HERE / "page.c"
    if "--check" not in sys.argv:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        print("apps/status/page.c differs from page.html: run apps/status/embed.py")
        return 1
    return 0


sys.exit(main())
