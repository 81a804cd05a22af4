#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What TLS costs on a Cortex-M3: code and constants of each part of build/boards/mps2-an385/tls_echo.elf, by its linker map.
usage: tls_size.py (after `make build/boards/mps2-an385/tls_echo.elf`)"""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = (("Mbed TLS", r"libmbedtls"), ("back end", r"/api/tls/mbedtls/"), ("contract (api/tls)", r"/api/tls/"), ("BSD sockets", r"/api/bsd/"), ("stack", r"/src/"), ("C library", r"/lib[cgm]\w*\.a|libgcc"),
         ("kernel, port, board, program", r""))


def sizes():
    text = (ROOT / "build/boards/mps2-an385/tls_echo.elf.map").read_text().partition("Linker script and memory map")[2]
    found = dict.fromkeys(name for name, _ in PARTS)
    for name, size, path in re.findall(r"^ (\.(?:text|rodata|isr_vector|vectors)\S*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$", text, re.MULTILINE):
        part = next(part for part, pattern in PARTS if re.search(pattern, path))
        found[part] = (found[part] or 0) + int(size, 16)
    return found


if __name__ == "__main__":
    for part, size in sizes().items():
        print(f"{part:<30} {size or 0:>7}")
    print(f"{'all':<30} {sum(size or 0 for size in sizes().values()):>7}")
