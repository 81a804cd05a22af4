# SPDX-License-Identifier: BSD-2-Clause
"""For test_tcp_*.py: one namespace with a link to a Weir host in it, Linux sockets inside that namespace, and files to compare.

WEIR_HOST names another weir-host (one built with sanitizers); CAMPAIGN=1 runs the long ones, too."""
import contextlib
import ctypes
import hashlib
import os
import pathlib
import random
import socket
import subprocess
import sys
import threading
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
LINUX, WEIR = "10.90.0.1", "10.90.0.2"
CAMPAIGN = bool(os.environ.get("CAMPAIGN"))
campaign = pytest.mark.skipif(not CAMPAIGN, reason="long: CAMPAIGN=1")
_libc = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def inside(namespace):
    """Sockets that this thread makes belong to the namespace, and stay in it."""
    with open("/proc/thread-self/ns/net") as own:
        namespace.join()
        try:
            yield
        finally:
            _libc.setns(own.fileno(), 0)


def half_open(namespace):
    """Whether Linux has a connection there whose SYN alone has come. That may not last long: no program is started to
    look for it."""
    rows = pathlib.Path(f"/proc/{namespace.pid}/net/tcp").read_text().splitlines()[1:]
    return any(row.split()[3] == "03" for row in rows)


class Site:
    """A namespace `linux` with an interface `link0`, at whose other end a Weir host can stand."""

    def __init__(self, lab, kind="tap", mtu=1500, name="linux", address=LINUX):
        self.lab, self.kind, self.mtu = lab, kind, mtu
        self.linux = lab.namespace(name)
        self.where = self.linux
        if kind == "packet":
            self.where = lab.namespace(name + "-weir")
            lab.veth(self.linux, "link0", self.where, "eth0", mtu=mtu)
            self.words = ["--packet", "eth0"]
        else:
            if not lab.tap(self.linux, "link0", mode=kind, mtu=mtu):
                pytest.skip(f"no right to make a {kind}")
            self.words = [f"--{kind}", "link0"]
        self.linux.address("link0", f"{address}/24")

    def command_line(self, *words, address=WEIR):
        return [HOST, *self.words, "--mtu", self.mtu, "--address", f"{address}/24", *words]

    def serve(self, *words):
        """A host that serves until the lab closes; ready when it answers. Whoever ends it must find that it ends well."""
        host = self.where.start(*self.command_line(*words))
        assert until(lambda: "up on" in host.output() or host.poll() is not None, 60), host.output()
        assert host.poll() is None, host.output()
        return host

    def run(self, command, *words):
        """A host that runs one command, in the background; finish() waits for it."""
        return self.where.start(*self.command_line(*words, "--run", command))

    def socket(self, kind=socket.SOCK_STREAM, protocol=0, family=socket.AF_INET):
        with inside(self.linux):
            made = socket.socket(family, kind, protocol)
        made.settimeout(60)
        return made

    def connect(self, port, **options):
        """Connects to the Weir host, which may still be on its way up."""
        deadline = time.monotonic() + 60
        while True:
            made = self.socket()
            for option, value in options.items():
                made.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
            try:
                made.connect((WEIR, port))
                return made
            except OSError:
                made.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)

    def listen(self, port, backlog=16, **options):
        made = self.socket()
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        for option, value in options.items():
            made.setsockopt(socket.SOL_SOCKET, getattr(socket, option), value)
        made.bind((LINUX, port))
        made.listen(backlog)
        return made


def finish(process, seconds=60, status=0):
    """Waits for a command; its status must be right and no sanitizer may have spoken."""
    try:
        got = process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.stop()
        raise AssertionError(f"not done after {seconds} s: {process.output()}") from None
    check_output(process)
    assert got == status, process.output()


def check_output(process):
    output = process.output()
    assert "Sanitizer" not in output and "runtime error" not in output, output


def stop(process):
    assert process.poll() is None, "the host ended by itself:\n" + process.output()
    assert process.stop() == 0, process.output()
    check_output(process)


def data_file(lab, size, seed=1):
    """A file of random bytes; returns (path, sha256)."""
    data = random.Random(f"{size} {seed}").randbytes(size)
    path = lab.folder / f"data-{size}-{seed}"
    path.write_bytes(data)
    return path, hashlib.sha256(data).hexdigest()


def digest(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def receive_all(sock, pace=0.0):
    """Everything until the end of the stream; (sha256, bytes)."""
    total, count = hashlib.sha256(), 0
    while chunk := sock.recv(1 << 18):
        total.update(chunk)
        count += len(chunk)
        if pace:
            time.sleep(pace)
    return total.hexdigest(), count


def in_background(function, *arguments):
    """Runs it in a thread; the returned function waits for its result, and raises what it raised."""
    box = {}

    def work():
        try:
            box["result"] = function(*arguments)
        except BaseException as error:   # noqa: BLE001: it is raised again in the caller
            box["error"] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    def result(seconds=60):
        thread.join(seconds)
        assert not thread.is_alive(), "still at work"
        if "error" in box:
            raise box["error"]
        return box["result"]
    return result


def status(site):
    """The host's status page as data (see apps/status/status.c)."""
    import json
    return json.loads(site.linux.run("curl", "-s", "--max-time", "60", f"http://{WEIR}/status.json"))
