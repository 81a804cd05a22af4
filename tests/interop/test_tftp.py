# SPDX-License-Identifier: BSD-2-Clause
"""The TFTP client against atftpd and dnsmasq, over good links and bad ones."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
LINUX, WEIR = "10.88.0.1", "10.88.0.2"
FOLDER = ROOT / "build/labs/tftp"
SERVED, HERE = FOLDER / "served", FOLDER / "here"
SIZES = {"empty": 0, "short": 100, "full": 1024, "large": 100_000}


def tool(name):
    return shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") or name


class World:
    def __init__(self, lab):
        self.linux = lab.namespace("linux")
        # Which frames --loss takes is not to depend on when Linux says what about itself.
        self.linux.run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
        self.where, self.words = lab.link(self.linux, "weir0", LINUX)
        self.servers = {
            "atftpd": (70, self.linux.start(tool("atftpd"), "--daemon", "--no-fork", "--user", "root.root", "--port", "70", "--bind-address", LINUX,
                                            "--verbose=7", "--logfile", "-", SERVED)),
            "dnsmasq": (69, self.linux.start(tool("dnsmasq"), "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--enable-tftp", "--user=root",
                                             f"--tftp-root={SERVED}", f"--listen-address={LINUX}", "--bind-interfaces", "--log-facility=-",
                                             f"--pid-file={FOLDER}/dnsmasq.pid"))}
        assert until(lambda: all(f"{LINUX}:{port} " in self.linux.run("ss", "-Hlnu") for port, _ in self.servers.values()), 60), self.output()

    def output(self):
        return "".join(server.output()[-2000:] for _, server in self.servers.values())

    def tftp(self, server, words, *more, timeout=60):
        return subprocess.run(self.where.enter() + [HOST, *self.words, "--address", f"{WEIR}/24", *more, "--run", f"tftp {LINUX}:{self.servers[server][0]} {words}"],
                              cwd=HERE, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    SERVED.mkdir(parents=True)
    HERE.mkdir()
    SERVED.chmod(0o777)
    for name, size in SIZES.items():
        (SERVED / name).write_bytes(bytes(i * 31 % 251 for i in range(size)))
        (SERVED / name).chmod(0o666)
    with Lab(FOLDER) as lab:
        yield World(lab)


# Sizes that end in a short block, an empty one, or at once; options that are taken, refused, or not asked.
WAYS = [("empty", ""), ("short", ""), ("full", ""), ("full", "-b 1024"), ("large", "-b 1428 -w 8")]


@pytest.mark.parametrize("server", ["atftpd", "dnsmasq"])
@pytest.mark.parametrize("name,options", WAYS)
def test_get(world, server, name, options):
    done = world.tftp(server, f"get {name} {options}")
    assert done.returncode == 0, done.stderr + world.output()
    assert (HERE / name).read_bytes() == (SERVED / name).read_bytes()
    if server == "atftpd" and "-w" in options:
        assert "blocks of 1428 bytes, windows of 8" in done.stderr


@pytest.mark.parametrize("name,options", WAYS)
def test_put(world, name, options):
    target = SERVED / f"put-{name}-{len(options)}"
    done = world.tftp("atftpd", f"put {target.name} {SERVED / name} {options}")
    assert done.returncode == 0, done.stderr + world.output()
    assert until(lambda: target.exists() and target.read_bytes() == (SERVED / name).read_bytes(), 60)


@pytest.mark.parametrize("server,options", [("dnsmasq", "-b 1428"), ("atftpd", "-b 1428 -w 8")])
def test_over_a_bad_link(world, server, options):
    done = world.tftp(server, f"get large lossy {options}", "--loss", "3%", "--duplicate", "3%", "--seed", "7", timeout=200)
    assert done.returncode == 0, done.stderr + world.output()
    assert (HERE / "lossy").read_bytes() == (SERVED / "large").read_bytes()
    assert " 0 timeouts, 0 gaps" not in done.stderr


def test_a_file_stays_until_the_new_one_comes(world):
    (HERE / "kept").write_text("what was here before, and is longer than what comes")
    done = world.tftp("dnsmasq", "get nothing kept")
    assert done.returncode == 1 and (HERE / "kept").read_text().startswith("what was here")
    done = world.tftp("dnsmasq", "get short kept")
    assert done.returncode == 0 and (HERE / "kept").read_bytes() == (SERVED / "short").read_bytes(), done.stderr
    (HERE / "kept").write_text("once more")
    done = world.tftp("dnsmasq", "get empty kept")
    assert done.returncode == 0 and (HERE / "kept").read_bytes() == b"", done.stderr


def test_errors_are_told(world):
    for server in world.servers:
        done = world.tftp(server, "get nothing")
        assert done.returncode == 1 and "error 1: " in done.stderr, done.stderr
    done = world.tftp("dnsmasq", f"put new {SERVED / 'short'}")
    assert done.returncode == 1 and "tftp: error " in done.stderr, done.stderr
