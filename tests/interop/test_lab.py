# SPDX-License-Identifier: BSD-2-Clause
"""The laboratory's network: weir-link between TAPs, with Linux and with Weir at its ends. What is measured with it is `make lab`'s business."""
import contextlib
import ctypes
import errno
import html
import json
import multiprocessing
import os
import pathlib
import platform
import re
import signal
import socket
import struct
import subprocess
import sys
import time

import pytest

from netns import ROOT, Lab, until
from patience import measured

sys.path.insert(0, str(ROOT / "lab"))
import net  # noqa: E402
import page  # noqa: E402
import runs  # noqa: E402

pytestmark = pytest.mark.skipif(not net.pathlib.Path("/dev/net/tun").exists(), reason="no TAP here")


def joined(lab, *settings):
    middle, a, b = (lab.namespace(name) for name in ("link", "a", "b"))
    link = middle.start(net.BIN / "weir-link", "lab0", "lab1", *settings)
    assert until(lambda: link.output().startswith("ready")), link.output()
    for tap, namespace, address in (("lab0", a, "10.66.0.1/24"), ("lab1", b, "10.66.0.2/24")):
        middle.run("ip", "link", "set", tap, "netns", namespace.pid)
        namespace.address(tap, address)
    return link, a, b


def taken_from(namespace, tap):
    """How many frames have been read by who holds the TAP."""
    return json.loads(namespace.run("ip", "-j", "-s", "link", "show", tap))[0]["stats64"]["tx"]["packets"]


@measured
def test_delay_is_that_of_the_settings():
    with Lab() as lab:
        _, a, _ = joined(lab, "--delay", "20")
        times = [float(t) for t in re.findall(r"time=([0-9.]+)", a.run("ping", "-c", "6", "-i", "0.2", "10.66.0.2"))]
        assert len(times) == 6
        assert 40 <= min(times) < 45, times


@measured
def test_no_frame_is_early_when_the_link_is_held_up():
    """A round trip shorter than the path's is what Vegas and Westwood take for the path. Frames over datagram sockets, each with the time at which it left."""
    delay_s, late_s, rounds = 0.005, 0.01, 100
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as a, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as b, Lab() as lab:
        here = []
        for end in (a, b):
            end.bind(("127.0.0.1", 0))
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
                free.bind(("127.0.0.1", 0))
                here.append(free.getsockname()[1])
        ends = [f"udp:{port}:{end.getsockname()[1]}" for port, end in zip(here, (a, b))]
        link = lab.here().start(net.BIN / "weir-link", *ends, "--delay", str(delay_s * 1000))
        assert until(lambda: link.output().startswith("ready")), link.output()
        b.settimeout(2 * delay_s)
        took = []

        def send(count):
            for _ in range(count):
                a.sendto(bytes(14) + struct.pack("!d", time.monotonic()) + bytes(38), ("127.0.0.1", here[0]))
        for _ in range(rounds):
            send(100)
            link.send_signal(signal.SIGSTOP)   # in the midst of them, more often than not
            time.sleep(late_s)
            send(20)
            link.send_signal(signal.SIGCONT)
            with contextlib.suppress(TimeoutError):
                while True:
                    frame = b.recv(100)
                    took.append(time.monotonic() - struct.unpack_from("!d", frame, 14)[0])
        link.stop()
    assert len(took) > 20 * rounds and delay_s <= min(took) < delay_s + 2 * late_s, (len(took), min(took))


def test_loss_is_that_of_the_settings_and_counted():
    with Lab() as lab:
        link, a, _ = joined(lab, "--loss", "50", "--seed", "3")
        a.run("ip", "neigh", "replace", "10.66.0.2", "lladdr", "02:00:00:00:00:02", "dev", "lab0", "nud", "permanent")
        a.run("ping", "-q", "-c", "200", "-i", "0.002", "-W", "1", "10.66.0.2", check=False)
        assert until(lambda: taken_from(a, "lab0") >= 200, 60)
        assert link.stop() == 0
        there, _ = json.loads(link.output().split("\n", 1)[1])
        assert there["offered"] >= 200
        assert 0.3 < there["lost"] / there["offered"] < 0.7


def test_losses_spare_arp_where_that_is_asked_for():
    with Lab() as lab:
        link, a, _ = joined(lab, "--loss", "100", "--spare_arp", "1")

        def resolved():
            said = a.run("ping", "-q", "-c", "2", "-i", "0.2", "-W", "1", "10.66.0.2", check=False)
            assert "100% packet loss" in said
            return "lladdr" in a.run("ip", "neigh", "show", "10.66.0.2")
        assert until(resolved, 60)
        link.stop()


def test_losses_spare_every_handshake_where_that_is_asked_for():
    with Lab() as lab:
        _, a, b = joined(lab, "--loss", "100", "--spare_arp", "1", "--spare_handshake", "1")
        listen = "import signal, socket; s = socket.create_server(('10.66.0.2', 5201)); print('listening', flush=True); signal.pause()"
        server = b.start(sys.executable, "-c", listen)
        assert until(lambda: "listening" in server.output(), 60)
        connect = "import socket; s = socket.create_connection(('10.66.0.2', 5201), 60); s.sendall(b'x'); s.close(); print('connected')"
        for _ in range(3):
            assert a.run(sys.executable, "-c", connect, check=False).strip() == "connected"


