#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""No recursion in src/: the calls in the code of build/host, as objdump shows them, have no cycle. So the depth of the stack is bounded by
the length of the longest chain. Calls through a pointer are not seen: they go by the const tables of src/instance.c, one layer up."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OBJECTS = ROOT / "build/host/obj/src"
SECTION = re.compile(r"^Disassembly of section (\S+):$")
FUNCTION = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")
# A call or a jump, to a function by name or into one; a relocation below it names what the assembler did not know: a function, or a
# place in a section.
BRANCH = re.compile(r"^\s+[0-9a-f]+:\s+(call|j[a-z]+)\s+[0-9a-f]+ <([^>+]+)(?:\+0x[0-9a-f]+)?>")
RELOCATION = re.compile(r"^\s+[0-9a-f]+:\s+R_X86_64_(?:PLT32|PC32)\s+([\w.]+?)([+-]0x[0-9a-f]+)$")
PART = re.compile(r"\.(?:cold|part|isra|constprop|localalias)(?:\.\d+)?(?=\.|$)")   # pieces of a function that gcc made
# Cycles that end by themselves: a call that is not followed, and why it comes once.
ONCE = {
    ("router_netif_changed", "slaac_link_local"): "makes the interface's link-local address, unless it has one: the change that this is finds it",
    ("fragment_deliver", "ip/ip6.o:headers_input"): "a packet that was put together is refused where it is a fragment once more (PACKET_REASSEMBLED)",
}


def disassembled(path):
    return subprocess.run(["objdump", "-dr", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout.split("\n")


def calls(path, known):
    """function → what it calls, in one object. Static functions bear their object's name."""
    lines, here = disassembled(path), path.relative_to(OBJECTS)
    starts, section = {}, ""
    for line in lines:   # section → its functions, in order
        if match := SECTION.match(line):
            section = match[1]
        elif match := FUNCTION.match(line):
            starts.setdefault(section, []).append((int(match[1], 16), match[2]))

    def name_of(symbol):
        symbol = PART.sub("", symbol)
        return symbol if symbol in known else f"{here}:{symbol}"

    def target(symbol, addend):
        if symbol not in starts:
            return name_of(symbol)
        return name_of([name for start, name in starts[symbol] if start <= addend + 4][-1])   # the addend counts from the next instruction
    graph, inside, pending = {}, None, None
    for line in lines + [""]:
        relocation = RELOCATION.match(line)
        if pending:   # a jump to a function's own beginning, or into it, is a loop
            to = target(relocation[1], int(relocation[2], 16)) if relocation else pending[1]
            if to != inside or pending[0] == "call":
                graph[inside].add(to)
        pending = None
        if match := FUNCTION.match(line):
            inside = name_of(match[2])
            graph.setdefault(inside, set())
        elif match := BRANCH.match(line):
            pending = match[1], name_of(match[2])
    return graph


def cycle(graph):
    """One cycle, as the list of its functions; None: there is none."""
    state = {}
    for root in graph:
        stack = [(root, iter(sorted(graph.get(root, ()))))] if root not in state else []
        state.setdefault(root, 1)
        while stack:
            name, rest = stack[-1]
            to = next(rest, None)
            if to is None:
                state[name] = 2
                stack.pop()
            elif state.get(to) == 1:
                names = [entry[0] for entry in stack]
                return names[names.index(to):] + [to]
            elif to not in state:
                state[to] = 1
                stack.append((to, iter(sorted(graph.get(to, ())))))
    return None


def main():
    objects = sorted(OBJECTS.rglob("*.o"))
    known = set()
    for line in subprocess.run(["nm", "--defined-only", "--extern-only", "--format=posix", *objects], capture_output=True, text=True, check=True).stdout.split("\n"):
        words = line.split()
        if len(words) > 1 and words[1] in "TW":
            known.add(words[0])
    graph = {}
    for path in objects:
        for name, targets in calls(path, known).items():
            graph.setdefault(name, set()).update(to for to in targets if (name, to) not in ONCE)
    found = cycle(graph)
    if found:
        print("recursion: " + " → ".join(found))
        return 1
    if len(graph) < 500:   # a graph that is nearly empty shows nothing
        print(f"only {len(graph)} functions were found in {OBJECTS.relative_to(ROOT)}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
