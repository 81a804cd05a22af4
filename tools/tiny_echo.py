#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The sizes of tiny_echo and tiny6_echo: adds tiny_echo.code, tiny_echo.ram and so on to build/size.json. (What an echo costs: bench/metal/echo.py.)

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
BUDGETS = {"tiny_echo": {"code": 9216, "ram": 4096}, "tiny6_echo": {"code": 11264, "ram": 5120}}
# What a call through a pointer may reach in these images; a caller that is not listed may reach all of them.
POINTERS = {"stack_input": ["memory_mac_poll"], "memory_mac_poll": [], "frame_send": ["memory_mac_tx"], 
            "memory_mac_tx": [], "weir_dispatch": ["event"], "run": ["EchoServerTask"], "stack_output": ["memory_mac_tx"],
            "coop_timeout": ["board_now_us"], "EchoServerTask": ["board_now_us"],
            "reset_handler": ["board_now_us", "board_sleep", "stack_input", "stack_output", "entropy"],
            "coop_round": ["stack_input", "stack_output", "board_now_us"], "deadlines": [], "driver_timers": [], "outbox_send": ["memory_mac_tx"], "weir_create": ["entropy"], "romantiki_wait": [],
            "jitter": ["entropy"], "group_filter": []}
INTERRUPTS = ["systick_handler"]


def run(*words, **options):
    return subprocess.run([str(word) for word in words], cwd=ROOT, capture_output=True, text=True, check=True, **options).stdout


def elf(image):
    return ROOT / f"build/metal/{image}.elf"


def functions(image):
    """name → (bytes of frame, names called, whether it calls through a pointer)."""
    found, name = {}, None
    for line in run(METAL + "objdump", "-d", "--no-show-raw-insn", elf(image)).split("\n"):
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


def add(path, image, figures):
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = json.loads(path.read_text()) if path.exists() else {}
    whole.setdefault(image, {}).update(figures)
    path.write_text(json.dumps(whole, indent=2) + "\n")


def size(image):
    """Whether all is within its budget."""
    sections = dict(re.findall(r"^\.(text|data|bss|stack|ARM\.exidx)\s+(\d+)", run(METAL + "size", "-A", elf(image)), re.M))
    code = sum(int(sections.get(name, 0)) for name in ("text", "data", "ARM.exidx"))
    found = functions(image)
    stack, chain = deepest(found, "reset_handler")
    interrupt = max(32 + 4 + deepest(found, name)[0] for name in INTERRUPTS)
    statics, given = int(sections.get("data", 0)) + int(sections["bss"]), int(sections["stack"])
    add(ROOT / "build/size.json", image, {"code": code, "ram": statics + given, "statics": statics, "stack": stack + interrupt, "stack_given": given})
    print(f"{image}: code {code}, RAM {statics + given}: {statics} and a stack of {given}, of which {stack} + {interrupt} (interrupt) are used at the most")
    print(f"  deepest: {' > '.join(chain)}")
    problems = []
    if stack + interrupt > given:
        problems.append(f"{image}'s stack needs {stack + interrupt} bytes, boards/memory_mac/link.ld gives it {given}")
    for name, value in (("code", code), ("ram", statics + given)):
        if value > BUDGETS[image][name]:
            problems.append(f"{image}.{name} is {value}, the budget {BUDGETS[image][name]}")
    print("\n".join(problems), end="\n" if problems else "")
    return not problems


if __name__ == "__main__":
    sys.exit(0 if all([size(image) for image in BUDGETS]) else 1) if sys.argv[1:] == ["size"] else sys.exit("usage: tools/tiny_echo.py size     (instructions an echo: make bench-echo)")
