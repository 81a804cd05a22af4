# SPDX-License-Identifier: BSD-2-Clause
"""page.c is what embed.py makes of page.html."""
import pathlib
import subprocess
import sys

EMBED = pathlib.Path(__file__).resolve().parents[4] / "apps/status/embed.py"


def test_page_is_made_of_page_html():
    done = subprocess.run([sys.executable, EMBED, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
