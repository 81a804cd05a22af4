# SPDX-License-Identifier: BSD-2-Clause
"""Firmware in two slots, on a board: fetched by TFTP from QEMU's own server, refused, tried, confirmed, and left again."""
import os
import pathlib
import struct
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "examples/update")]
import image  # noqa: E402
from boards import Machine, elf  # noqa: E402

FOLDER = ROOT / "build/labs/update"
FACTORY = 0x300000


class Updated(Machine):
    def words(self):
        words = [word.replace("user,", f"user,tftp={FOLDER}/served,") if word.startswith("user,") else word for word in super().words()]
        return [*words, "-device", f"loader,file={FOLDER}/factory,addr={FACTORY},force-raw=on"]

    def serve(self, data):
        """At once whole, as a reader sees it."""
        (FOLDER / "new").write_bytes(data)
        os.replace(FOLDER / "new", FOLDER / "served/update.img")


@pytest.fixture(scope="module")
def body():
    return image.body(elf("mps2-an385", "update_program"))


@pytest.fixture(scope="module")
def machine(body):
    (FOLDER / "served").mkdir(parents=True, exist_ok=True)
    (FOLDER / "served/update.img").unlink(missing_ok=True)
    (FOLDER / "factory").write_bytes(image.header(body, 1) + body)
    with Updated("mps2-an385", ports=(), program="update_boot") as machine:
        machine.until("boot: slot 0, version 1")
        machine.until("program: version 1 runs on trial")
        yield machine


def test_each_step(machine, body):
    old, good = image.header(body, 1) + body, image.header(body, 2) + body
    machine.serve(old)
    machine.until("program: version 1 confirmed")
    # for another board; damaged on its way: refused, and nothing is started
    machine.serve(image.header(body, 2, board=386) + body)
    machine.until("for another board")
    machine.serve(good[:5000] + bytes([good[5000] ^ 1]) + good[5001:])
    machine.until("damaged")
    machine.serve(good)
    machine.until("program: version 2 is here")
    machine.until("boot: slot 1, version 2")
    machine.until("program: version 2 runs on trial")
    machine.until("program: version 2 confirmed")
    # its first instruction lies where none can be fetched: the board starts anew, and with what is known to work
    broken = body[:4] + struct.pack("<I", 0xe0000001) + body[8:]
    machine.serve(image.header(broken, 3) + broken)
    machine.until("boot: slot 0, version 3")
    machine.until("program: version 2 runs\n")
    machine.until("failed before")
    # an older one is no update; the next one is
    machine.serve(old)
    machine.serve(image.header(body, 4) + body)
    machine.until("boot: slot 0, version 4")
    machine.until("program: version 4 confirmed")
    assert machine.console().count("boot: ") == 6, machine.console()
