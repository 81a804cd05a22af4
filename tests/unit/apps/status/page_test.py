# SPDX-License-Identifier: BSD-2-Clause
"""page.c is what embed.py makes of page.html."""
import pathlib
import subprocess
import sys

EMBED = pathlib.Path(__file__).resolve().parents[4] / "apps/status/embed.py"


def test_page_is_small():
    """Issue 26: at most 24 KB, and nothing from elsewhere."""
    page = EMBED.with_name("page.html").read_bytes()
    assert len(page) <= 24 * 1024 and b"http:" not in page.replace(b"http://www.w3.org/2000/svg", b"") and b"https:" not in page


def test_page_is_made_of_page_html():
    done = subprocess.run([sys.executable, EMBED, "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
