# SPDX-License-Identifier: BSD-2-Clause
"""IP over a board's serial line: a peer in Python that speaks SLIP and TCP itself, without privileges; and Linux's own clients behind a TUN."""
import os
import pathlib
import random
import sys
import threading

import pytest
from scapy.all import ICMP, IP, TCP, Raw, raw

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / "tools"), str(pathlib.Path(__file__).resolve().parent)]
from boards import ADDRESS, HOST, SerialMachine  # noqa: E402
from netns import Lab  # noqa: E402
from slip_line import Line, open_tun, relay  # noqa: E402

MTU = 1006


@pytest.fixture(scope="module")
def machine():
    with SerialMachine("malta", "slip_echo") as machine:
        machine.until("echo on port 7")
        yield machine


@pytest.fixture
def line(machine):
    with machine.line() as connection:
        line = Line(connection)
        while line.receive(0.2):   # of another test
            pass
        yield line


def ping(line, number, size=56):
    """Whether an echo request is answered with the same bytes."""
    data = random.Random(number).randbytes(size)
    line.send(raw(IP(src=HOST, dst=ADDRESS) / ICMP(id=7, seq=number) / Raw(data)))
    answer = line.receive(60)
    if not answer:
        return False
    answer = IP(answer)
    return (answer.src, answer.dst, answer[ICMP].type, answer[ICMP].seq) == (ADDRESS, HOST, 0, number) and bytes(answer[ICMP].payload) == data


def test_ping(line):
    for size in (0, 1, 56, 500, MTU - 28):
        assert ping(line, size, size)


def test_every_byte_value(line):
    line.send(raw(IP(src=HOST, dst=ADDRESS) / ICMP(id=0xC0DB, seq=0xDBC0) / Raw(bytes(range(256)) + b"\xdb\xdc\xdb\xdd\xc0" * 30)))
    answer = IP(line.receive(60))
    assert bytes(answer[ICMP].payload) == bytes(range(256)) + b"\xdb\xdc\xdb\xdd\xc0" * 30


def test_noise_spoils_what_it_hits_and_nothing_else(line):
    random_bytes = random.Random(3)
    for number in range(20):
        line.noise(random_bytes.randbytes(random_bytes.randrange(1, 300)) + b"\xc0" * random_bytes.randrange(3))
        assert ping(line, number)
    line.noise(b"x" * 5000)           # longer than any packet
    assert ping(line, 100)
    line.noise(b"xx\xdb")             # an escape without what it escapes: the END behind it is one all the same
    assert ping(line, 101)
    line.send(raw(IP(src=HOST, dst=ADDRESS) / ICMP(id=7, seq=9) / Raw(bytes(MTU))))   # 28 bytes too long: not answered
    assert line.receive(0.5) is None
    assert ping(line, 103)


class Conversation:
    """A TCP connection whose one side is written here, over a line that loses nothing: no retransmission of ours. The board sends again what we are late to
    acknowledge, after the connection's end, too."""

    def __init__(self, line, port, to=7):
        self.line, self.words, self.sequence, self.expected = line, {"sport": port, "dport": to, "window": 8000}, 1000, 0
        self.send("S")
        answer = self.receive()
        assert answer.flags == "SA" and answer.ack == 1001
        self.sequence, self.expected = 1001, answer.seq + 1
        self.send("A")

    def send(self, flags, data=b""):
        self.line.send(raw(IP(src=HOST, dst=ADDRESS) / TCP(flags=flags, seq=self.sequence, ack=self.expected if "A" in flags else 0, **self.words) / Raw(data)))
        self.sequence += len(data) + ("F" in flags)

    def receive(self):
        """The next segment of this connection."""
        while True:
            packet = self.line.receive(60)
            assert packet, "nothing came"
            segment = IP(packet)[TCP]
            if segment.dport == self.words["sport"]:
                return segment

    def read(self, length):
        got = b""
        while len(got) < length:
            segment = self.receive()
            data = bytes(segment.payload)
            if data:
                assert segment.seq <= self.expected
                if segment.seq == self.expected:   # not again
                    got += data
                    self.expected += len(data)
                self.send("A")
        return got

    def close(self):
        self.send("FA")
        while True:
            segment = self.receive()
            if "F" in segment.flags:
                break
        self.expected += 1
        self.send("A")


def test_echo_to_a_peer_without_privileges(line):
    for number in range(3):
        conversation = Conversation(line, 40000 + number)
        for length in (1, 2, 100, 536, 900):
            data = random.Random(length).randbytes(length)
            conversation.send("PA", data)
            assert conversation.read(length) == data
        conversation.close()


# --- Linux behind a TUN --------------------------------------------------------------------------------------------------------------------

@pytest.fixture
def linux(line):
    with Lab() as lab:
        end = lab.namespace("end")
        name = f"sl{os.getpid() % 10000}"
        try:
            tun = open_tun(name)
        except OSError as error:
            pytest.skip(f"no TUN here: {error}")
        lab.here().run("ip", "link", "set", name, "netns", end.pid)   # the descriptor stays attached
        end.run("ip", "link", "set", name, "mtu", str(MTU))
        end.run("ip", "address", "add", HOST, "peer", ADDRESS, "dev", name)
        end.up(name)
        stop = threading.Event()
        carrier = threading.Thread(target=relay, args=(line, tun, stop))
        carrier.start()
        yield end
        stop.set()
        carrier.join()
        os.close(tun)


def test_linux_pings(linux):
    linux.ping(ADDRESS, 20, "-i", "0.05", "-s", "900")


def test_linux_has_its_bytes_back(linux, tmp_path):
    (tmp_path / "there").write_bytes(random.Random(1).randbytes(100_000))
    linux.run("sh", "-c", f"nc -N {ADDRESS} 7 <{tmp_path}/there >{tmp_path}/back", timeout=60)
    assert (tmp_path / "back").read_bytes() == (tmp_path / "there").read_bytes()
