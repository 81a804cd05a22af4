#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sizes of the three profiles on a Cortex-M3 (gcc -Os), from build/m3: code, data, worst stack, and each object; writes
build/size.json, prints a table, and fails when config/budgets.toml is exceeded.

code    text and read-only data of every object in the library.
data    variable data of the objects (there is none) plus, for profiles without allocator, what weir_size() asks for with the
        default limits: the program that asks runs under qemu-arm.
stack   the worst sum along the call tree: each function's own frame (gcc -fstack-usage) plus its deepest callee
        (gcc -fcallgraph-info). Calls through pointers are followed as config/calls.toml says; a caller not listed there is
        reported, and recursion must be listed there with its bound (its frames are counted twice). Library routines of the compiler and libc, and the driver's and port's functions, are not counted.
core    tiny.core_code: tiny as one translation unit (weir_all.o), which is how it is meant to be built into a firmware, linked with
        --gc-sections from the public functions a server needs (config/budgets.toml, tiny.server)."""
import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/m3"
PROFILES = ("tiny", "small", "full")
WITH_IP6 = ("tiny6", "small_both", "small6", "full_both", "full6")   # of which code alone is told
WITH_OPTIONS = {"tiny_udp": ("tiny", "tiny with UDP"), "tiny6_udp": ("tiny6", "tiny6 with UDP"), "tiny6_address": ("tiny6", "tiny6, by hand"),
                "tiny6_mld1": ("tiny6", "tiny6 with MLD 1")}   # → over what, name
METAL = "arm-none-eabi-"
CONFIGURATION = r"_configuration_[0-9a-f]{6}$"   # a part of some names (include/weir/configuration.h)


def run(*command):
    return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def objects(profile):
    return [pathlib.Path(line) for line in (BUILD / profile / "objects").read_text().split()]


def sections(path):
    """(code, data) bytes of an object: what lands in flash, and what is variable."""
    code = data = 0
    for line in run(METAL + "size", "-A", path).split("\n"):
        words = line.split()
        if len(words) < 2 or not words[1].isdigit():
            continue
        name, size = words[0], int(words[1])
        if name.startswith((".text", ".rodata", ".init", ".data.rel.ro")):
            code += size
        elif name.startswith((".data", ".bss")):
            data += size
    return code, data


class CallTree:
    """Frames and calls of one profile. Static functions are told apart by their file, as gcc does."""

    def __init__(self, profile, pointers):
        self.frames, self.calls, self.pointers = {}, {}, pointers
        self.unlisted, self.recursive, self.dynamic, self.memo = set(), set(), set(), {}
        for path in objects(profile):
            self.read((ROOT / path).with_suffix(".ci").read_text())

    def read(self, text):
        for title, label in re.findall(r'node: \{ title: "([^"]*)" label: "([^"]*)"', text):
            size = re.search(r"\\n(\d+) bytes \((\w[^)]*)\)", label)
            if size:
                self.frames[title] = int(size.group(1))
                if size.group(2) == "dynamic":
                    self.dynamic.add(self.short(title))
        for source, target in re.findall(r'edge: \{ sourcename: "([^"]*)" targetname: "([^"]*)"', text):
            self.calls.setdefault(source, set()).add(target)

    @staticmethod
    def short(title):
        return re.sub(CONFIGURATION, "", title.split(":")[-1])

    def named(self, name):
        """All functions of that name: a listed callee may be static."""
        return [title for title in self.frames if self.short(title) == name]

    def callees(self, title):
        for target in self.calls.get(title, ()):
            if target != "__indirect_call":
                yield target
                continue
            if self.short(title) not in self.pointers:
                self.unlisted.add(self.short(title))
            for name in self.pointers.get(self.short(title), ()):
                yield from self.named(name)

    def worst(self, title, path=()):
        """(bytes, chain of names) of the deepest descent from here."""
        if title in path:
            self.recursive.add(self.short(title))
            return self.frames.get(title, 0), (self.short(title),)
        if title in self.memo:
            return self.memo[title]
        below = max((self.worst(target, path + (title,)) for target in self.callees(title) if target in self.frames), default=(0, ()))
        result = self.frames.get(title, 0) + below[0], (self.short(title),) + below[1]
        self.memo[title] = result
        return result

    def deepest(self):
        return max((self.worst(title) for title in self.frames), default=(0, ()))


def core_code(server):
    """Bytes of code left of tiny when only what a server calls is linked, and the calls that tiny does not have."""
    target = BUILD / "tiny/core.elf"
    carrying = {re.sub(CONFIGURATION, "", name): name for name in re.findall(r"^(\w+) T", run(METAL + "nm", "--format=posix", BUILD / "tiny/weir_all.o"), re.M)}
    server = [carrying.get(name, name) for name in server]
    run(METAL + "ld", "--gc-sections", "--unresolved-symbols=ignore-all", "-Ttext=0", "-e", server[0], *[f"--undefined={name}" for name in server],
        BUILD / "tiny/weir_all.o", "-o", target)
    missing = set(server) - set(re.findall(r"^(\w+) [^U]", run(METAL + "nm", "--format=posix", target), re.M))
    return sections(target)[0], sorted(missing)


def instance_bytes(profile):
    """What weir_size() says on the target, with default limits."""
    source, program = ROOT / "tools/instance_bytes.c", BUILD / profile / "probe"
    run(METAL + "gcc", "-std=gnu11", "-Os", "-mcpu=cortex-m3", "-mthumb", "-Iinclude", f"-DWEIR_PROFILE_{profile.upper()}", "-nostartfiles", "-static",
        "-ffunction-sections", "-Wl,--gc-sections", source, BUILD / profile / "libweir.a", "-o", program)
    return int(run("qemu-arm", program))


def measure(profile, pointers):
    sizes = {str(path.relative_to(f"build/m3/{profile}/obj/src")): sections(path) for path in objects(profile)}
    tree = CallTree(profile, pointers)
    stack, chain = tree.deepest()
    code = sum(c for c, _ in sizes.values())
    result = {"code": code, "data": sum(d for _, d in sizes.values()), "stack": stack, "stack_chain": list(chain),
              "largest_frames": [[CallTree.short(t), b] for t, b in sorted(tree.frames.items(), key=lambda item: -item[1])[:8]],
              "objects": {name: {"code": c, "data": d} for name, (c, d) in sizes.items()},
              "stack_not_followed": sorted(tree.unlisted), "recursive": sorted(tree.recursive), "dynamic_frames": sorted(tree.dynamic)}
    if profile != "full":
        try:
            result["instance"] = instance_bytes(profile)
            result["data"] += result["instance"]
        except subprocess.CalledProcessError as error:
            result["not_linked"] = sorted(set(re.findall(r"undefined reference to `(\w+)'", error.stderr)))
    return result


def show(result):
    for profile, sizes in result["profiles"].items():
        print(f"\n{profile}")
        for name, size in sorted(sizes["objects"].items()):
            print(f"    {name:<28} {size['code']:7}")
        print(f"  deepest stack: {' > '.join(sizes['stack_chain'])}")
        for title, names in (("not followed through a pointer", "stack_not_followed"), ("recursive", "recursive"), ("frame of unknown size", "dynamic_frames")):
            if sizes[names]:
                print(f"  {title}: {', '.join(sizes[names])}")
    print(f"\n{'Cortex-M3, -Os':<16}{'code':>9}{'data':>9}{'stack':>9}")
    for profile, sizes in result["profiles"].items():
        print(f"{profile:<16}{sizes['code']:>9}{sizes['data']:>9}{sizes['stack']:>9}")
    print(f"{'tiny, a server':<16}{result['tiny']['core_code']:>9}")
    for name in WITH_IP6:
        print(f"{name:<16}{result[name]['code']:>9}")
    for name, (base, title) in WITH_OPTIONS.items():
        print(f"{title:<16}{result[name]['code']:>9}   {result[name]['code'] - result[base]['code']} more than {base}, the budget {result[name]['most_over']}")


def over(result, budgets, bounded):
    problems = [f"{profile}.{key} is {result['profiles'][profile][key]}, the budget {limit}"
                for profile in PROFILES for key, limit in budgets[profile].items() if key in ("code", "data", "stack") and result["profiles"][profile][key] > limit]
    if result["tiny"]["core_code"] > budgets["tiny"]["core_code"]:
        problems.append(f"tiny.core_code is {result['tiny']['core_code']}, the budget {budgets['tiny']['core_code']}")
    for name, (base, _) in WITH_OPTIONS.items():
        if result[name]["code"] - result[base]["code"] > result[name]["most_over"]:
            problems.append(f"{name} is {result[name]['code'] - result[base]['code']} bytes of code more than {base}, the budget {result[name]['most_over']}")
    problems += [f"{name}.code is {result[name]['code']}, the budget {result[name]['budget']}" for name in WITH_IP6 if result[name]["code"] > result[name]["budget"]]
    if result["tiny"]["missing"]:
        problems.append(f"config/budgets.toml names what tiny does not have: {', '.join(result['tiny']['missing'])}")
    for profile in PROFILES:
        problems += [f"{profile}: weir_size() does not link: {', '.join(names)}" for names in [result["profiles"][profile].get("not_linked")] if names is not None]
        problems += [f"{profile}: {name} is recursive: the stack has no bound" for name in result["profiles"][profile]["recursive"] if name not in bounded]
    return problems


def main():
    budgets = tomllib.loads((ROOT / "config/budgets.toml").read_text())
    calls = tomllib.loads((ROOT / "config/calls.toml").read_text())
    pointers = calls["through_pointers"]
    code, missing = core_code(budgets["tiny"]["server"])
    result = {"target": "Cortex-M3, " + run(METAL + "gcc", "--version").split("\n")[0] + ", -Os",
              "tiny": {"core_code": code, "missing": missing}, "profiles": {p: measure(p, pointers) for p in PROFILES}}
    result["tiny"]["code"] = result["profiles"]["tiny"]["code"]
    for name in WITH_IP6:
        result[name] = {"code": sum(sections(path)[0] for path in objects(name)), "budget": budgets[name]["code"]}
    for name, (base, _) in WITH_OPTIONS.items():
        result[name] = {"code": sum(sections(path)[0] for path in objects(name)), "most_over": budgets[name][f"over_{base}"]}
    (ROOT / "build/size.json").write_text(json.dumps(result, indent=2) + "\n")
    show(result)
    problems = over(result, budgets, calls["bounded_recursion"])
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


sys.exit(main())
