#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Layers as the objects of build/host show them: an undefined symbol of an object is looked up in the object that defines it.
In src/ the definer's layer must be visible (tools/layers.py). Code outside src/ may use only what a public header declares,
drivers only what netif.h and its kin declare. And src/ has no variable data: every object's data and bss are empty."""
import pathlib
import re
import subprocess
import sys

from layers import EXEMPT, UPCALLS, VISIBLE, layer

ROOT = pathlib.Path(__file__).resolve().parent.parent
OBJECTS = ROOT / "build/host/obj"
CONFIGURATION = re.compile(r"_configuration_[0-9a-f]{6}$")   # include/weir/configuration.h
DRIVER_HEADERS = ("netif.h", "addr.h", "handler.h", "port.h", "error.h")


def declared(headers):
    """Names that these headers mention; enough, because a definition in src/ is looked for."""
    return {name for header in headers if header.exists() for name in re.findall(r"\bweir_\w+", header.read_text())}


def symbols(path):
    """(defined, undefined, variable data) of one object."""
    defined, undefined, data = set(), set(), set()
    for line in subprocess.run(["nm", "--format=posix", path], capture_output=True, text=True, check=True).stdout.split("\n"):
        if not line:
            continue
        name, kind = line.split()[:2]
        name = CONFIGURATION.sub("", name)
        if kind == "U":
            undefined.add(name)
        elif kind.isupper():
            defined.add(name)
        # A table of pointers lands in .data.rel.ro, which nm shows as d; it is constant.
        if kind in "bBC" or (kind in "dD" and not constant(path, name)):
            data.add(name)
    return defined, undefined, data


def constant(path, name):
    table = subprocess.run(["objdump", "-t", path], capture_output=True, text=True, check=True).stdout
    return any(re.search(r"\s\.data\.rel\.ro\S*\s.*\b" + re.escape(name) + "$", line) for line in table.split("\n"))


def contracts():
    """Layer → names that its own headers declare: what it offers, and what it expects from above."""
    names = {}
    for header in (ROOT / "src").rglob("*.h"):
        relative = header.relative_to(ROOT)
        if str(relative) not in EXEMPT:
            names.setdefault(layer(relative), set()).update(re.findall(r"\b(\w+)\(", header.read_text()))
    names["instance"] = set(re.findall(r"\b(\w+)\(", (ROOT / "src/instance.h").read_text()))
    return names


CONTRACTS = contracts()


def may_call(source, name, origin):
    """Whether a source of src/ may call `name`, defined in `origin`."""
    own = layer(source)
    if origin in EXEMPT or layer(origin) in VISIBLE.get(own, ()) or name in UPCALLS or name in CONTRACTS["instance"]:
        return True
    if any(name in CONTRACTS.get(visible, ()) for visible in VISIBLE.get(own, ())):
        return True
    return own in ("tcp", "socket") and name.startswith(("weir_cc_", "weir_realtime_"))   # plug-ins, through their public contract


def main():
    problems = []
    found = {}
    for path in sorted(OBJECTS.rglob("*.o")):
        source = path.relative_to(OBJECTS).with_suffix(".c")
        if source.parts[0] != "tests" and (ROOT / source).exists():
            found[str(source)] = symbols(path)
    definer = {name: source for source, (defined, _, _) in found.items() for name in defined}
    public = declared((ROOT / "include/weir").glob("*.h"))
    for_drivers = declared(ROOT / "include/weir" / name for name in DRIVER_HEADERS)
    for source, (_, undefined, data) in found.items():
        core = source.startswith("src/")
        for name in sorted(undefined):
            origin = definer.get(name)
            if origin is None or origin == source or not origin.startswith("src/"):
                continue
            if core and source not in EXEMPT and not may_call(source, name, origin):
                problems.append(f"{source} calls {name} of {origin}: {layer(source)} may not see {layer(origin)}")
            elif not core and not source.startswith(("fuzz/", "bench/")) and name not in (for_drivers if source.startswith("drivers/") else public):
                problems.append(f"{source} uses {name} of {origin}, which is not public to it")
        if core and data:
            problems.append(f"{source} has variable data: {', '.join(sorted(data))}")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
