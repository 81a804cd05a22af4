#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes an image for a slot out of a program: the header of apps/update/slots.h, and the bytes of the program's memory.
usage: image.py PROGRAM.elf IMAGE VERSION [BOARD]"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

MAGIC, BOARD = 0x57494d31, 385


def header(body, version, board=BOARD):
    start = struct.pack(">5I8x", MAGIC, board, version, len(body), zlib.crc32(body))
    return start + struct.pack(">I", zlib.crc32(start))


def body(elf):
    """What is loaded, from the first byte to the last."""
    with tempfile.NamedTemporaryFile() as out:
        subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", str(elf), out.name], check=True)
        return pathlib.Path(out.name).read_bytes()


def image(elf, version, board=BOARD):
    data = body(elf)
    return header(data, version, board) + data


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    pathlib.Path(sys.argv[2]).write_bytes(image(sys.argv[1], *map(int, sys.argv[3:])))
