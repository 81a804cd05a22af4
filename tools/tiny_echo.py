#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The sizes of tiny_echo: adds tiny_echo.code and tiny_echo.ram to build/size.json. (What an echo costs: bench/metal/echo.py.)

code    .text with the vectors and all constants, of the linked image (gcc -Os -flto, sections collected).
ram     .data, .bss and the stack. The stack is the worst sum of frames along the call tree as the image's own instructions show it (pushes and
        sub sp), calls through pointers as listed below, and one interrupt: 32 bytes that the CPU stacks and the handler's frame."""
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
METAL = "arm-none-eabi-"
IMAGE = ROOT / "build/metal/tiny_echo.elf"
# What a call through a pointer may reach in this image; a caller that is not listed may reach all of them.
POINTERS = {"stack_input": ["memory_mac_poll"], "memory_mac_poll": [], "frame_send": ["memory_mac_tx"], 
            "memory_mac_tx": [], "weir_dispatch": ["event"], "run": ["EchoServerTask"], "stack_output": ["memory_mac_tx"],
            "coop_timeout": ["board_now_us"], "EchoServerTask": ["board_now_us"],
            "reset_handler": ["board_now_us", "board_sleep", "stack_input", "stack_output", "entropy"],
            "coop_round": ["stack_input", "stack_output", "board_now_us"], "deadlines": [], "driver_timers": [], "outbox_send": ["memory_mac_tx"], "weir_create": ["entropy"], "romantiki_wait": []}
INTERRUPTS = ["systick_handler"]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], cwd=ROOT, capture_output=True, text=True, check=True, **options).stdout


def functions():
    """name → (bytes of frame, names called, whether it calls through a pointer)."""
    found, name = {}, None
    for line in run(METAL + "objdump", "-d", "--no-show-raw-insn", IMAGE).split("\n"):
        line = re.sub("_configuration_[0-9a-f]{6}", "", line)   # of weir_create
        title = re.match(r"[0-9a-f]+ <([^>]+)>:", line)
        if title:
            name = title.group(1).split(".")[0]
            found.setdefault(name, [0, set(), False])
        words = re.match(r"\s+[0-9a-f]+:\s+(\S+)\s*(.*)", line)
        if not words or not name:
            continue
        operation, rest = words.groups()
        entry = found[name]
        if operation in ("push", "push.w") or (operation.startswith("stmdb") and rest.startswith("sp!")):
            registers = rest[rest.index("{") + 1:rest.index("}")].split(",")
            entry[0] += 4 * sum(span(register.strip()) for register in registers)
        elif operation.startswith("str") and "[sp, #-" in rest and rest.endswith("!"):
            entry[0] += int(re.search(r"#-(\d+)", rest).group(1))
        elif operation.startswith("sub") and rest.startswith("sp,"):
            entry[0] += int(re.search(r"#(\d+)", rest).group(1))
        elif operation.startswith("blx"):
            entry[2] = True
        elif operation.startswith("b") and not operation.startswith(("bic", "bfc", "bfi", "bkpt")):
            if operation.startswith("bx") and rest.strip() not in ("lr",):
                entry[2] = True
            target = re.search(r"<([^>+]+)>", rest)
            if target and target.group(1).split(".")[0] != name:
                entry[1].add(target.group(1).split(".")[0])
    return found


def span(register):
    if "-" not in register:
        return 1
    first, last = (int({"sl": "r10", "fp": "r11"}.get(end, end)[1:]) for end in register.split("-"))
    return last - first + 1


def deepest(found, name, path=()):
    if name not in found or name in path:
        return 0, ()
    frame, called, indirect = found[name]
    everything = sorted({target for targets in POINTERS.values() for target in targets})
    targets = called | set(POINTERS.get(name, everything) if indirect else ())
    below = max((deepest(found, target, path + (name,)) for target in targets), default=(0, ()))
    return frame + below[0], (name, *below[1])


def add(path, figures):
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = json.loads(path.read_text()) if path.exists() else {}
    whole.setdefault("tiny_echo", {}).update(figures)
    path.write_text(json.dumps(whole, indent=2) + "\n")


def size():
    sections = dict(re.findall(r"^\.(text|data|bss|stack|ARM\.exidx)\s+(\d+)", run(METAL + "size", "-A", IMAGE), re.M))
    code = sum(int(sections.get(name, 0)) for name in ("text", "data", "ARM.exidx"))
    found = functions()
    stack, chain = deepest(found, "reset_handler")
    interrupt = max(32 + 4 + deepest(found, name)[0] for name in INTERRUPTS)
    statics, given = int(sections.get("data", 0)) + int(sections["bss"]), int(sections["stack"])
    add(ROOT / "build/size.json", {"code": code, "ram": statics + given, "statics": statics, "stack": stack + interrupt, "stack_given": given})
    print(f"tiny_echo: code {code}, RAM {statics + given}: {statics} and a stack of {given}, of which {stack} + {interrupt} (interrupt) are used at the most")
    print(f"  deepest: {' > '.join(chain)}")
    problems = []
    if stack + interrupt > given:
        problems.append(f"tiny_echo's stack needs {stack + interrupt} bytes, boards/memory_mac/link.ld gives it {given}")
    for name, value, most in (("code", code, 9216), ("ram", statics + given, 4096)):
        if value > most:
            problems.append(f"tiny_echo.{name} is {value}, the budget {most}")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(size() if sys.argv[1:] == ["size"] else "usage: tools/tiny_echo.py size     (instructions an echo: make bench-echo)")
