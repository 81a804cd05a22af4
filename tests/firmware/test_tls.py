# SPDX-License-Identifier: BSD-2-Clause
"""TLS on a Cortex-M3 in QEMU: a blocking session below the thread that serves the wire, in 64 KB of memory of its own."""
import pathlib
import re
import ssl
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import Machine  # noqa: E402
from building import build, make  # noqa: E402
from netns import until  # noqa: E402

BOARD, PROGRAM = "mps2-an385", "tls_echo"
LEAST_STACK_LEFT = 2048
MOST_BYTES = 16384   # of TLS's memory in a handshake, all included


def authority():
    text = (ROOT / "tests/unit/tls/certificates.h").read_text()
    lines = re.search(r"static const char ca_certificate\[\] =\n(.*?);", text, re.DOTALL).group(1)
    return "\n".join(re.findall(r'"(.*?)\\n"', lines))


@pytest.fixture(scope="module")
def machine():
    build("tls-firmware")
    with Machine(BOARD, ports=(443,), program=PROGRAM) as machine:
        machine.until("TLS echo on port 443")
        yield machine
        assert "overflow" not in machine.console()


@pytest.fixture(scope="module")
def context():
    return ssl.create_default_context(cadata=authority())


def test_the_documented_goal_makes_all_programs():
    made = make("-n", "-B", "tls-firmware")
    for program in (PROGRAM, "thermostat", "update_boot"):
        assert f"-o build/boards/{BOARD}/{program}.elf" in made, program


def report(machine, number):
    """What the console tells of a session: name → number."""
    def lines():
        return re.findall(r"^(.*handshake_us.*stack.*)\n", machine.console(), re.MULTILINE)   # whole ones
    assert until(lambda: len(lines()) >= number, 60), machine.console()
    words = lines()[number - 1].split()
    return words[0], {name: int(value) for name, value in zip(words[1::2], words[2::2])}


def test_every_byte_comes_back(machine, context):
    data = bytes(i * 7 % 251 for i in range(20_000))
    with context.wrap_socket(machine.connect(443, 60), server_hostname="weir.example") as session:
        assert session.cipher()[0] == "ECDHE-ECDSA-AES128-GCM-SHA256"
        got = b""
        for at in range(0, len(data), 1000):
            session.sendall(data[at:at + 1000])
            while len(got) < at + 1000:
                got += session.recv(4096)
        assert got == data
        session.unwrap()   # close_notify, both ways


def test_what_it_takes(machine, context):
    for number in (2, 3, 4):
        with context.wrap_socket(machine.connect(443, 60), server_hostname="weir.example") as session:
            session.sendall(b"once")
            assert session.recv(4) == b"once"
        word, told = report(machine, number)
        assert word == "WEIR_OK"
        assert told["peak"] <= MOST_BYTES and told["stack"] <= 8192 - LEAST_STACK_LEFT
        assert (told["rest"], told["session"]) == (report(machine, 2)[1]["rest"], report(machine, 2)[1]["session"])   # nothing stays behind


SERVER_HELLO, SERVER_KEY_EXCHANGE, SERVER_HELLO_DONE = 2, 12, 14


def exactly(connection, count):
    got = b""
    while len(got) < count:
        part = connection.recv(count - len(got))
        assert part, "the connection ended"
        got += part
    return got


def handshake_messages(connection):
    """The server's first messages, by type, up to ServerHelloDone (RFC 5246 §7.4)."""
    stream, found = b"", {}
    while SERVER_HELLO_DONE not in found:
        kind, _, _, high, low = exactly(connection, 5)
        assert kind == 22, "no record of a handshake"
        stream += exactly(connection, high << 8 | low)
        while len(stream) >= 4 and len(stream) >= (end := 4 + int.from_bytes(stream[1:4], "big")):
            found[stream[0]] = stream[4:end]
            stream = stream[end:]
    return found


def first_handshake(boot, context):
    """What the server draws for the first handshake after a boot: 28 bytes of its random (the first four are the time's) and its point on the curve."""
    with Machine(BOARD, ports=(443,), program=PROGRAM, log=ROOT / f"build/boards/{BOARD}/{PROGRAM}.boot{boot}.log") as machine:
        machine.until("TLS echo on port 443")
        outgoing = ssl.MemoryBIO()
        session = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname="weir.example")
        with pytest.raises(ssl.SSLWantReadError):
            session.do_handshake()
        with machine.connect(443, 60) as connection:
            connection.sendall(outgoing.read())
            messages = handshake_messages(connection)
    exchange = messages[SERVER_KEY_EXCHANGE]
    return messages[SERVER_HELLO][6:34], exchange[4:4 + exchange[3]]


def test_no_two_boots_are_alike(context):
    """An image that starts twice draws other numbers, though there is nothing on the board but counters."""
    build("tls-firmware")
    boots = [first_handshake(boot, context) for boot in range(3)]
    for drawn in zip(*boots):
        assert len(set(drawn)) == len(boots), drawn


def test_a_stranger_does_not_stop_it(machine, context):
    with machine.connect(443, 60) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(100)[:1] in (b"\x15", b"")   # an alert
    with context.wrap_socket(machine.connect(443, 60), server_hostname="weir.example") as session:
        session.sendall(b"still there")
        assert session.recv(20) == b"still there"
