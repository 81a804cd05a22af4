#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What a program with TLS costs on a Cortex-M3: code and constants of each part of build/boards/mps2-an385/PROGRAM.elf, by its linker map, and its RAM.
usage: tls_size.py [PROGRAM] (tls_echo or thermostat, after `make tls-firmware`)"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PARTS = (("Mbed TLS", r"libmbedtls"), ("back end", r"/api/tls/mbedtls/"), ("contract (api/tls)", r"/api/tls/"), ("BSD sockets", r"/api/bsd/"),
         ("services (apps)", r"/apps/"), ("stack", r"/src/"), ("C library", r"/lib[cgm]\w*\.a|libgcc"), ("kernel, port, board, program", r""))


def elf(program):
    return ROOT / f"build/boards/mps2-an385/{program}.elf"


def sizes(program):
    text = elf(program).with_suffix(".elf.map").read_text().partition("Linker script and memory map")[2]
    found = dict.fromkeys((name for name, _ in PARTS), 0)
    for name, size, path in re.findall(r"^ (\.(?:text|rodata|isr_vector|vectors)\S*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+)$", text, re.MULTILINE):
        found[next(part for part, pattern in PARTS if re.search(pattern, path))] += int(size, 16)
    return found


def image(program):
    """(code and constants, RAM) of the whole image; the RAM is all that it ever has: stack, instance, TLS's memory."""
    text, data, bss = map(int, subprocess.run(["arm-none-eabi-size", elf(program)], capture_output=True, text=True, check=True).stdout.split("\n")[1].split()[:3])
    return text + data, data + bss


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "tls_echo"
    for part, size in sizes(chosen).items():
        print(f"{part:<30} {size:>7}")
    code, ram = image(chosen)
    print(f"{'all':<30} {code:>7}\n{'RAM':<30} {ram:>7}")
