# SPDX-License-Identifier: BSD-2-Clause
"""CoAP by libcoap's own programs over Weir's sockets (weir-run), against libcoap over Linux's. CAMPAIGN=1: a resource in 63 blocks in place of 12."""
import os
import pathlib
import shutil
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

RUN = os.environ.get("WEIR_RUN_PROGRAM", str(ROOT / "build/host/weir-run"))
FOLDER = ROOT / "build/labs/coap"
NUMBERS = 500 if os.environ.get("CAMPAIGN") else 90   # of 8 bytes, in blocks of 64
LINUX, WEIR = "10.93.0.1", "10.93.0.2"


@pytest.fixture(scope="module")
def site():
    if shutil.which("coap-client-notls") is None:
        pytest.skip("libcoap's programs are not here")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        linux = lab.namespace("linux")
        if not lab.tap(linux, "tap0"):
            pytest.skip("no right to make a TAP")
        linux.address("tap0", f"{LINUX}/24")
        yield linux


def ask(linux, before, host, *words):
    return linux.run(*before, "coap-client-notls", "-B", "20", *words[:-1], f"coap://{host}/{words[-1]}", timeout=60, check=False)


def talk(linux, before, host):
    """What a client does: a resource, one that is made, one in blocks, one that is observed, one that is not there."""
    assert until(lambda: "libcoap" in ask(linux, before, host, "-m", "get", ""), 60)
    assert "time" in ask(linux, before, host, "-m", "get", ".well-known/core")
    large = "".join(f"{i:07} " for i in range(NUMBERS))
    (FOLDER / "large").write_text(large)
    ask(linux, before, host, "-m", "put", "-b", "64", "-f", str(FOLDER / "large"), "example_data")
    assert large in ask(linux, before, host, "-m", "get", "-b", "64", "example_data")
    assert until(lambda: ask(linux, before, host, "-m", "get", "-s", "2", "time").count(":") >= 4, 60)   # the time, again and again
    assert "4.04" in ask(linux, before, host, "-m", "get", "nothing")


def test_a_server_on_weir(site):
    server = site.start(RUN, "--tap", "tap0", "--address", f"{WEIR}/24", "coap-server-notls", "-A", WEIR, "-d", "10")
    talk(site, [], WEIR)
    assert server.poll() is None, server.output()
    server.stop()


def test_a_client_on_weir(site):
    server = site.start("coap-server-notls", "-A", LINUX, "-d", "10")
    talk(site, [RUN, "--tap", "tap0", "--address", f"{WEIR}/24"], LINUX)
    assert server.poll() is None, server.output()
