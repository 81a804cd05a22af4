# SPDX-License-Identifier: BSD-2-Clause
"""Messages of QoS 2 over a broker that dies in the middle: a proxy between weir-host and mosquitto withholds one packet of one message, each of the four
in turn and in both directions; the broker writes its state, is killed, and comes back with it. Each message arrives once, in order, under its own id. The
same with a broker that comes back without its state: no message is lost."""
import os
import pathlib
import shutil
import signal
import socket
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests")]
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
LINUX, WEIR, BROKER, PROXY = "10.96.0.1", "10.96.0.2", 1883, 1884
FOLDER = ROOT / "build/labs/mqtt_restart"
STATE = FOLDER / "state/mosquitto.db"
CONF = f"""user root
allow_anonymous true
persistence true
persistence_location {STATE.parent}/
autosave_interval 3600
listener {BROKER} {LINUX}
"""
PUBLISH, PUBREC, PUBREL, PUBCOMP = 3, 5, 6, 7
NAMES = {PUBLISH: "PUBLISH", PUBREC: "PUBREC", PUBREL: "PUBREL", PUBCOMP: "PUBCOMP"}
MESSAGES = [f"m{i}" for i in range(5)]


class Packet:
    def __init__(self, data, head):
        self.data, self.type = data, data[0] >> 4
        self.duplicate, self.id, self.text = bool(data[0] & 8), None, ""
        if self.type == PUBLISH:
            at = head + 2 + int.from_bytes(data[head:head + 2], "big")
            self.id = int.from_bytes(data[at:at + 2], "big")
            self.text = data[at + 2:].lstrip(b"\0").decode()   # (the length of version 5's properties, none, stands before it)
        elif self.type in NAMES:
            self.id = int.from_bytes(data[head:head + 2], "big")

    def __repr__(self):
        return f"{NAMES.get(self.type, self.type)}{'(dup)' if self.duplicate else ''} {self.id or ''} {self.text}".strip()


def packets(connection):
    """Those that come over a connection, until it ends."""
    data = b""
    while True:
        length, head = 0, 1
        while head < len(data) and head < 5:
            length |= (data[head] & 127) << 7 * (head - 1)
            head += 1
            if data[head - 1] < 128:
                if len(data) < head + length:
                    break
                yield Packet(data[:head + length], head)
                data, length, head = data[head + length:], 0, 1
        more = connection.recv(65536)
        if not more:
            return
        data += more


class Proxy:
    """Carries packets; `sent` has all that came as (sender, packet), `carried` those that it handed on. The second of `kind` from `sender` it withholds, and
    all after it until its gate is opened again, for new connections."""

    def __init__(self, namespace, sender, kind):
        self.sender, self.kind = sender, kind
        self.sent, self.carried, self.seen = [], [], 0
        self.gate, self.cut, self.lock = threading.Event(), threading.Event(), threading.Lock()
        self.gate.set()
        self.connections, self.listener = [], None
        threading.Thread(target=self.listen, args=(namespace,), daemon=True).start()
        assert until(lambda: self.listener)

    def listen(self, namespace):
        namespace.join()
        listener = socket.create_server((LINUX, PROXY))
        self.listener = listener
        while True:
            try:
                client = listener.accept()[0]
            except OSError:
                return
            self.gate.wait()
            broker = socket.create_connection((LINUX, BROKER))
            self.connections += [client, broker]
            for sender, source, sink in (("weir", client, broker), ("broker", broker, client)):
                threading.Thread(target=self.carry, args=(sender, source, sink), daemon=True).start()

    def carry(self, sender, source, sink):
        try:
            for packet in packets(source):
                if self.take(sender, packet):
                    sink.sendall(packet.data)
            sink.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def take(self, sender, packet):
        with self.lock:
            self.sent.append((sender, packet))
            self.seen += sender == self.sender and packet.type == self.kind
            if self.seen == 2 and self.gate.is_set() and not self.cut.is_set():
                self.gate.clear()
                self.cut.set()
            if not self.gate.is_set():
                return False
            self.carried.append((sender, packet))
            return True

    def ids(self, sender, kind):
        return [packet.id for by, packet in self.carried if by == sender and packet.type == kind]

    def texts(self, sender):
        """The messages of a sender, by text: their packets, in the order in which they were sent."""
        found = {}
        for by, packet in self.sent:
            if by == sender and packet.type == PUBLISH:
                found.setdefault(packet.text, []).append(packet)
        return found

    def drop(self):
        for connection in self.connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)   # wakes the thread that reads
            except OSError:
                pass
            connection.close()
        self.connections = []

    def close(self):
        self.gate.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.drop()


