# SPDX-License-Identifier: BSD-2-Clause
"""The MQTT client against mosquitto, plain and over TLS, in versions 3.1.1 and 5."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/interop")]
import server_certificate  # noqa: E402
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST_TLS", str(ROOT / "build/host/weir-host-tls"))
LINUX, WEIR = "10.87.0.1", "10.87.0.2"
FOLDER = ROOT / "build/labs/mqtt"
CONF = f"""user root
per_listener_settings false
allow_anonymous true
persistence false
max_packet_size 300000
listener 1883 {LINUX}
listener 8883 {LINUX}
cafile {FOLDER}/ca.pem
certfile {FOLDER}/server.pem
keyfile {FOLDER}/server.key
"""


def tool(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") or name


class World:
    def __init__(self, lab):
        self.lab = lab
        self.linux = lab.namespace("linux")
        self.where, self.words = lab.link(self.linux, "weir0", LINUX)
        server_certificate.make(FOLDER, LINUX)
        (FOLDER / "mosquitto.conf").write_text(CONF)
        self.broker()

    def broker(self):
        self.mosquitto = self.linux.start(tool("mosquitto"), "-c", FOLDER / "mosquitto.conf", "-v")
        assert until(lambda: ":1883 " in (s := self.linux.run("ss", "-Hlnt")) and ":8883 " in s, 60), self.mosquitto.output()

    def command(self, words, secure):
        return [HOST, *self.words, "--address", f"{WEIR}/24", "--tls-trust", f"{FOLDER}/ca.pem", "--run", f"mqtt {'-S ' if secure else ''}{LINUX} {words}"]

    def mqtt(self, words, secure=False, timeout=90):
        done = subprocess.run(self.where.enter() + self.command(words, secure), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
        assert done.returncode == 0, done.stdout + done.stderr + self.mosquitto.output()[-2000:]
        return done.stdout

    def start(self, words, secure=False):
        return self.where.start(*self.command(words, secure))

    def publish(self, *words):
        self.linux.run("mosquitto_pub", "-h", LINUX, *words)

    def subscribe(self, *words):
        got = self.linux.start("stdbuf", "-oL", "mosquitto_sub", "-h", LINUX, "-v", "-d", *words)
        assert until(lambda: "Subscribed" in got.output(), 60), got.output()
        return got


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield World(lab)


WAYS = [(secure, version) for secure in (False, True) for version in ("", "-5 ")]


@pytest.mark.parametrize("secure,version", WAYS)
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_publish(world, secure, version, qos):
    got = world.subscribe("-t", "a/#", "-q", "2")
    text = world.mqtt(f"{version}-q {qos} -p a/b=hello -p a/c=", secure)
    assert until(lambda: "a/b hello" in got.output() and "a/c (null)" in got.output(), 60), got.output() + text
    assert got.output().count("a/b hello") == 1 and text.count("done") == (2 if qos else 0)
    got.stop()


@pytest.mark.parametrize("secure,version", WAYS)
@pytest.mark.parametrize("qos", [0, 1, 2])
def test_subscribe(world, secure, version, qos):
    ours = world.start(f"{version}-c -i s{qos} -q {qos} -s b/+ -n 3", secure)
    assert until(lambda: f"done 1 {qos}" in ours.output(), 60), ours.output()
    for text in ("one", "two", "three"):
        world.publish("-t", "b/x", "-m", text, "-q", "2")
    assert until(lambda: ours.poll() is not None, 60), ours.output()
    assert ours.poll() == 0 and [line for line in ours.output().splitlines() if line.startswith("b/x")] == ["b/x one", "b/x two", "b/x three"]


@pytest.mark.parametrize("secure", [False, True])
def test_a_message_larger_than_any_buffer(world, secure):
    (FOLDER / "large").write_text("".join(f"{i:07} " for i in range(25_000)))
    ours = world.start("-c -i large -q 1 -s c -n 1", secure)
    assert until(lambda: "done 1" in ours.output(), 60), ours.output()
    world.publish("-t", "c", "-f", FOLDER / "large", "-q", "1")
    assert until(lambda: ours.poll() is not None, 60)
    assert "c " + (FOLDER / "large").read_text() in ours.output()


def test_retained(world):
    world.mqtt("-q 1 -r -p d=kept")
    assert "d (retained) kept" in world.mqtt("-c -i r -s d -n 1")
    world.mqtt("-q 1 -r -p d= -p d/end=x")   # an empty one takes it away
    assert [line for line in world.mqtt("-c -i r -s d/# -n 1").splitlines() if "(retained)" in line] == ["d/end (retained) x"]
    world.mqtt("-q 1 -r -p d/end=")


def test_will(world):
    got = world.subscribe("-t", "w")
    stays = world.start("-c -i says -w w -k 2 -s x")
    assert until(lambda: "done 1" in stays.output(), 60)
    stays.stop()
    assert until(lambda: "DISCONNECT from says" in world.mosquitto.output(), 60), world.mosquitto.output()[-2000:]
    assert "w gone" not in got.output()
    dies = world.start("-c -i falls -w w -k 2 -s x")
    assert until(lambda: "done 1" in dies.output(), 60)
    dies.kill()
    assert until(lambda: "w gone" in got.output(), 60), got.output()   # after one and a half keep-alive times
    got.stop()


def test_keep_alive(world):
    ours = world.start("-c -i alive -k 1 -s x")
    assert until(lambda: "done 1" in ours.output(), 60)
    assert until(lambda: world.mosquitto.output().count("PINGREQ from alive") >= 3, 60), world.mosquitto.output()
    assert "disconnected" not in ours.output()
    ours.stop()


@pytest.mark.parametrize("version", ["", "-5 "])
def test_reconnection_keeps_the_session(world, version):
    name = f"stays{len(version)}"
    ours = world.start(f"{version}-i {name} -q 2 -s e")
    assert until(lambda: "done 1 2" in ours.output(), 60), ours.output()
    # Another with our id throws us out; what is published meanwhile waits for us.
    other = ("mosquitto_sub", "-h", LINUX, "-i", name, "-c", "-t", "nothing", "-W", "1",
             *(["-V", "5", "-x", "3600"] if version else []))

    def thrown_out():   # the second that the other has begins before it is connected
        world.linux.run(*other, check=False)
        return "disconnected" in ours.output()
    assert until(thrown_out, 60), ours.output()
    world.publish("-t", "e", "-m", "while you were out", "-q", "2")
    assert until(lambda: "connected 1" in ours.output() and "e while you were out" in ours.output(), 60), ours.output()
    ours.stop()


def test_a_broker_that_restarts(world):
    ours = world.start("-i restart -q 1 -s f")
    assert until(lambda: "done 1 1" in ours.output(), 60)
    world.mosquitto.stop()
    assert until(lambda: "disconnected" in ours.output(), 60)
    world.broker()
    assert until(lambda: ours.output().count("connected 0") == 2 and ours.output().count("done ") == 2, 60), ours.output()
    world.publish("-t", "f", "-m", "again")
    assert until(lambda: "f again" in ours.output(), 60), ours.output()
    ours.stop()


def test_a_certificate_that_is_not_trusted(world):
    (FOLDER / "old.pem").write_bytes((FOLDER / "ca.pem").read_bytes())
    server_certificate.make(FOLDER, LINUX)   # the broker shows the old one
    ours = world.start("-c -s x", True)
    assert until(lambda: "disconnected" in ours.output(), 60), ours.output()
    assert "connected 0" not in ours.output().replace("disconnected", "")
    ours.stop()
    (FOLDER / "ca.pem").write_bytes((FOLDER / "old.pem").read_bytes())