def test_a_wrong_setting_is_named():
    with Lab() as lab:
        said = lab.namespace("x").run(net.BIN / "weir-link", "lab0", "lab1", "--colour", "red", check=False)
        assert "colour" in said


@pytest.mark.parametrize("sender,receiver,version6", [("weir", "linux", False), ("linux", "weir", False), ("weir", "weir", False), ("linux", "linux", False),
                                                      ("weir", "linux", True), ("linux", "weir", True)])
@measured
def test_a_transfer_and_a_run_of_iperf3(sender, receiver, version6, tmp_path):
    link = net.Link(rate=50, delay=2, queue=500000)
    with net.Network(link, sender, receiver, tmp_path, trace=tmp_path / "frames.csv", version6=version6) as network:
        if receiver == "weir":   # whom serve() does not wait for
            assert until(lambda: "up on" in network.receiver.server.output(), 60)
        result = network.bulk("cubic", seconds=1)
        assert 20 < result["mbit"] < 48
    assert (tmp_path / "frames.csv").read_text().count(",in,") > 1000
    with net.Network(link, sender, receiver, tmp_path, serve=False, version6=version6) as network:
        assert 0.15 < network.transfer(1 << 20, "cubic") < 3


def test_the_page_shows_what_a_run_started(tmp_path, monkeypatch):
    """As it was typed, each line after the namespace it belongs to; and the next run begins with none."""
    monkeypatch.setattr(runs, "RUNS", tmp_path / "runs")
    monkeypatch.setattr(page, "OUT", tmp_path)

    def transfer(link, cc):
        with net.Network(link, "weir", "linux", tmp_path / "network", serve=False) as network:
            return network.transfer(1 << 16, cc)
    ledger = runs.Runs(fresh=False)
    found = {cc: [ledger.run("x", {"cc": cc}, 1, lambda link=link, cc=cc: transfer(link, cc), "weir", link=link)]
             for cc, link in (("bbr", net.Link(rate=50, delay=2, queue=500000, spare_arp=1)), ("reno", net.Link()))}
    ledger.go()
    assert not ledger.failures
    link, listens, sends = found["bbr"][0].commands()
    assert link == "link$ build/host/weir-link lab0 lab1 --rate 50 --delay 2 --queue 500000 --spare_arp 1"
    assert listens == "b$ python3 lab/transfer.py listen"
    assert sends.startswith("a$ build/host/weir-host --packet lab0 --address 10.66.0.1/24 --no-offload --cc bbr --run 'send ") and sends.endswith(" 10.66.0.2 5001'")
    assert found["reno"][0].commands()[0] == "link$ build/host/weir-link lab0 lab1" and len(found["reno"][0].commands()) == 3
    sheet = page.Page("x")
    sheet.commands(found | {"none": []})
    sheet.write()
    assert html.escape(f"# bbr\n{link}\n{listens}\n{sends}\n\n# reno\n") in (tmp_path / "index.html").read_text()