class World:
    def __init__(self, lab):
        self.linux = lab.namespace("linux")
        self.where, self.words = lab.link(self.linux, "weir0", LINUX)
        (FOLDER / "mosquitto.conf").write_text(CONF)
        STATE.parent.mkdir()
        self.start()

    def start(self):
        mosquitto = shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin:/sbin") or "mosquitto"
        self.mosquitto = self.linux.start(mosquitto, "-c", FOLDER / "mosquitto.conf", "-v")
        assert until(lambda: f":{BROKER} " in self.linux.run("ss", "-Hlnt")), self.mosquitto.output()

    def crash(self, keeps):
        """Kills the broker, with its state written or (not keeps) gone."""
        if keeps:
            before = STATE.stat().st_ino if STATE.exists() else None
            self.mosquitto.send_signal(signal.SIGUSR1)
            assert until(lambda: STATE.exists() and STATE.stat().st_ino != before), self.mosquitto.output()
        self.mosquitto.kill()
        self.mosquitto.wait()
        if not keeps:
            STATE.unlink(missing_ok=True)

    def weir(self, words):
        self.ours = self.where.start(HOST, *self.words, "--address", f"{WEIR}/24", "--run", f"mqtt {LINUX}:{PROXY} {words}")
        return self.ours

    def reader(self, *more):
        """A reader whose messages the broker keeps."""
        return ["mosquitto_sub", "-h", LINUX, "-i", "reader", "-c", "-q", "2", "-t", "out", *more]


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield World(lab)


@pytest.fixture
def between(world):
    proxies = []

    def make(sender, kind):
        proxies.append(Proxy(world.linux, sender, kind))
        return proxies[0]
    yield make
    world.ours.stop()
    for proxy in proxies:
        proxy.close()


def restart(world, proxy, keeps=True, prepare=lambda: None):
    assert proxy.cut.wait(60), proxy.carried
    world.crash(keeps)
    at = len(proxy.carried)
    proxy.drop()
    world.start()
    prepare()
    proxy.gate.set()
    return at


def own_ids(found):
    """Each message kept its id, no two had the same, and only what was sent again is called a duplicate."""
    for text, sent in found.items():
        assert {packet.id for packet in sent} == {sent[0].id} and not sent[0].duplicate, (text, sent)
    assert len({sent[0].id for sent in found.values()}) == len(found)


VERSIONS = pytest.mark.parametrize("version", ["", "-5 "])
# Whose packet is withheld, and which: of a message that goes to the broker the first and the third are its sender's.
OUT = pytest.mark.parametrize("sender,kind", [("weir", PUBLISH), ("broker", PUBREC), ("weir", PUBREL), ("broker", PUBCOMP)], ids=NAMES.values())
IN = pytest.mark.parametrize("sender,kind", [("broker", PUBLISH), ("weir", PUBREC), ("broker", PUBREL), ("weir", PUBCOMP)], ids=NAMES.values())


