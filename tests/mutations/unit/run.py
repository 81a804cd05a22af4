#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Shows that unit tests can fail: each patch here plants a fault into src/. Its first line says which, its second which test catches it.
Each is applied to a copy of the tree, that test's program is built from it, and it must fail; without a patch it must pass.

usage: tests/mutations/unit/run.py [--check] [NAME…]
  --check   only: each patch names a test that there is"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent.parent
COPY = ROOT / "build/mutations/unit"
NOT_NEEDED = {"build", "docs", "bench", "lab", "examples", "boards", ".git"}
SECONDS = 120   # a program that hangs has failed, too
for variable in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):
    os.environ.pop(variable, None)


def test_of(patch):
    """The path of the test that a patch names, or None."""
    named = re.match(r"Caught by (tests/unit/\S+_test\.c)$", patch.read_text().split("\n")[1])
    return named[1] if named and (ROOT / named[1]).is_file() else None


def program_of(test):
    return "build/host/tests/" + test.removeprefix("tests/unit/").removesuffix("_test.c")


def copy(path):
    target = COPY / path.relative_to(ROOT)
    if not target.exists() or target.read_bytes() != path.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)   # with a new time: make builds it again
        shutil.copymode(path, target)


def prepare():
    """The copy, brought up to date; what did not change keeps its time, so that little is built."""
    listing = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = {name for name in listing.split("\n") if name and name.split("/")[0] not in NOT_NEEDED and (ROOT / name).is_file()}
    for name in files:
        copy(ROOT / name)
    for path in COPY.rglob("*"):
        name = str(path.relative_to(COPY))
        if path.is_file() and name not in files and not name.startswith("build/"):
            path.unlink()


def apply(patch):
    """Empty, or what git said."""
    done = subprocess.run(["git", "apply", "--recount", str(patch)], cwd=COPY, capture_output=True, text=True,
                          env={**os.environ, "GIT_CEILING_DIRECTORIES": str(COPY.parent)})
    return done.stderr.strip() if done.returncode else ""


def build(program):
    done = subprocess.run(["make", "-s", program], cwd=COPY, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{program} does not build:\n{done.stderr[-2000:]}"


def play(program):
    """(whether it failed, the names of the tests that did)"""
    try:
        done = subprocess.run([program], cwd=COPY, capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return True, ["it hangs"]
    names = re.findall(r"^\[  FAILED  \] (\w+)$", done.stdout + done.stderr, re.MULTILINE)
    return done.returncode != 0, sorted(set(names)) or [f"exit status {done.returncode}"]


def try_one(patch):
    """(caught, text)"""
    told = apply(patch)
    if told:
        return False, f"does not apply: {told}"
    told = build(program_of(test_of(patch)))
    if told:
        return False, told
    failed, names = play(program_of(test_of(patch)))
    return failed, ("caught by " + ", ".join(names)) if failed else f"NOT CAUGHT by {test_of(patch)}"


def whole(patches):
    """What is wrong without any fault."""
    for test in sorted({test_of(patch) for patch in patches}):
        told = build(program_of(test))
        if told:
            return told
        failed, names = play(program_of(test))
        if failed:
            return f"{test} fails without a fault: {', '.join(names)}"
    return ""


def main():
    names = [word for word in sys.argv[1:] if word != "--check"]
    patches = [patch for patch in sorted(HERE.glob("*.patch")) if not names or patch.stem in names]
    nameless = [f"{patch.relative_to(ROOT)}: its second line must be 'Caught by' and the path of a unit test" for patch in patches if not test_of(patch)]
    if nameless or not patches:
        sys.exit("\n".join(nameless) or f"no such patch: {' '.join(names)}")
    if "--check" in sys.argv[1:]:
        return 0
    begun, missed = time.monotonic(), []
    prepare()
    print("building …", flush=True)
    told = whole(patches)
    if told:
        sys.exit(told)
    for patch in patches:
        caught, text = try_one(patch)
        prepare()
        if not caught:
            missed.append(patch.stem)
        print(f"{' ok ' if caught else 'FAIL'}  {patch.stem:<18} {text}", flush=True)
    print(f"{len(patches) - len(missed)} passed, {len(missed)} failed ({time.monotonic() - begun:.0f} s)")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
