# SPDX-License-Identifier: BSD-2-Clause
"""The thesis's SNTP and HTTP clients on a board in QEMU. Their server keeps the address that the thesis's figures have, beyond a gateway.
Once against chronyd and nginx, in namespaces with a Linux router between; once over a link that needs no privileges, with the peer of
flock_peer.py, which loses frames, too."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/firmware"), str(ROOT / "tools")]
from boards import ADDRESS, HOST, command  # noqa: E402
from flock_peer import Peer  # noqa: E402
from netns import Lab, Process, until  # noqa: E402

BOARDS, PROGRAM = ("mps2-an385", "xilinx-zynq-a9", "portux920t"), "flock_clients"
SERVER = "130.149.17.21"
FOLDER = ROOT / "build/tests/flock"
LINES = "".join(f"line {number} of a page that takes some segments\n" for number in range(600))


def found(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin")


def finished(machine):
    """The console, once both processes have ended, and have said so to the line's end."""
    assert until(lambda: all(re.search(rf"{name} ended with .*\n", machine.output()) for name in ("sntp", "http")), 150), machine.output()[-2000:]
    return machine.output()


def check(text, page, began):
    """Both got what they asked for: the time is of after `began`. It may have been shown in the middle of the page."""
    assert "sntp ended with 0\n" in text and "http ended with 0\n" in text, text[-2000:]
    line = next(line for line in text.splitlines() if "NTP timestamp: " in line)
    shown = int(line.rpartition("NTP timestamp: ")[2])
    assert int(began) <= shown <= time.time()
    for between in (f"NTP timestamp: {shown}\n", "sntp ended with 0\n"):
        text = text.replace(between, "")
    assert page in text.replace("\r", "")
    assert "\nthe server closed after " in text


@pytest.fixture(scope="module")
def lab():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        yield lab


def serve(namespace):
    (FOLDER / "chrony.conf").write_text(f"local stratum 8\nallow\nbindaddress {SERVER}\ncmdport 0\npidfile {FOLDER}/chronyd.pid\nbindcmdaddress /\n")
    namespace.start(found("chronyd"), "-d", "-x", "-u", "root", "-f", FOLDER / "chrony.conf")
    pages = FOLDER / "pages"
    pages.mkdir()
    (pages / "index.html").write_text(LINES)
    temporary = "".join(f"{kind}_temp_path {FOLDER}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (FOLDER / "nginx.conf").write_text(f"daemon off; user root; worker_processes 1; pid {FOLDER}/nginx.pid; error_log {FOLDER}/error.log;\nevents {{}}\n"
                                       f"http {{ {temporary} access_log {FOLDER}/access.log; keepalive_timeout 0;\n"
                                       f"server {{ listen {SERVER}:80; root {pages}; }} }}\n")
    namespace.start(found("nginx"), "-c", FOLDER / "nginx.conf", "-e", FOLDER / "error.log")
    assert until(lambda: all(port in namespace.run("ss", "-Hulnt") for port in (":123 ", ":80 ")), 60)


@pytest.fixture(scope="module")
def router(lab):
    """Linux between the board's link and the server's. None: TAP is not permitted here."""
    router, server = lab.namespace("router"), lab.namespace("server")
    if not lab.tap(router, "weir0"):
        return None
    router.address("weir0", f"{HOST}/24")
    lab.veth(router, "eth0", server, "eth0")
    router.address("eth0", "192.0.2.1/24")
    server.address("eth0", "192.0.2.2/24")
    server.address("lo", f"{SERVER}/32")
    server.run("ip", "route", "add", "10.0.0.0/24", "via", "192.0.2.1")
    router.run("ip", "route", "add", SERVER, "via", "192.0.2.2")
    router.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
    serve(server)
    return router


@pytest.mark.parametrize("board", BOARDS)
def test_against_chrony_and_nginx_behind_a_router(router, board):
    if not router:
        pytest.skip("no TAP is permitted here")
    (FOLDER / "access.log").write_text("")
    began = time.time()
    machine = router.start(*command(board, "tap,ifname=weir0,script=no,downscript=no", PROGRAM))
    check(finished(machine), LINES, began)
    machine.stop()
    logged = (FOLDER / "access.log").read_text()
    assert logged.startswith(f"{ADDRESS} ") and '"GET / HTTP/1.1" 200' in logged


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("loss", (0, 0.15), ids=("clean", "lossy"))
def test_without_privileges(board, loss):
    with Peer(SERVER, gateway=HOST, page=LINES.encode(), loss=loss) as peer:
        log, began = ROOT / f"build/boards/{board}/{PROGRAM}.{loss}.log", time.time()
        machine = Process(command(board, f"socket,udp=127.0.0.1:{peer.port},localaddr=127.0.0.1:{peer.there}", PROGRAM), log)
        try:
            check(finished(machine), LINES, began)
            assert until(lambda: peer.acknowledged_end, 60)   # the board closed, too; its last segments may be lost, and go again
        finally:
            machine.stop()
        assert peer.resolved == {HOST}   # the server's own address was never asked for on the link
