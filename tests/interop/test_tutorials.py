# SPDX-License-Identifier: BSD-2-Clause
"""The tutorials of docs/start, as a reader follows them: the programs are taken out of the pages, the commands given in a private
namespace, one after another, and what the page says comes out must come out. A command that ends with & is left running; every
other one is given again for a minute until it succeeds, as a reader does whose server is not up yet."""
import pathlib
import re
import subprocess

import pytest

from netns import ROOT, Lab, until

PAGES = {"sockets": 20, "native": 30, "microcontroller": 60, "congestion-control": 20, "simulation": 20}   # lines at most
FENCE = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
NOT_COUNTED = re.compile(r"\s*[{}]*\s*$|#|(static )?\w.*\)$")   # blank lines, braces, the preprocessor's, heads of functions


def blocks(page):
    return FENCE.findall((ROOT / f"docs/start/{page}.md").read_text())


def programs(page):
    """By name; pieces of one name are one program."""
    found = {}
    for language, name, text in blocks(page):
        if language == "c":
            found[name] = found.get(name, "") + text
    return found


def commands(page):
    """(the command, what the page says it prints or None, whether it stays)."""
    found = []
    for language, _, text in blocks(page):
        if language == "sh":
            for line in text.replace("\\\n", "").splitlines():
                line = line.replace("sudo ", "").strip()
                found.append((line.removesuffix("&"), None, line.endswith("&")))
        elif language == "text":
            found[-1] = (found[-1][0], text, False)
    return found


@pytest.mark.parametrize("page", PAGES)
def test_is_as_short_as_it_says(page):
    lines = "".join(programs(page).values()).splitlines()
    counted = [line for line in lines if not NOT_COUNTED.match(line)]
    assert 10 < len(counted) <= PAGES[page]
    assert f"({page}.md)" in (ROOT / "docs/start/index.md").read_text()


def has_ended(process):
    return process.poll() is not None


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES)
def test_works(page):
    for name, text in programs(page).items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with Lab() as lab:
        here, running, said = lab.namespace("reader"), [], ""

        def given(command, output):
            nonlocal said
            assert not any(map(has_ended, running)), [process.output() for process in running]
            done = subprocess.run([*here.enter(), "bash", "-c", command], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
            said = done.stdout + done.stderr
            return done.returncode == 0 and output in (None, done.stdout)

        here.up("lo")
        for command, output, stays in commands(page):
            if stays:
                running.append(here.start("bash", "-c", f"exec {command}", cwd=ROOT))
            else:
                assert until(lambda: given(command, output), 60, 0.5), f"{command}\n{said}"
