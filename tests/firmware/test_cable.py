# SPDX-License-Identifier: BSD-2-Clause
"""The cable of every board of QEMU's pulled and put back (QEMU's set_link, so a card that can tell does) while data is under way in both directions: nothing
moves meanwhile, everything arrives afterwards, and the board is there for new connections. Without privileges: QEMU's user-mode network, whose TCP
is at the other end."""
import json
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from boards import ADDRESS, BOARDS, HOST, ROOT, Machine, command, exchange  # noqa: E402

# A model of our own has no set_link.
QEMUS = [name for name, board in BOARDS.items() if not board.model]
OUT_S, BACK_S = 2, 60
CHUNK = 500   # once in a while, so that the transfer lasts beyond the cable


class Cabled(Machine):
    def __init__(self, board):
        super().__init__(board, log=ROOT / f"build/boards/{board}/echo.cable.log")
        self.folder = tempfile.TemporaryDirectory()

    def words(self):
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{here}-{ADDRESS}:{there}" for there, here in self.ports.items())
        name = "" if BOARDS[self.board].device else ",id=net0"   # where -device names it the back end has that name already
        return [*command(self.board, f"user{name},net=10.0.0.0/24,host={HOST},dhcpstart={ADDRESS}{forwards}", self.program),
                "-qmp", f"unix:{self.folder.name}/qmp,server=on,wait=off"]

    def __enter__(self):
        super().__enter__()
        self.until("echo on port 7")
        line = socket.socket(socket.AF_UNIX)
        line.connect(f"{self.folder.name}/qmp")
        self.control = line.makefile("rw")
        self.control.readline()
        self.ask("qmp_capabilities")
        return self

    def __exit__(self, *words):
        super().__exit__(*words)
        self.folder.cleanup()

    def ask(self, what, **arguments):
        self.control.write(json.dumps({"execute": what, "arguments": arguments}) + "\n")
        self.control.flush()
        while "event" in (answer := json.loads(self.control.readline())):
            pass
        assert "return" in answer, answer

    def cable(self, there):
        self.ask("set_link", name="net0", up=there)


class Conversation(threading.Thread):
    """Sends all the while, and keeps what comes back."""

    def __init__(self, connection, data):
        super().__init__(daemon=True)
        self.connection, self.data, self.got, self.stop = connection, data, b"", threading.Event()
        self.sender = threading.Thread(target=self.send, daemon=True)
        self.sent = 0

    def send(self):
        while not self.stop.is_set() and self.sent < len(self.data):
            self.sent += self.connection.send(self.data[self.sent:self.sent + CHUNK])
            time.sleep(0.002)
        self.connection.shutdown(socket.SHUT_WR)

    def quiet(self):
        """How much has come when no more does, as long as the cable is out: something was on its way from QEMU to here."""
        last, since = len(self.got), time.monotonic()
        deadline = since + 60
        while time.monotonic() < since + OUT_S:
            assert time.monotonic() < deadline, "it never stops"
            time.sleep(0.01)
            if len(self.got) != last:
                last, since = len(self.got), time.monotonic()
        return last

    def run(self):
        self.sender.start()
        while some := self.connection.recv(65536):
            self.got += some


@pytest.mark.parametrize("board", QEMUS)
def test_the_conversation_goes_on(board):
    data = random.Random(5).randbytes(4_000_000)
    with Cabled(board) as machine:
        with machine.connect(7, timeout=60) as connection:
            conversation = Conversation(connection, data)
            conversation.start()
            while len(conversation.got) < 50_000:
                assert conversation.is_alive()
                time.sleep(0.01)
            machine.cable(False)
            before = conversation.quiet()
            assert before < conversation.sent
            machine.cable(True)
            deadline = time.monotonic() + BACK_S
            while len(conversation.got) < before + 50_000:
                assert conversation.is_alive() and time.monotonic() < deadline
                time.sleep(0.01)
            conversation.stop.set()
            conversation.join(60)
            assert not conversation.is_alive() and conversation.got == data[:conversation.sent]
        with machine.connect(7) as connection:
            assert exchange(connection, b"as before") == b"as before"