class _Span(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="extended state is x86's")
def test_what_user_mode_linux_keeps_of_a_process_can_be_put_back():
    """It has room for a part of what a newer processor's processes have. Linux gives a part, but takes only the whole."""
    traceme, getregset, setregset, detach, xstate, part = 0, 0x4204, 0x4205, 17, 0x202, 576   # sys/ptrace.h, elf.h; what XSAVE has at the least
    libc, preloaded = (ctypes.CDLL(name, use_errno=True).ptrace for name in (None, str(net.BIN / "uml_xstate.so")))
    for ptrace in (libc, preloaded):
        ptrace.restype, ptrace.argtypes = ctypes.c_long, (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
    child = os.fork()
    if child == 0:
        libc(traceme, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        os._exit(7)
    os.waitpid(child, 0)

    def state(ptrace, request, room):
        span = _Span(ctypes.addressof(room), len(room))
        return ptrace(request, child, xstate, ctypes.addressof(span)), bytes(room[:span.length])
    changed = ctypes.create_string_buffer(part)
    answer, before = state(preloaded, getregset, changed)
    assert answer == 0 and len(before) == part
    whole = state(libc, getregset, ctypes.create_string_buffer(1 << 16))[1]
    assert len(whole) > part and whole[:part] == before
    changed[32:40], changed[512] = b"\x01\x02\x03\x04\x05\x06\x07\x08", whole[512] | 1   # st(0); XSTATE_BV says that there is x87 state
    assert state(libc, setregset, changed)[0] == -1 and ctypes.get_errno() == errno.EFAULT
    assert state(preloaded, setregset, changed)[0] == 0
    after = state(libc, getregset, ctypes.create_string_buffer(1 << 16))[1]
    assert after[32:40] == bytes(changed[32:40]) and after[part:] == whole[part:]
    assert libc(detach, child, None, None) == 0
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_runs_are_remembered_and_failures_told(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    calls = tmp_path / "calls"

    def work():
        with open(calls, "a") as out:
            out.write("x")
        return {"value": 7}

    def fail():
        raise net.Failed("the reason")
    for _ in range(2):
        ledger = runs.Runs(fresh=False)
        good, bad, dead = (ledger.run("x", {"seed": seed}, 1, what, "sim") for seed, what in enumerate((work, fail, lambda: os._exit(3))))
        ledger.go()
        assert good.result() == {"value": 7} and bad.result() is None and dead.result() is None
        assert list(ledger.failures_by_reason()) == ["Failed: the reason", "its process ended with 3"]
    assert calls.read_text() == "x"


@pytest.mark.parametrize("fresh", (False, True))
def test_what_fails_when_measured_anew_has_no_result_of_another_time(tmp_path, monkeypatch, fresh):
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    for works, anew in ((True, False), (False, fresh)):
        ledger = runs.Runs(anew)
        planned = ledger.run("x", {}, 1, lambda works=works: 7 if works else 1 / 0, "sim")
        ledger.go()
    assert planned.result() == (None if fresh else 7) and len(ledger.failures) == fresh


def test_a_result_is_kept_as_long_as_what_it_depends_on_is_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    code = {kind: tmp_path / kind for kind in ("linux", "sim")}
    monkeypatch.setattr(runs, "CODE", {kind: [file, None] for kind, file in code.items()})
    for file in code.values():
        file.write_text(file.name)

    def files():
        ledger = runs.Runs(fresh=False)
        return [ledger.run("x", {"seed": 1}, 1, None, kind, link=link).file for kind in code for link in (None, net.Link(loss=1), net.Link(loss=2))]
    before = files()
    assert len(set(before)) == 6 and files() == before
    code["sim"].write_text("2")
    assert files()[:3] == before[:3] and not set(files()[3:]) & set(before)
    monkeypatch.setattr(runs.platform, "release", lambda: "another kernel")
    assert not set(files()) & set(before)


def test_what_is_measured_names_all_it_depends_on():
    for kind, files in runs.CODE.items():
        names = {pathlib.Path(file).name for file in files if file}
        assert {"linux": {"link.c", "outside.h", "queue.c", "net.py", "transfer.py", "iperf3"}, "uml": {"link.c", "net.py", "iperf3"},
                "weir": {"link.c", "net.py", "weir-host", "iperf3"}, "sim": {"sim.py", "weir-sim"}}[kind] <= names, (kind, names)


def test_the_ends_of_a_network_may_lie_on_one_core_and_what_follows_on_any(tmp_path):
    before = os.sched_getaffinity(0)
    with net.Network(net.Link(), "linux", "linux", tmp_path, apart=True) as network:
        assert len(os.sched_getaffinity(0)) == 1
        assert network.emulator.poll() is None and os.sched_getaffinity(network.emulator.pid) == {max(before)}
    assert os.sched_getaffinity(0) == before


def test_the_simulator_writes_where_it_is_told(tmp_path):
    subprocess.run([sys.executable, ROOT / "tools/sim.py", "grid", "--cc", "reno", "--seconds", "1", "--seeds", "1", "--out", "grid.json"], cwd=tmp_path, check=True,
                   capture_output=True)
    assert runs.simulate("grid", cc="reno", seconds=1, seeds=1) == json.loads((tmp_path / "grid.json").read_text())


def test_small_runs_go_side_by_side_and_large_ones_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    ledger = runs.Runs(fresh=False)
    fork = multiprocessing.get_context("fork")
    together = {share: fork.Barrier(round(1 / share)) for share in (0.25, 0.5, 1)}
    taken = fork.Value("d", 0)

    def add(share):
        with taken:
            taken.value += share
            return taken.value

    def seen(share):
        """What all that are under way take of the machine, while all of this one's kind are: nobody goes on before, or leaves until all have looked."""
        add(share)
        together[share].wait(60)
        found = add(0)
        together[share].wait(60)
        add(-share)
        return found
    shares = (0.25, 0.25, 0.25, 0.25, 1, 0.5, 0.5)
    planned = [ledger.run("x", {"seed": seed}, 1, lambda share=share: seen(share), "sim", share=share) for seed, share in enumerate(shares)]
    ledger.go()
    assert [run.result() for run in planned] == [1] * len(shares)


def test_what_is_under_way_ends_with_the_laboratory(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RUNS", tmp_path)
    ledger = runs.Runs(fresh=False)
    ended = tmp_path / "ended"

    def work():
        with Lab(tmp_path / "lab") as lab:
            lab.namespace("x").start("sleep", "1000")
            (tmp_path / "began").touch()
            try:
                until(lambda: False, 60)
            finally:
                ended.touch()
    planned = ledger.run("x", {}, 1, work, "sim")
    signal.signal(signal.SIGALRM, lambda *_: interrupt(tmp_path))
    signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
    with pytest.raises(KeyboardInterrupt):
        ledger.go()
    assert ended.exists() and planned.result() is None and not planned.process.is_alive()


def interrupt(folder):
    if (folder / "began").exists():
        signal.setitimer(signal.ITIMER_REAL, 0)
        raise KeyboardInterrupt
