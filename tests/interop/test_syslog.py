# SPDX-License-Identifier: BSD-2-Clause
"""The syslog client against rsyslog, by datagrams, over TCP and over TLS."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/interop")]
import server_certificate  # noqa: E402
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST_TLS", str(ROOT / "build/host/weir-host-tls"))
LINUX, WEIR = "10.89.0.1", "10.89.0.2"
FOLDER = ROOT / "build/labs/syslog"
CONF = f"""global(workDirectory="{FOLDER}" defaultNetstreamDriver="ossl" defaultNetstreamDriverCAFile="{FOLDER}/ca.pem"
       defaultNetstreamDriverCertFile="{FOLDER}/server.pem" defaultNetstreamDriverKeyFile="{FOLDER}/server.key")
module(load="imudp")
module(load="imptcp")
module(load="imtcp" streamdriver.name="ossl" streamdriver.mode="1" streamdriver.authmode="anon")
template(name="all" type="string" string="%pri%|%timereported:::date-rfc3339%|%hostname%|%app-name%|%procid%|%msgid%|%structured-data%|%msg%\\n")
ruleset(name="store") {{ action(type="omfile" file="{FOLDER}/messages" template="all") }}
input(type="imudp" address="{LINUX}" port="514" ruleset="store")
input(type="imptcp" address="{LINUX}" port="514" ruleset="store")
input(type="imtcp" address="{LINUX}" port="6514" ruleset="store")
"""


class World:
    def __init__(self, lab):
        self.linux = lab.namespace("linux")
        self.where, self.words = lab.link(self.linux, "weir0", LINUX)
        server_certificate.make(FOLDER, LINUX)
        (FOLDER / "rsyslog.conf").write_text(CONF)
        self.server = self.linux.start("/usr/sbin/rsyslogd", "-n", "-f", FOLDER / "rsyslog.conf", "-i", FOLDER / "pid")
        assert until(lambda: ":514 " in self.linux.run("ss", "-Hlnu") and self.linux.run("ss", "-Hlnt").count(":514 ") and ":6514 " in self.linux.run("ss", "-Hlnt"), 60), \
            self.server.output()

    def say(self, words):
        done = subprocess.run(self.where.enter() + [HOST, *self.words, "--address", f"{WEIR}/24", "--tls-trust", f"{FOLDER}/ca.pem", "--run", f"syslog {words}"],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr + self.server.output()

    def got(self):
        path = FOLDER / "messages"
        return path.read_text(errors="replace").splitlines() if path.exists() else []


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield World(lab)


@pytest.mark.parametrize("way", ["", "-t ", "-S "])
def test_messages_arrive_whole(world, way):
    label = f"way{len(way)}{way.strip('- ')}"
    world.say(f"{LINUX} {way}-n kitchen -a pump -p 131 '{label} pressure is low' '{label} [x] \"y\"'")
    assert until(lambda: sum(label in line for line in world.got()) == 2, 60), world.got()
    first, second = (line for line in world.got() if label in line)
    assert re.fullmatch(rf"131\|20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{6}}(Z|\+00:00)\|kitchen\|pump\|-\|-\|-\| ?{label} pressure is low", first), first
    assert second.endswith(f'{label} [x] "y"')


@pytest.mark.parametrize("way", ["-t ", "-S "])
def test_many_over_one_connection(world, way):
    label = f"many{way.strip('- ')}"
    world.say(f"{LINUX} {way}" + " ".join(f"'{label} {i}'" for i in range(25)))
    assert until(lambda: sum(label in line for line in world.got()) == 25, 60), world.got()
    assert [line.rsplit(" ", 1)[1] for line in world.got() if label in line] == [str(i) for i in range(25)]


def test_datagrams_wait_for_the_neighbour_before_the_program_ends(world):
    """Linux answers ARP only when it has been asked: until then the messages wait, and so does the program."""
    asked = world.linux.start("tcpdump", "-i", "weir0", "-n", "-c", "1", "arp", "dst", "host", LINUX)
    assert until(lambda: "listening" in asked.output(), 60), asked.output()
    world.linux.run("ip", "link", "set", "weir0", "arp", "off")
    try:
        said = world.where.start(HOST, *world.words, "--address", f"{WEIR}/24", "--run", f"syslog {LINUX} 'late one' 'late two'")
        assert until(lambda: asked.poll() is not None, 60), asked.output() + said.output()
    finally:
        world.linux.run("ip", "link", "set", "weir0", "arp", "on")
    assert until(lambda: said.poll() is not None, 60) and said.poll() == 0, said.output()
    assert until(lambda: sum("late" in line for line in world.got()) == 2, 60), world.got()
