#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Makes include/weir/options.h and docs/options.md from config/options.toml. --check only compares."""
import argparse
import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILES = ("tiny", "small", "full")


def header(options):
    out = ["// SPDX-License-Identifier: BSD-2-Clause",
           "// Made by tools/options.py from config/options.toml: change that file, then run `make options`.",
           "// Choose a profile with -DWEIR_PROFILE_TINY, -DWEIR_PROFILE_SMALL or (default) -DWEIR_PROFILE_FULL; override with -DWEIR_CFG_NAME=value.",
           "#ifndef WEIR_OPTIONS_H", "#define WEIR_OPTIONS_H", ""]
    for index, profile in enumerate(PROFILES):
        condition = f"defined(WEIR_PROFILE_{profile.upper()})"
        out.append(f"#if {condition}" if index == 0 else f"#elif {condition}" if index == 1 else "#else")
        out += [f"#define WEIR_DEFAULT_{name} {option[profile]}" for name, option in options.items()]
    out += ["#endif", ""]
    for name, option in options.items():
        out += [f"#ifndef WEIR_CFG_{name}  // {option['doc']}", f"#define WEIR_CFG_{name} WEIR_DEFAULT_{name}", "#endif",
                f"#if WEIR_CFG_{name} < {option['min']} || WEIR_CFG_{name} > {option['max']}",
                f'#error "WEIR_CFG_{name} must be {option["min"]} to {option["max"]}: {option["doc"]}"', "#endif"]
    for name, option in options.items():
        for other in option.get("needs", []):
            out += [f"#if WEIR_CFG_{name} && !WEIR_CFG_{other} && !WEIR_CFG_COMPACT", f'#error "WEIR_CFG_{name} needs WEIR_CFG_{other}"', "#endif"]
    return "\n".join(out + ["", "#endif", ""])


def needs(option):
    others = option.get("needs", [])
    return f"; needs {' and '.join('WEIR_CFG_' + other for other in others)}" if others else ""


def table(options):
    out = ["# Build options", "", "Made by `make options` from config/options.toml. Override with `-DWEIR_CFG_NAME=value`.", "",
           "| option | tiny | small | full | range | cost | meaning |", "| --- | --- | --- | --- | --- | --- | --- |"]
    for name, o in options.items():
        out.append(f"| WEIR_CFG_{name} | {o['tiny']} | {o['small']} | {o['full']} | {o['min']}–{o['max']} | {o['cost']} | {o['doc']}{needs(o)} |")
    return "\n".join(out + [""])


def left_out(options, profile, overrides):
    """The src/ files that a profile leaves out; a name with a slash at its end means the C files of that folder. A file that several
    features share is in as soon as one of them is."""
    on = {name: overrides.get(name, option[profile]) for name, option in options.items()}
    shared = {path for name, option in options.items() if on[name] for path in option.get("files", [])}
    for name, option in options.items():
        for path in option.get("files_when_zero" if on[name] else "files", []):
            if on[name] or path not in shared:
                yield from (str(file.relative_to(ROOT)) for file in sorted((ROOT / path).glob("*.c"))) if path.endswith("/") else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail when a made file differs from the table")
    parser.add_argument("--sources", metavar="PROFILE", help="print the src/ files that PROFILE leaves out")
    parser.add_argument("overrides", nargs="*", metavar="NAME=VALUE", help="options that an image sets otherwise than its profile")
    arguments = parser.parse_args()
    options = tomllib.loads((ROOT / "config/options.toml").read_text())
    if arguments.sources:
        overrides = {name: int(value) for name, _, value in (word.partition("=") for word in arguments.overrides)}
        print("\n".join(left_out(options, arguments.sources, overrides)))
        return 0
    stale = 0
    for path, text in ((ROOT / "include/weir/options.h", header(options)), (ROOT / "docs/options.md", table(options))):
        if arguments.check:
            if not path.exists() or path.read_text() != text:
                print(f"{path.relative_to(ROOT)} differs from config/options.toml: run `make options`")
                stale = 1
        else:
            path.write_text(text)
    return stale


sys.exit(main())
