# SPDX-License-Identifier: BSD-2-Clause
"""The HTTP library with peers of other makes: its server (http_site.c) with curl and Python's WebSockets, its client (weir-host's `get`) with nginx and with
Python's server; over TLS both are in test_tls.py."""
import email.utils
import gzip
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from building import build, host_flags  # noqa: E402
from netns import Lab, until  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
LINUX, WEIR, CLIENT_LINUX, CLIENT = "10.88.0.1", "10.88.0.2", "10.89.0.1", "10.89.0.2"
FOLDER = ROOT / "build/labs/http"
SITE, URL = FOLDER / "http_site", f"http://{WEIR}"
PAGE = "<!doctype html><title>Site</title>" + "<p>All work and no play</p>\n" * 200
PYTHON = str(ROOT / "build/venv/bin/python")

# Redirects, chunks, ranges, and a body that ends with the connection.
SERVER = """
import http.server, sys
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def do_POST(self):
        self.answer(200, b"got " + self.rfile.read(int(self.headers["Content-Length"])))
    def answer(self, status, body, **fields):
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        if self.path == "/moved":
            self.answer(302, b"elsewhere", Location="/again")
        elif self.path == "/again":
            self.answer(308, b"", Location=f"http://{sys.argv[1]}:8000/chunks")
        elif self.path == "/loop":
            self.answer(301, b"", Location="/loop")
        elif self.path == "/chunks":
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for size in (1, 10, 1000, 70000):
                self.wfile.write(b"%x;a=b\\r\\n%s\\r\\n" % (size, b"x" * size))
            self.wfile.write(b"0\\r\\nTrailer: y\\r\\n\\r\\n")
        else:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"until the end")
            self.close_connection = True
http.server.ThreadingHTTPServer((sys.argv[1], 8000), Handler).serve_forever()
"""

SOCKETS = """
import asyncio, os, sys, websockets
PATIENT = dict(open_timeout=60, close_timeout=60, ping_interval=None)
async def main(url):
    async with websockets.connect(url, max_size=None, compression=None, **PATIENT) as socket:
        for length in (0, 1, 125, 126, 65535, 65536, 1_000_000):
            data = os.urandom(length)
            await socket.send(data)
            assert await socket.recv() == data, length
            await socket.send("\\u20ac" * (length // 3))
            assert await socket.recv() == "\\u20ac" * (length // 3), length
        await socket.send([b"in ", b"", b"three ", b"parts"])
        assert await socket.recv() == b"in three parts"
        await (await socket.ping())
    assert socket.close_code == 1000
    await asyncio.gather(*(talk(url, n) for n in range(10)))
async def talk(url, n):
    async with websockets.connect(url, **PATIENT) as socket:
        for i in range(50):
            await socket.send(f"{n} {i}")
            assert await socket.recv() == f"{n} {i}"
asyncio.run(main(sys.argv[1]))
print("served")
"""


def build_site():
    files = FOLDER / "files"
    (files / "sub").mkdir(parents=True)
    (files / "index.html").write_text(PAGE)
    (files / "sub/noise.bin").write_bytes(random.Random(1).randbytes(300_000))
    (files / "a b.txt").write_text("with a blank")
    with open(FOLDER / "files.c", "w") as out:
        subprocess.run([sys.executable, ROOT / "apps/http/files.py", files, "site_files"], stdout=out, check=True)
    build("build/host/liball.a", "build/host/libapps.a")
    words = ["-std=gnu11", "-O1", "-Wall", "-Wextra", *host_flags(), "-Iinclude", "-I.", "-Iapps", "tests/interop/http_site.c", FOLDER / "files.c",
             "build/host/libapps.a", "build/host/liball.a", "-pthread", "-lm", "-o", SITE]
    subprocess.run([os.environ.get("CC", "cc"), *words], cwd=ROOT, check=True)


