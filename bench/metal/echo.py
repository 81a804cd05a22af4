#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Instructions that an echo costs on a Cortex-M3, into build/bench/metal.json: Weir's images and lwIP's, each with a client in place of its driver
(echo_client.c), in QEMU where an instruction takes a nanosecond. And what lwIP's images take of flash and RAM; Weir's own: `make size`.

    bench/metal/echo.py [IMAGE…]     without a name: all"""
import pathlib
import re
import subprocess
import sys

import metal_json

ROOT = pathlib.Path(__file__).resolve().parents[2]
IMAGES = {"tiny_echo": (1, 512), "tiny6_echo": (1, 512), "small_echo": (1,), "lwip_raw": (1, 512), "lwip_raw_lto": (1, 512)}   # → bytes of an echo
PEERS = ("lwip_raw", "lwip_raw_lto")


def measure(image, length):
    """(instructions an echo, bytes of stack or 0)."""
    out = subprocess.run(["timeout", "60", "qemu-system-arm", "-M", "mps2-an385", "-icount", "shift=0", "-nographic", "-monitor", "none", "-serial", "stdio",
                          "-semihosting-config", "enable=on", "-kernel", str(ROOT / f"build/metal/{image}_bench_{length}.elf")], capture_output=True, text=True).stdout
    found = re.search(r"insn (\d+) stack (\d+)", out)
    if not found:
        raise SystemExit(f"{image}: the client of {length} bytes did not come to its end: {out!r}")
    return int(found.group(1)), int(found.group(2))


def sizes(image, stack):
    """As of a linked image: code with all constants and initial data, RAM with the stack as deep as it was seen."""
    text = subprocess.run(["arm-none-eabi-size", "-A", ROOT / f"build/metal/{image}.elf"], capture_output=True, text=True, check=True).stdout
    found = {name: int(size) for name, size in re.findall(r"^\.(text|data|bss|ARM\.exidx)\s+(\d+)", text, re.M)}
    statics = found.get("data", 0) + found["bss"]
    return {"code": found["text"] + found.get("data", 0) + found.get("ARM.exidx", 0), "ram": statics + stack, "statics": statics, "stack": stack}


def main(images):
    for image in images or IMAGES:
        figures = {}
        for length in IMAGES[image]:
            figures[f"insn_{length}"], stack = measure(image, length)
            print(f"{image}: {figures[f'insn_{length}']} instructions an echo of {length} byte{'s' * (length > 1)}", flush=True)
        if image in PEERS:
            figures.update(sizes(image, stack))
            print(f"{image}: code {figures['code']}, RAM {figures['ram']}: {figures['statics']} and {stack} of stack", flush=True)
        metal_json.keep({image: figures}, (image,))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
