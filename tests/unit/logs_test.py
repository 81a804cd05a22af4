# SPDX-License-Identifier: BSD-2-Clause
"""Two demonstrations at once (`make run`) do not touch each other's logs."""
import subprocess
import sys

from logs import claim

ANOTHER = "import pathlib, sys; from logs import claim; print(claim(pathlib.Path(sys.argv[1])).name, flush=True); sys.stdin.read()"


def test_each_run_has_a_folder_of_its_own(tmp_path):
    folder = claim(tmp_path / "run")
    (folder / "log").write_text("of the first")
    words = [sys.executable, "-c", ANOTHER, tmp_path / "run"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as second:
        assert second.stdout.readline() == "run-2\n"
        third = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert third.stdout == "run-3\n"
        second.communicate("")
    assert (folder / "log").read_text() == "of the first"
    again = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert again.stdout == "run-2\n"    # which is free again