@VERSIONS
@OUT
def test_to_the_broker(world, between, version, sender, kind):
    world.linux.run(*world.reader("-E"))
    proxy = between(sender, kind)
    ours = world.weir(f"{version}-i out{kind}{len(version)} -q 2 " + " ".join(f"-p out={text}" for text in MESSAGES))
    at = restart(world, proxy)
    assert until(lambda: ours.poll() is not None), ours.output()
    assert ours.poll() == 0 and "connected 1" in ours.output() and ours.output().count("done ") == len(MESSAGES), ours.output()
    assert all(line.endswith(" 0") for line in ours.output().splitlines() if line.startswith("done ")), ours.output()
    world.linux.run("mosquitto_pub", "-h", LINUX, "-t", "out", "-q", "2", "-m", "end")
    assert world.linux.run(*world.reader("-C", str(len(MESSAGES) + 1))).split() == [*MESSAGES, "end"]
    found = proxy.texts("weir")
    own_ids(found)
    # What the server had acknowledged was not sent again; of what was withheld, the withheld packet was, or that which it answered.
    received = {packet.id for by, packet in proxy.carried[:at] if by == "broker" and packet.type == PUBREC}
    again = [packet for by, packet in proxy.carried[at:] if by == "weir" and packet.type == PUBLISH]
    assert not received & {packet.id for packet in again} and (kind in (PUBLISH, PUBREC) or proxy.ids("weir", PUBREL))
    assert sorted(set(proxy.ids("broker", PUBCOMP))) == sorted(sent[0].id for sent in found.values())
    if kind == PUBREC:
        assert again and all(packet.duplicate for packet in again), again
    if kind == PUBCOMP:
        ids = proxy.ids("weir", PUBREL)
        assert len(ids) > len(set(ids)) == len(MESSAGES)


@VERSIONS
@IN
def test_from_the_broker(world, between, version, sender, kind):
    proxy = between(sender, kind)
    ours = world.weir(f"{version}-i in{kind}{len(version)} -q 2 -s in")
    assert until(lambda: "done 1 2" in ours.output()), ours.output()
    for texts in (MESSAGES, ["more0", "more1"]):
        lines = FOLDER / "lines"
        lines.write_text("".join(f"{text}\n" for text in texts))
        with lines.open() as file:
            world.linux.run("mosquitto_pub", "-h", LINUX, "-t", "in", "-q", "2", "-l", stdin=file)
        if texts is MESSAGES:
            restart(world, proxy)
        assert until(lambda: f"in {texts[-1]}" in ours.output()), ours.output()
    every = [*MESSAGES, "more0", "more1"]
    found = proxy.texts("broker")
    assert until(lambda: len(set(proxy.ids("weir", PUBCOMP))) == len({packet.id for sent in found.values() for packet in sent})), proxy.carried
    assert [line for line in ours.output().splitlines() if line.startswith("in ")] == [f"in {text}" for text in every], ours.output()
    assert "connected 1" in ours.output() and ours.output().count("disconnected") == 1
    own_ids(proxy.texts("broker"))
    if kind == PUBREC:   # the broker did not learn that the message had come
        assert any(packet.duplicate for packet in found["m1"]), found
    if kind == PUBCOMP:
        ids = proxy.ids("broker", PUBREL)
        assert len(ids) > len(set(ids)) == len(every)


@VERSIONS
def test_a_broker_that_forgot_everything(world, between, version):
    proxy = between("broker", PUBREC)
    ours = world.weir(f"{version}-i forgot{len(version)} -q 2 " + " ".join(f"-p out={text}" for text in MESSAGES))
    restart(world, proxy, keeps=False, prepare=lambda: world.linux.run(*world.reader("-E")))
    assert until(lambda: ours.poll() is not None), ours.output()
    assert ours.poll() == 0 and ours.output().count("connected 0") == 2 and ours.output().count("done ") == len(MESSAGES), ours.output()
    world.linux.run("mosquitto_pub", "-h", LINUX, "-t", "out", "-q", "2", "-m", "end")
    # The first was acknowledged, and not to be sent again, or had been left to the PUBREL that meant nothing any more.
    assert world.linux.run(*world.reader("-C", str(len(MESSAGES)))).split() == [*MESSAGES[1:], "end"]
    assert all(not packet.duplicate for sent in proxy.texts("weir").values() for packet in sent)