class World:
    def __init__(self, lab):
        self.lab = lab
        self.linux = lab.namespace("linux")
        where, _ = lab.link(self.linux, "weir0", LINUX, tap=False)
        self.client_where, self.client_words = lab.link(self.linux, "weir1", CLIENT_LINUX)
        self.site = where.start(SITE, "eth0", WEIR)
        assert until(lambda: "1 received" in self.linux.run("ping", "-c", "1", "-W", "1", WEIR, check=False), 60), self.site.output()
        self.server = self.linux.start(sys.executable, "-c", SERVER, CLIENT_LINUX)
        assert until(lambda: ":8000 " in self.linux.run("ss", "-Hlnt"), 60), self.server.output()

    def curl(self, *words, check=True):
        return self.linux.run("curl", "-sS", "--max-time", "60", *words, check=check, timeout=120)

    def get(self, words):
        done = subprocess.run(self.client_where.enter() + [HOST, *self.client_words, "--address", f"{CLIENT}/24", "--gateway", CLIENT_LINUX,
                                                           "--run", f"get {words}"], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        return done.returncode, done.stdout, done.stderr.decode()


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    build_site()
    with Lab(FOLDER) as lab:
        made = World(lab)
        yield made
        assert made.site.poll() is None, "the site died:\n" + made.site.output()


# --- the server -----------------------------------------------------------------------------------------------------------------

def test_the_date_is_said(world):
    before = time.time()
    text = world.curl("-I", f"{URL}/index.html")
    said = email.utils.parsedate_to_datetime(re.search(r"(?m)^Date: (.*?)\r?$", text).group(1))
    assert int(before) - 1 <= said.timestamp() <= time.time() + 1


def test_files_and_what_the_browser_has_already(world):
    assert world.curl(f"{URL}/") == PAGE and world.curl(f"{URL}/index.html") == PAGE and world.curl(f"{URL}/a%20b.txt") == "with a blank"
    head = world.curl("-I", "--compressed", f"{URL}/")
    assert "Content-Encoding: gzip" in head and "Vary: Accept-Encoding" in head
    assert world.curl("--compressed", f"{URL}/") == PAGE
    tag = FOLDER / "etag"
    assert world.curl("--etag-save", tag, f"{URL}/") == PAGE
    assert world.curl("--etag-compare", tag, "-w", "%{http_code}", f"{URL}/") == "304"
    packed = FOLDER / "packed"
    world.curl("-H", "Accept-Encoding: gzip", "-o", packed, f"{URL}/")
    assert gzip.decompress(packed.read_bytes()).decode() == PAGE


def test_ranges_put_a_file_together(world):
    out, whole = FOLDER / "noise", (FOLDER / "files/sub/noise.bin").read_bytes()
    out.write_bytes(whole[:123_456])
    world.curl("-C", "-", "-o", out, f"{URL}/sub/noise.bin")
    assert out.read_bytes() == whole
    assert world.curl("-r", "300000-", "-o", "/dev/null", "-w", "%{http_code}", f"{URL}/sub/noise.bin") == "416"


@pytest.mark.parametrize("words", [["-T"], ["-H", "Transfer-Encoding: chunked", "-H", "Expect: 100-continue", "-X", "POST", "-T"]])
def test_uploads_of_any_length(world, words):
    data = random.Random(2).randbytes(3_000_000)
    (FOLDER / "upload").write_bytes(data)
    text = world.curl("-v", *words, FOLDER / "upload", f"{URL}/upload")
    assert f"{len(data)} {sum(data)}" in text and "100 Continue" in text, text[:2000]


def test_a_body_of_unknown_length(world):
    out = FOLDER / "numbers"
    text = world.curl("-v", "-o", out, f"{URL}/numbers?n=100000", "-o", "/dev/null", f"{URL}/numbers?n=0")
    assert "chunked" in text and "Re-using existing connection" in text
    assert out.read_text().split() == [f"{n:08}" for n in range(100_000)]
    assert world.curl("-0", f"{URL}/numbers?n=3") == "00000000\n00000001\n00000002\n"


def test_many_downloads_at_once(world):
    words = [w for n in range(40) for w in ("-o", FOLDER / f"n{n}", f"{URL}/numbers?n={n * 1000}")]
    world.curl("-Z", "--parallel-max", "40", *words)
    assert all((FOLDER / f"n{n}").read_text().count("\n") == n * 1000 for n in range(40))


def test_events(world):
    text = world.linux.run("sh", "-c", f"curl -sSN --max-time 60 {URL}/events | head -n 12", timeout=120)
    ticks = [int(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    assert text.count("event: tick") == 4 and ticks == list(range(ticks[0], ticks[0] + 4)), text


def test_python_talks_to_the_websocket(world):
    assert world.linux.run(PYTHON, "-c", SOCKETS, f"ws://{WEIR}/echo", timeout=200).split() == ["served"]


# --- the client -----------------------------------------------------------------------------------------------------------------

def test_get_follows_redirects_and_takes_chunks(world):
    status, out, err = world.get(f"http://{CLIENT_LINUX}:8000/moved")
    assert status == 0 and out == b"x" * 71_011, err
    status, out, err = world.get(f"http://{CLIENT_LINUX}:8000/loop")
    assert status == 1 and "redirected" in err and out == b""


def test_get_takes_a_body_that_ends_with_the_connection(world):
    status, out, err = world.get(f"http://{CLIENT_LINUX}:8000/")
    assert status == 0 and out == b"until the end", err


def test_a_file_stays_until_the_answer_comes(world):
    kept = FOLDER / "kept"
    kept.write_text("what was here before, and is longer than what comes")
    status, out, err = world.get(f"http://{CLIENT_LINUX}:8999/ -o {kept}")   # nobody listens there
    assert status == 1 and kept.read_text().startswith("what was here"), err
    status, out, err = world.get(f"http://{CLIENT_LINUX}:8000/ -o {kept}")
    assert status == 0 and kept.read_bytes() == b"until the end", err


def test_get_posts(world):
    status, out, err = world.get(f"http://{CLIENT_LINUX}:8000/ -d hello")
    assert status == 0 and out == b"got hello", err


def test_get_from_nginx(world):
    whole = (FOLDER / "files/sub/noise.bin").read_bytes()
    conf = FOLDER / "nginx.conf"
    temporary = " ".join(f"{name}_temp_path {FOLDER}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    conf.write_text(f"daemon off; error_log stderr; pid {FOLDER}/nginx.pid; events {{}} http {{ access_log off; {temporary} "
                    f"server {{ listen {CLIENT_LINUX}:8001; root {FOLDER}/files; location /old/ {{ rewrite ^/old/(.*)$ /sub/$1 permanent; }} }} }}\n")
    server = world.linux.start(shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", conf, "-e", "stderr")
    assert until(lambda: ":8001 " in world.linux.run("ss", "-Hlnt"), 60), server.output()
    for words, expected in (("sub/noise.bin", whole), ("old/noise.bin", whole), ("sub/noise.bin -r 1000-1999", whole[1000:2000]),
                            ("sub/noise.bin -r 299990-", whole[-10:]), ("sub", None)):
        status, out, err = world.get(f"http://{CLIENT_LINUX}:8001/{words}")
        assert (status == 0 and out == expected) or (expected is None and status == 1 and "HTTP 403" in err), err
    server.stop()
