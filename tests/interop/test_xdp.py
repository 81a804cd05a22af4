# SPDX-License-Identifier: BSD-2-Clause
"""weir-host and weir-run on a queue of a veth interface, by AF_XDP, with Linux at the other end of the cable: ping, files both ways, both
families, a jumbo MTU. The driver alone: test_drivers.py."""
import hashlib
import os
import random
import shutil
import subprocess
import sys

import pytest
from tcp_lab import HOST, ROOT, Lab, until

RUN = os.environ.get("WEIR_RUN_PROGRAM", str(ROOT / "build/host/weir-run"))
LINUX, WEIR, LINUX6, WEIR6 = "10.98.0.1", "10.98.0.2", "fd98::1", "fd98::2"
ADDRESSES = ("--address", f"{WEIR}/24", "--address6", f"{WEIR6}/64")
SIZE = 4_000_000


@pytest.fixture(params=[1500, 9000])
def cable(request):
    """Linux and, at the other end, a namespace whose eth0 has no address of Linux's."""
    with Lab() as lab:
        linux, there = lab.namespace("linux"), lab.namespace("weir")
        lab.veth(linux, "eth0", there, "eth0", mtu=request.param)
        lab.veth(linux, "try0", there, "try0", mtu=request.param)   # eth0's queue would not be free again at once
        tried = there.run(HOST, "--xdp", "try0", *ADDRESSES, "--run", "ping 127.0.0.1 1", check=False)
        if "lacks AF_XDP" in tried or "run as root" in tried:
            pytest.skip(tried)
        linux.run("ethtool", "-K", "eth0", "tx", "off")   # frames come as they are, and so would half-finished sums
        linux.address("eth0", f"{LINUX}/24")
        linux.run("ip", "address", "add", f"{LINUX6}/64", "dev", "eth0", "nodad")
        (lab.folder / "data").write_bytes(random.Random(1).randbytes(SIZE))
        yield lab, linux, there


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def answers(linux, process, url):
    asks = [*linux.enter(), "curl", "-s", "-m", "2", "-o", "/dev/null", url]
    assert until(lambda: process.poll() is not None or subprocess.run(asks).returncode == 0, 60), process.output()
    assert process.poll() is None, process.output()


def test_host_answers_over_both_families(cable):
    _, linux, there = cable
    host = there.start(HOST, "--xdp", "eth0", *ADDRESSES)
    for address in (WEIR, WEIR6):
        url = f"http://[{address}]/" if ":" in address else f"http://{address}/"
        answers(linux, host, url)
        linux.ping(address, 3, "-i", "0.2", "-s", "8000")
        assert linux.run("curl", "-sSf", url).rstrip().endswith("</html>")
    if shutil.which("iperf3"):
        for words in ((), ("-R",)):
            assert "iperf Done." in linux.run("iperf3", "-c", WEIR, "-n", "20M", *words, timeout=200)
    assert host.stop() == 0, host.output()


def test_programs_serve_and_fetch_files(cable):
    lab, linux, there = cable
    words = [RUN, "--xdp", "eth0", *ADDRESSES]
    server = there.start(*words, sys.executable, "-m", "http.server", "8000", "--bind", "::", cwd=lab.folder)
    for address in (WEIR, f"[{WEIR6}]"):
        answers(linux, server, f"http://{address}:8000/")
        linux.run("curl", "-sSf", "-o", lab.folder / "got", f"http://{address}:8000/data")
        assert digest(lab.folder / "got") == digest(lab.folder / "data")
    server.stop()
    server = linux.start(sys.executable, "-m", "http.server", "8001", "--bind", LINUX, cwd=lab.folder)
    answers(linux, server, f"http://{LINUX}:8001/")
    fetch, said = [*words, "curl", "-sSf", "-o", lab.folder / "fetched", f"http://{LINUX}:8001/data"], []
    # Linux gives the queue of an XDP socket back some time after its process has gone.
    assert until(lambda: said.append(there.run(*fetch, check=False, timeout=200)) or "has the queue" not in said[-1], 60), said[-1]
    assert digest(lab.folder / "fetched") == digest(lab.folder / "data")


def test_a_link_that_is_taken_is_refused_in_one_sentence(cable):
    _, _, there = cable
    host = there.start(HOST, "--xdp", "eth0", *ADDRESSES)
    assert until(lambda: "up on eth0" in host.output(), 60), host.output()
    for command in ([HOST, "--xdp", "eth0", *ADDRESSES], [RUN, "--xdp", "eth0", *ADDRESSES, "true"]):
        refused = there.run(*command, check=False)
        assert refused.count("\n") == 1 and "another program has the queue" in refused, refused
    assert host.stop() == 0, host.output()
