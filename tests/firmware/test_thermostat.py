# SPDX-License-Identifier: BSD-2-Clause
"""The thermostat on a Cortex-M3 in QEMU, as `make run BOARD=mps2-an385 PROGRAM=thermostat` shows it: curl, mosquitto and python-zeroconf are its peers.
What it refuses, a broker that goes and comes back, and what it takes of memory."""
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools")]
import tls_size  # noqa: E402
from building import build  # noqa: E402
from netns import Lab  # noqa: E402
from thermostat import HostThermostat, Thermostat  # noqa: E402

FOLDER = ROOT / "build/labs/thermostat"
MOST_CODE, MOST_RAM, MOST_TLS = 256 * 1024, 128 * 1024, 32 * 1024


def place(kind, lab, folder):
    linux = lab.namespace("linux")
    if not lab.tap(linux, "weir0"):
        pytest.skip("no TAP is permitted here")
    return kind(lab, linux, folder)


@pytest.fixture(scope="module")
def world():
    build(*(f"build/boards/mps2-an385/{program}.elf" for program in ("thermostat", "update_boot")))
    with Lab(FOLDER) as lab:
        yield place(Thermostat, lab, FOLDER)


def test_who_it_is(world):
    world.starts()
    world.is_found()
    world.shows_its_page()
    assert world.curl("", "--cacert", "/etc/ssl/certs/ca-certificates.crt")[0] == 0   # for who does not know its authority it is nobody


def test_what_it_measures_and_takes(world):
    world.tells_a_broker()
    world.wants_its_key()
    for wrong in (b"", b"31", b"4.9", b"20.55", b"-5", b"warm", b"20." + b"0" * 500):
        assert world.put("set", wrong, *world.key())[0] == 422, wrong
    for wrong in ("99", "20.0000000000"):
        world.publish("thermostat/set", wrong)
    world.publish("thermostat/set", "21.5")
    world.is_so({"set": 21.5}, "the next one did not come")


def test_a_broker_that_goes_and_comes_back(world):
    world.broker.stop()
    world.is_so({"broker": False}, "it does not see that the broker went")
    world.broker_start()
    world.is_so({"broker": True}, "it did not come back")


def test_firmware(world):
    good = world.image(2)
    world.send_image(good[:5000] + bytes([good[5000] ^ 1]) + good[5001:], "damaged")
    world.send_image(world.image(1), "not newer")
    world.send_image(b"no image at all, and longer than a header is", "malformed")
    world.takes_firmware()
    assert world.machine.output().count("boot: slot") == 2


def test_firmware_over_https(world):
    good = world.image(3)
    assert world.put_image(good, "--key", "none") == "401 this needs the key"
    assert world.put_image(good[:5000] + bytes([good[5000] ^ 1]) + good[5001:]) == "422 damaged"
    assert world.put_image(world.image(1)) == "422 not newer"
    assert world.put_image(good[:-1]) == "422 damaged"
    assert world.put_image(good + b"x") == "422 damaged"
    assert world.put_image(b"") == "400 an image has a length"
    assert world.put("firmware", b"no image at all, and longer than a header is", *world.key()) == (422, "malformed")
    assert world.state()["version"] == 2
    world.takes_firmware_over_https()
    assert world.machine.output().count("boot: slot") == 3


def test_its_memory(world):
    code, ram = tls_size.image("thermostat")
    assert code <= MOST_CODE and ram <= MOST_RAM
    assert world.state()["tls_bytes"] <= MOST_TLS, world.state()


def test_as_a_program_of_this_machine():
    build("build/host/examples/thermostat/thermostat")
    with Lab(FOLDER / "host") as lab:
        world = place(HostThermostat, lab, FOLDER / "host")
        world.is_found()
        world.shows_its_page()
        world.tells_a_broker()
        world.wants_its_key()
