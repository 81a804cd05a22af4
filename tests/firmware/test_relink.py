# SPDX-License-Identifier: BSD-2-Clause
"""One application with another TCP: the echo server's object, compiled once, linked with the stack's profiles full and tiny, whose TCP is
another one altogether. Both serve."""
import pathlib
import random
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import Machine, elf, exchange  # noqa: E402

BOARD = "arm-virt"
APPLICATION = f"build/boards/{BOARD}/obj/examples/firmware/echo.o"
PROFILES = {"full": "echo", "tiny": "echo_tiny"}


def functions(program):
    out = subprocess.run(["arm-none-eabi-nm", "-S", "--defined-only", elf(BOARD, program)], capture_output=True, text=True, check=True).stdout
    return {words[3]: int(words[1], 16) for words in map(str.split, out.splitlines()) if len(words) == 4 and words[2] in "tT"}


def linked(program):
    """The objects that the image is made of, as its linker tells."""
    return set(re.findall(r"^LOAD (\S+\.o)$", pathlib.Path(f"{elf(BOARD, program)}.map").read_text(), re.MULTILINE))


def test_only_the_stack_differs():
    full, tiny = (linked(program) for program in PROFILES.values())
    assert APPLICATION in full & tiny
    assert all("/src/" in name for name in full ^ tiny)
    assert not [name for name in full & tiny if "/src/" in name]
    own = ("client_event", "server_event", "main")   # of the application: the same code in each
    assert len({tuple(functions(program)[name] for name in own) for program in PROFILES.values()}) == 1


def test_the_profiles_are_what_they_say():
    assert any(name.endswith("src/compact/conn.o") for name in linked("echo_tiny")) and not any("/src/tcp/" in name for name in linked("echo_tiny"))
    sizes = {profile: sum(functions(program).values()) for profile, program in PROFILES.items()}
    assert 2 * sizes["tiny"] < sizes["full"]


@pytest.mark.parametrize("profile", PROFILES)
def test_each_serves(profile):
    data = random.Random(3).randbytes(200_000)
    with Machine(BOARD, program=PROFILES[profile], log=ROOT / f"build/boards/{BOARD}/relink.{profile}.log") as machine:
        machine.until("echo on port 7")
        for _ in range(3):
            with machine.connect(7) as connection:
                connection.sendall(b"w")
                assert connection.recv(1) == b"w"
        with machine.connect(7) as connection:
            assert exchange(connection, data) == data
