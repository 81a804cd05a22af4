# SPDX-License-Identifier: BSD-2-Clause
"""Files between Linux's TCP and Weir's, each way, compared by their sums: over links of several MTUs that lose, reorder, duplicate and
corrupt, over every driver, with and without offloads."""
import itertools
import os
import time

import pytest
from tcp_lab import CAMPAIGN, HOST, LINUX, Lab, Site, check_output, data_file, digest, finish, in_background, receive_all, until

PORT = 9000
SLOW = 4 if "asan" in HOST else 1


@pytest.fixture
def lab():
    with Lab() as made:
        yield made


def to_weir(site, size, *words, seconds=200):
    """Linux sends, Weir receives."""
    path, wanted = data_file(site.lab, size)
    got = site.lab.folder / "received"
    weir = site.run(f"listen {PORT} {got}", *words)
    assert until(lambda: "listening" in weir.output(), 60), weir.output()
    sock = site.connect(PORT)
    sock.settimeout(seconds)
    began = time.monotonic()
    sock.sendall(path.read_bytes())
    sock.shutdown(1)
    finish(weir, seconds)    # Weir closes when it has everything
    took = time.monotonic() - began
    sock.close()
    assert digest(got) == wanted
    return took


def from_weir(site, size, *words, seconds=200):
    """Weir sends, Linux receives."""
    path, wanted = data_file(site.lab, size)
    listener = site.listen(PORT)
    weir = site.run(f"send {path} {LINUX} {PORT}", *words)
    sock, _ = listener.accept()
    sock.settimeout(seconds)
    began = time.monotonic()
    assert receive_all(sock) == (wanted, size)
    took = time.monotonic() - began
    sock.close()
    finish(weir, seconds)
    listener.close()
    return took


def both_ways_at_once(site, size, *words, seconds=200):
    """Through the echo server: data and acknowledgements share segments in both directions."""
    path, wanted = data_file(site.lab, size)
    weir = site.serve(*words)
    sock = site.connect(7)
    sock.settimeout(seconds)
    received = in_background(receive_all, sock)
    sock.sendall(path.read_bytes())
    sock.shutdown(1)
    assert received(seconds) == (wanted, size)
    sock.close()
    assert weir.stop() == 0, weir.output()
    check_output(weir)


WAYS = {"to": to_weir, "from": from_weir, "echo": both_ways_at_once}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("offload", ["offload", "no-offload"])
@pytest.mark.parametrize("kind", ["tap", "tun", "packet"])
def test_clean(lab, kind, offload, way):
    WAYS[way](Site(lab, kind), 16_000_000 // SLOW, *(["--no-offload"] if offload == "no-offload" else []))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mtu", [576, 9000])
def test_mtu(lab, mtu, way):
    WAYS[way](Site(lab, "tap", mtu), 4_000_000 // SLOW)


# Bytes that pass in a few seconds at this loss, over segments of an Ethernet's size.
SIZES = {0: 4_000_000, 1: 2_000_000, 5: 600_000, 10: 200_000, 20: 30_000}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("loss", [1, 5, 10, 20])
@pytest.mark.parametrize("mtu", [576, 1500, 9000])
def test_loss(lab, mtu, loss, way):
    WAYS[way](Site(lab, "tap", mtu), SIZES[loss] * min(mtu, 3000) // 1500, "--loss", str(loss), "--seed", str(mtu + loss))


TROUBLES = [["--reorder", "10"], ["--duplicate", "10"], ["--corrupt", "3"], ["--reorder", "5", "--duplicate", "5", "--corrupt", "2", "--loss", "2"],
            ["--delay", "20", "--loss", "1"], ["--rate", "20", "--delay", "5"]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("words", TROUBLES, ids=" ".join)
def test_trouble(lab, words, way):
    WAYS[way](Site(lab), 1_000_000, *words)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["tun", "packet"])
def test_trouble_elsewhere(lab, kind, way):
    WAYS[way](Site(lab, kind), 500_000, "--loss", "3", "--reorder", "5", "--duplicate", "2")


@pytest.mark.skipif(not CAMPAIGN, reason="long: CAMPAIGN=1")
@pytest.mark.parametrize("case", itertools.product(["tap", "tun", "packet"], [576, 1500, 9000], [0, 1, 5, 10, 20], ["offload", "no-offload"], ["cubic", "reno"]), ids=str)
def test_all(lab, case):
    kind, mtu, loss, offload, congestion = case
    words = ["--loss", str(loss), "--cc", congestion] + (["--no-offload"] if offload == "no-offload" else [])
    for seed, way in enumerate(WAYS.values()):
        with Lab(lab.folder / way.__name__) as own:
            way(Site(own, kind, mtu), SIZES[loss], *words, "--seed", str(seed), seconds=200)
