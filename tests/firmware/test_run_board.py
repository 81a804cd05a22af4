# SPDX-License-Identifier: BSD-2-Clause
"""`make run BOARD=name` of every board: boots it on a TAP with Linux at work against it, and says of every step that it worked."""
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import BOARDS  # noqa: E402

ON_TAP, WITHOUT = ("ping", "echo", "connections", "curl", "the cable pulled"), ("echo", "connections", "curl")


@pytest.mark.parametrize("board", BOARDS)
def test_every_step_works(board):
    done = subprocess.run([sys.executable, ROOT / "tools/run_board.py", board, "--once"], capture_output=True, text=True, timeout=220)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = [step for step in (WITHOUT if "no TAP is permitted" in done.stdout else ON_TAP) if step != "curl" or BOARDS[board].program == "services"]
    assert [line[8:32].strip() for line in done.stdout.splitlines() if line.startswith("  ok    ")] == steps
    assert done.stdout.endswith("every step worked\n")
