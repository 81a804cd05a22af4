#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes page.c from page.html. --check only compares."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def literal(line):
    out = ""
    for byte in line.encode():
        out += {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n"}.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
    return out.replace("??", "?\\?")


def main():
    lines = (HERE / "page.html").read_text().splitlines(keepends=True)
    text = "\n".join(["// SPDX-License-Identifier: BSD-2-Clause", "// Made by embed.py from page.html: change that file.", '#include "http/http.h"', "",
                      "const char http_page[] ="] + [f'    "{literal(line)}"' for line in lines]) + ";\n"
    text += "const uint32_t http_page_length = sizeof http_page - 1;\n"
    path = HERE / "page.c"
    if "--check" not in sys.argv:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        print("apps/http/page.c differs from page.html: run apps/http/embed.py")
        return 1
    return 0


sys.exit(main())
