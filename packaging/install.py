#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Installs what `make lib` built: libraries, headers, and the files by which pkg-config and CMake find them. (make install, make uninstall)"""
import argparse
import os
import pathlib
import re
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from configuration import parts, version  # noqa: E402

TEMPLATES = ROOT / "packaging"


def fill(template, values):
    return re.sub(r"@(\w+)@", lambda match: values[match.group(1)], (TEMPLATES / template).read_text())


def headers_of(part):
    """The folder, below the includes' one, from which a part's headers are named."""
    return "" if part is None else "/weir/parts" + ("" if part["include"] == "." else "/" + part["include"])


def pc(name, about, part, where):
    uses = [] if part is None else ["weir"] + [f"weir-{used}" for used in part.get("uses", [])]
    below = {key: "${prefix}" + where[key].removeprefix(where["prefix"]) if where[key].startswith(where["prefix"] + "/") else where[key] for key in ("libdir", "includedir")}
    return fill("weir.pc.in", {**where, **below, "name": name, "about": about, "version": version(), "requires": ", ".join(uses),
                               "cflags": "-I${includedir}" + headers_of(part), "libraries": " ".join((part or {}).get("libraries", []))})


def cmake(built, names, where):
    """The two files of CMake's package; their paths are relative to the folder they lie in."""
    folder = where["libdir"] + "/cmake/weir"
    lines = []
    for name in names:
        part = parts()[name]
        needed = ["weir::weir"] + [f"weir::{used}" for used in part.get("uses", [])] + part.get("libraries", [])
        lines.append(f'_weir_part({name} weir-{name} "{headers_of(part)}" {" ".join(needed)})')
    values = {"version": version(), "profile": built, "targets": "\n".join(lines), "parts": " ".join(names),
              "to_includedir": os.path.relpath(where["includedir"], folder), "to_libdir": os.path.relpath(where["libdir"], folder)}
    return {f"{folder}/{name}": fill(f"cmake/{name}.in", values) for name in ("weir-config.cmake", "weir-config-version.cmake")}


def plan(arguments):
    """Where each thing goes: path → the file to copy, or the text."""
    where = {"prefix": arguments.prefix, "libdir": arguments.libdir, "includedir": arguments.includedir}
    built, names = pathlib.Path(arguments.built), arguments.parts
    things = {f"{arguments.libdir}/{path.name}": path for path in (built / f"libweir{suffix}.a" for suffix in ["", *[f"-{name}" for name in names]])}
    public = [*(built / "include/weir").glob("*.h")] + [path for name in names if (path := built / f"include/weir/linkage/{name}.h").exists()]
    for path in public + [built / "include/weir/parts" / header for name in names for header in arguments.headers if header.startswith(tuple(parts()[name]["headers"]))]:
        things[f"{arguments.includedir}/{path.relative_to(built / 'include')}"] = path
    things[f"{arguments.includedir}/weir_memory.h"] = built / "include/weir_memory.h"
    things[f"{arguments.libdir}/pkgconfig/weir.pc"] = pc("weir", "TCP/IP stack for embedded systems", None, where)
    for name in names:
        things[f"{arguments.libdir}/pkgconfig/weir-{name}.pc"] = pc(f"weir-{name}", parts()[name]["about"], parts()[name], where)
    if "shell" in names:
        things[f"{arguments.prefix}/bin/weir-extcap"] = ROOT / "tools/weir_extcap.py"
    return {**things, **cmake(arguments.profile, names, where)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("built", help="the folder that `make lib` wrote")
    parser.add_argument("--uninstall", action="store_true")
    for name in ("prefix", "libdir", "includedir", "destdir", "profile"):
        parser.add_argument(f"--{name}", default="")
    parser.add_argument("--parts", nargs="*", default=[])
    parser.add_argument("--headers", nargs="*", default=[])
    arguments = parser.parse_args()
    for target, content in plan(arguments).items():
        path = pathlib.Path(arguments.destdir + target)
        if arguments.uninstall:
            path.unlink(missing_ok=True)
            for folder in path.parents:
                if folder.name in ("weir", "parts") or "weir" in folder.parts:
                    try:
                        folder.rmdir()
                    except OSError:
                        break
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            path.write_text(content)
        else:
            shutil.copyfile(content, path)
        path.chmod(0o755 if path.parent.name == "bin" else 0o644)
    print(f"  {'gone from' if arguments.uninstall else 'installed below'} {arguments.destdir}{arguments.prefix}")


main()
