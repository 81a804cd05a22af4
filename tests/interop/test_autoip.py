# SPDX-License-Identifier: BSD-2-Clause
"""A link-local address beside Linux: taken where no DHCP server answers, given up for another's, and for a lease."""
import os
import pathlib
import re
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
FOLDER = ROOT / "build/labs/autoip"
pytestmark = pytest.mark.skipif(not os.environ.get("CAMPAIGN"), reason="long, for probes and DHCP take their time: CAMPAIGN=1")


@pytest.fixture(scope="module")
def lab():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield lab


def taken(output, number):
    """The number-th address that it took."""
    found = re.findall(r"weir-host: (169\.254\.\d+\.\d+), link-local, taken", output)
    return found[number] if len(found) > number else None


def test_a_link_without_a_server(lab):
    linux, here = lab.namespace("linux"), lab.namespace("weir")
    lab.veth(linux, "eth0", here, "eth0")
    linux.address("eth0", "169.254.0.1/16")
    host = here.start(HOST, "--packet", "eth0", "--autoip")
    assert until(lambda: taken(host.output(), 0), 60), host.output()
    first = taken(host.output(), 0)
    linux.ping(first, 2)
    # Linux takes the address, too, and insists.
    linux.address("eth0", f"{first}/16")

    def insist():
        linux.run("python3", "-c", ARP, first)
        return taken(host.output(), 1)
    assert until(insist, 60), host.output()
    second = taken(host.output(), 1)
    assert second != first
    linux.ping(second, 2, "-I", "169.254.0.1")
    host.stop()


def test_a_server_that_comes_later(lab):
    linux, here = lab.namespace("linux2"), lab.namespace("weir2")
    lab.veth(linux, "eth0", here, "eth0")
    linux.address("eth0", "169.254.0.1/16")
    linux.address("eth0", "10.91.0.1/24")
    host = here.start(HOST, "--packet", "eth0", "--dhcp", "--autoip")
    assert until(lambda: taken(host.output(), 0), 60), host.output()
    server = linux.start(shutil.which("dnsmasq", path=os.environ["PATH"] + ":/usr/sbin"), "--keep-in-foreground", "--conf-file=/dev/null", "--user=root", "--port=0",
                         "--interface=eth0", "--bind-interfaces", "--dhcp-range=10.91.0.50,10.91.0.59,3600", "--leasefile-ro", "--log-facility=-",
                         f"--pid-file={FOLDER}/dnsmasq.pid")
    assert until(lambda: re.search(r"weir-host: 10\.91\.0\.5\d/24 from", host.output()), 120), host.output() + server.output()
    # its lease takes the interface over, and the old address answers on
    leased, old = re.search(r"10\.91\.0\.5\d", host.output()).group(), taken(host.output(), 0)
    assert f"{old}, link-local, left" in host.output()
    linux.ping(leased, 2)
    linux.ping(old, 2, "-I", "169.254.0.1")


# An announcement of the address (RFC 5227), as a host that has it would send.
ARP = """
import socket, sys
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
link.bind(("eth0", 0x806))
mac, address = link.getsockname()[4], socket.inet_aton(sys.argv[1])
link.send(b"\\xff" * 6 + mac + bytes.fromhex("08060001080006040001") + mac + address + bytes(6) + address)
"""
