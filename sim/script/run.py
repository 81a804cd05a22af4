#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Runs conversation scripts in packetdrill's language against Weir in virtual time.

usage: python3 sim/script/run.py [options] FILE-OR-FOLDER…
  --program=PATH         what plays them; build/host/weir-script (build it with `make build/host/weir-script`)
  --strict               the suite's rules: nothing may be sent that is not in the script, nothing is skipped, times within 1 ms
  --ip_version=ipv4      or ipv6, or ipv4-mapped-ipv6 (IPv6 sockets, IPv4 packets); a script whose head names another is left out
  --local_ip=… and all options that a script's head may have: the defaults for every script
  -D NAME=VALUE, --define NAME=VALUE
Exit status 1 when a script failed."""
import copy
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent))
from sim.script import OtherVersion, ScriptError, Skip    # noqa: E402
from sim.script.parser import parse         # noqa: E402
from sim.script.player import Player        # noqa: E402
from sim.script.settings import Config, take_command, take_option   # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STRICT_TOLERANCE = 1000     # µs: virtual time has no jitter
LENIENT_PERCENT = 12.5      # packetdrill's own


def run_one(path, program, config, defines, strict):
    """("passed", "") | ("skipped", why) | ("failed", text)."""
    config = copy.copy(config)
    try:
        script = parse(path.read_text(errors="replace"), defines)
        for name, value, line in script.options:
            take_option(config, name, value, line)
        for line, text in script.init:
            take_command(config, text, line)
        config.complete()
        Player(program, config, script, strict).play()
    except OtherVersion as error:
        return "other", f"{shown(path)}:{error.line}: {error.text}"
    except Skip as error:
        return ("failed" if strict else "skipped"), f"{shown(path)}:{error.line or 1}: {'needs ' if strict else ''}{error.text}"
    except ScriptError as error:
        return "failed", f"{shown(path)}:{error.line or 1}: {error.text}"
    return "passed", ""


def shown(path):
    try:
        return path.resolve().relative_to(pathlib.Path.cwd())
    except ValueError:
        return path


def find(names):
    for name in names:
        path = pathlib.Path(name)
        if path.is_dir():
            yield from sorted(path.rglob("*.pkt"))
        else:
            yield path


def arguments(words):
    program, strict, names, config, defines = ROOT / "build/host/weir-script", False, [], Config(), {}
    config.tolerance_percent = LENIENT_PERCENT
    words = list(words)
    while words:
        word = words.pop(0)
        name, _, value = word.lstrip("-").partition("=")
        if word in ("-D", "--define"):
            key, _, replacement = words.pop(0).partition("=")
            defines[key] = replacement
        elif word in ("-h", "--help"):
            print(__doc__)
            sys.exit(0)
        elif word.startswith("--program="):
            program = pathlib.Path(value)
        elif word == "--strict":
            strict = True
            config.tolerance, config.tolerance_percent = STRICT_TOLERANCE, 0.0
        elif word.startswith("--"):
            take_option(config, name, value, 0)
        else:
            names.append(word)
    return program, strict, names, config, defines


def main():
    program, strict, names, config, defines = arguments(sys.argv[1:])
    if not names:
        sys.exit(__doc__)
    if not program.exists():
        subprocess.run(["make", "-s", f"build/{program.parent.name}/weir-script"], cwd=ROOT, check=True)
    counts, begun = {"passed": 0, "failed": 0, "skipped": 0, "other": 0}, time.monotonic()
    for path in find(names):
        if not path.is_file():
            sys.exit(f"there is no file {path}")
        result, text = run_one(path, str(program), config, defines, strict)
        counts[result] += 1
        if result == "other" and strict:
            continue
        print({"passed": " ok   ", "failed": "FAIL  ", "skipped": "skip  ", "other": "other "}[result] + str(shown(path)) + (f"\n      {text}" if text else ""), flush=True)
    others = f", {counts['other']} for another version of IP" if counts["other"] else ""
    print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped{others} ({time.monotonic() - begun:.1f} s)")
    return 1 if counts["failed"] or not sum(counts.values()) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ScriptError as error:
        sys.exit(f"{error.text}")
