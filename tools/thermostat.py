# SPDX-License-Identifier: BSD-2-Clause
"""The thermostat of examples/thermostat on mps2-an385 in QEMU, on a TAP beside a broker (mosquitto, over TLS), and what its users do with it: for
`make run BOARD=mps2-an385 PROGRAM=thermostat` and for its test."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "examples/update")]
import image  # noqa: E402
from boards import ADDRESS, HOST, command, elf  # noqa: E402
from netns import until  # noqa: E402

BOARD, KEYS, NAME = "mps2-an385", ROOT / "build/thermostat", "thermostat.local"
FACTORY = 0x300000   # where the boot loader looks for the image that the board was made with (examples/update/memory_flash.h)
BROKER = f"""user root
per_listener_settings false
allow_anonymous true
persistence false
listener 1883 127.0.0.1
listener 8883 {HOST}
cafile {KEYS}/ca.pem
certfile {KEYS}/broker.pem
keyfile {KEYS}/broker.key
"""
FIND = f"""
from zeroconf import IPVersion, Zeroconf
zc = Zeroconf(interfaces=["{HOST}"], ip_version=IPVersion.V4Only)
found = zc.get_service_info("_https._tcp.local.", "Thermostat._https._tcp.local.", timeout=60000)
print(found and (found.server, found.port, *found.parsed_addresses()))
"""


class Wrong(RuntimeError):
    """A step that did not go as it should."""


class Thermostat:
    def __init__(self, lab, linux, folder):
        """`linux` has the TAP weir0."""
        self.lab, self.linux, self.folder = lab, linux, folder
        linux.address("weir0", f"{HOST}/24")
        (folder / "mosquitto.conf").write_text(BROKER)
        self.broker_start()
        self.machine = linux.start(*self.machine_command(), log=folder / "machine.log")

    def machine_command(self):
        (self.folder / "factory").write_bytes(self.image(1))
        return (*command(BOARD, "tap,ifname=weir0,script=no,downscript=no", "update_boot"),
                "-device", f"loader,file={self.folder / 'factory'},addr={FACTORY},force-raw=on")

    def image(self, version):
        return image.image(elf(BOARD, "thermostat"), version)

    def broker_start(self):
        self.broker = self.linux.start(shutil.which("mosquitto", path=os.environ["PATH"] + ":/usr/sbin") or "mosquitto", "-c", self.folder / "mosquitto.conf", "-v")
        self.wait(lambda: ":8883 " in self.linux.run("ss", "-Hlnt"), "the broker does not listen")

    def wait(self, condition, otherwise, seconds=60):
        if not until(condition, seconds):
            raise Wrong(f"{otherwise}; on the console: {self.machine.output()[-400:]!r}")

    def said(self, text):
        self.wait(lambda: text in self.machine.output(), f"no {text!r}")
        return text

    def command(self, path, *words):
        return " ".join(("curl", "--cacert", str(KEYS / "ca.pem"), "--resolve", f"{NAME}:443:{ADDRESS}", *words, f"https://{NAME}/{path}"))

    def curl(self, path, *words):
        """(status, body); status 0: no session, or no answer."""
        done = subprocess.run([*self.linux.enter(), *self.command(path, *words).split(), "--silent", "--max-time", "60", "--write-out", "\n%{http_code}"],
                              capture_output=True, text=True)
        body, _, status = done.stdout.rpartition("\n")
        return int(status), body

    def key(self):
        return ["--oauth2-bearer", (KEYS / "password").read_text().strip()]

    def put(self, path, data, *words):
        (self.folder / "put").write_bytes(data)
        return self.curl(path, "--request", "PUT", "--data-binary", f"@{self.folder / 'put'}", *words)

    def state(self):
        status, body = self.curl("state")
        if status != 200:
            raise Wrong(f"no state, status {status}")
        return json.loads(body)

    def is_so(self, what, otherwise):
        """Waits until the state has these values. It may have no answer for who comes while it starts or is busy with another."""
        def is_so():
            status, body = self.curl("state")
            return status == 200 and what.items() <= json.loads(body).items()
        self.wait(is_so, otherwise)

    def publish(self, topic, value):
        self.linux.run("mosquitto_pub", "-h", "127.0.0.1", "-t", topic, "-m", value, "-q", "1")

    def send_image(self, data, outcome):
        """Through the broker, which then hears what became of it."""
        (self.folder / "image").write_bytes(data)
        heard = self.subscribe("thermostat/firmware")
        self.wait(lambda: "Subscribed" in heard.output(), "no subscription")
        self.linux.run("mosquitto_pub", "-h", "127.0.0.1", "-t", "thermostat/firmware/image", "-f", self.folder / "image", "-q", "1")
        self.wait(lambda: f"thermostat/firmware {outcome}" in heard.output(), f"not {outcome!r}")
        heard.stop()

    def subscribe(self, topic):
        """Its messages from now on, and the one that is kept."""
        return self.linux.start("stdbuf", "-oL", "mosquitto_sub", "-h", "127.0.0.1", "-v", "-d", "-t", topic)

    # --- what a user does --------------------------------------------------------------------------
    def starts(self):
        self.said("boot: slot 0, version 1")
        return self.said("thermostat: version 1")

    def is_found(self):
        self.said(f"https://{NAME}/")
        text = self.linux.run(ROOT / "build/venv/bin/python", "-c", FIND, timeout=90).strip()
        if text != f"('{NAME}.', 443, '{ADDRESS}')":
            raise Wrong(f"zeroconf says {text}")
        return f"python-zeroconf: {text}"

    def shows_its_page(self):
        status, body = self.curl("")
        if status != 200 or "<title>Thermostat</title>" not in body:
            raise Wrong(f"status {status}")
        return f"https://{NAME}/, {len(body)} bytes, its certificate by its own authority"

    def tells_a_broker(self):
        messages = self.subscribe("thermostat/#")
        self.wait(lambda: all(f"\nthermostat/{text}" in messages.output() for text in ("temperature ", "online yes")), "nothing was published")
        self.publish("thermostat/set", "25.5")
        self.is_so({"set": 25.5, "heating": True, "broker": True}, "the set point did not come")
        count = messages.output().count("\nthermostat/temperature ")
        self.wait(lambda: messages.output().count("\nthermostat/temperature ") > count, "no further temperature")
        messages.stop()
        return [line for line in messages.output().splitlines() if line.startswith("thermostat/temperature")][-1] + ", set to 25.5"

    def wants_its_key(self):
        statuses = [self.put("set", b"19.5", *words)[0] for words in ((), ["--oauth2-bearer", "x" * 16], self.key())]
        if statuses != [401, 401, 204] or self.state()["set"] != 19.5:
            raise Wrong(f"statuses {statuses}")
        return "set to 19.5 with the key; 401 without, and with another"

    def takes_firmware(self):
        self.send_image(self.image(2), "taken")
        self.said("boot: slot 1, version 2")
        self.said("thermostat: version 2")
        self.is_so({"version": 2, "firmware": "confirmed", "broker": True}, "version 2 is not confirmed")
        return f"{len(self.image(2))} bytes through the broker; version 2 runs, and is confirmed"

    def put_image(self, data, *words):
        """Over HTTPS: what the sender prints."""
        (self.folder / "image").write_bytes(data)
        return self.linux.run(sys.executable, ROOT / "examples/thermostat/send_image.py", self.folder / "image", "--address", ADDRESS, *words, check=False, timeout=240).strip()

    def takes_firmware_over_https(self):
        said = self.put_image(self.image(3))
        if said != "200 taken":
            raise Wrong(f"the sender says {said!r}")
        self.said("boot: slot 0, version 3")
        self.said("thermostat: version 3")
        self.is_so({"version": 3, "firmware": "confirmed", "broker": True}, "version 3 is not confirmed")
        return f"{len(self.image(3))} bytes by PUT with the key; version 3 runs, and is confirmed"

    def steps(self):
        return (("boots", self.starts), ("is found", self.is_found), ("shows its page", self.shows_its_page), ("tells a broker", self.tells_a_broker),
                ("wants its key", self.wants_its_key), ("takes new firmware", self.takes_firmware), ("and over HTTPS", self.takes_firmware_over_https))


class HostThermostat(Thermostat):
    """The same as a program of this machine."""

    def machine_command(self):
        return (ROOT / "build/host/examples/thermostat/thermostat", "weir0")
