# SPDX-License-Identifier: BSD-2-Clause
"""The tutorials of docs/start, as a reader follows them: the programs are taken out of the pages, the commands given in a private
namespace, one after another, and what the page says comes out must come out. A command that ends with & is left running; every
other one is given again for a minute until it succeeds, as a reader does whose server is not up yet."""
import subprocess

import pytest

from netns import ROOT, Lab, until
from tutorials import PAGES, commands, count, write

@pytest.mark.parametrize("page", PAGES)
def test_is_as_short_as_it_says(page):
    assert 10 < count(page) <= PAGES[page]
    assert f"({page}.md)" in (ROOT / "docs/start/index.md").read_text()


def has_ended(process):
    return process.poll() is not None


@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES)
def test_works(page):
    write(page)
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
