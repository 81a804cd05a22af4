# SPDX-License-Identifier: BSD-2-Clause
"""weir-run: programs of Linux, unchanged, on Weir. The conversations of run_calls.py go as on Linux; real programs as servers and clients
against Linux's own at the other end of a TAP; what goes wrong is said in one sentence and leaves nothing behind. CAMPAIGN=1: the long forms."""
import contextlib
import hashlib
import os
import pathlib
import random
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest
import run_calls
from patience import measured
from tcp_lab import CAMPAIGN, ROOT, Lab, half_open, inside, until

RUN = os.environ.get("WEIR_RUN_PROGRAM", str(ROOT / "build/host/weir-run"))
CALLS = ROOT / "tests/interop/run_calls.py"
LINUX, WEIR, LINUX6, WEIR6 = "10.97.0.1", "10.97.0.2", "fd97::1", "fd97::2"
SIZE = 50_000_000 if CAMPAIGN else 4_000_000


def needs(*programs):
    for program in programs:
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            pytest.skip(f"{program} is not here")


# --- conversations -----------------------------------------------------------------------------------
@pytest.mark.parametrize("where", ["linux", "weir"])
@pytest.mark.parametrize("case", sorted(run_calls.CASES))
def test_calls(case, where):
    command = [sys.executable, str(CALLS), case]
    if where == "weir":
        command = [RUN, "--loopback", *command]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout.split()[-1:]) == (0, ["done"]), done.stdout + done.stderr


# --- real programs -----------------------------------------------------------------------------------
class Site:
    """Linux with one end of a TAP, and whatever runs on Weir at the other. One program at a time."""

    def __init__(self, lab):
        self.lab, self.linux = lab, lab.namespace("linux")
        if not lab.tap(self.linux, "tap0"):
            pytest.skip("no right to make a TAP")
        self.linux.address("tap0", f"{LINUX}/24")
        self.linux.run("ip", "address", "add", f"{LINUX6}/64", "dev", "tap0", "nodad")
        self.linux.run("ip", "link", "set", "lo", "up")
        self.folder = lab.folder
        self.data = random.Random(1).randbytes(SIZE)
        (self.folder / "data").write_bytes(self.data)
        self.sum = hashlib.sha256(self.data).hexdigest()
        self.words = [RUN, "--tap", "tap0", "--address", f"{WEIR}/24", "--address6", f"{WEIR6}/64"]

    def serve(self, port, *command, host=WEIR, **more):
        """A server on Weir; ready when it takes a connection."""
        server = self.linux.start(*self.words, *command, cwd=self.folder, **more)
        assert until(lambda: server.poll() is not None or self.reaches(host, port), 60), server.output()
        assert server.poll() is None, server.output()
        return server

    def reaches(self, host, port):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with inside(self.linux), socket.socket(family) as sock:
            sock.settimeout(2)
            return sock.connect_ex((host, port)) == 0

    def client(self, *command, timeout=90, **more):
        return self.linux.run(*self.words, *command, timeout=timeout, cwd=self.folder, **more)

    def here(self, *command, timeout=90, **more):
        return self.linux.run(*command, timeout=timeout, cwd=self.folder, **more)

    def background(self, port, *command):
        server = self.linux.start(*command, cwd=self.folder)
        assert until(lambda: server.poll() is not None or self.reaches(LINUX, port), 60), server.output()
        return server

    def fetched(self, name):
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest() == self.sum


@pytest.fixture(scope="module")
def place():
    with Lab() as lab:
        yield Site(lab)


@pytest.fixture
def site(place):
    """The same place for all, and nothing left running in it."""
    before = len(place.lab.processes)
    yield place
    for process in place.lab.processes[before:]:
        process.stop()


def processor_ns(process):
    return int(pathlib.Path(f"/proc/{process.pid}/schedstat").read_text().split()[0])


def ends(server, status=(0, 143)):
    assert server.stop() in status, server.output()


def test_http_server_of_python(site):
    needs("curl", "wget")
    server = site.serve(8000, sys.executable, "-m", "http.server", "8000")
    site.here("curl", "-sSf", "-o", "by-curl", f"http://{WEIR}:8000/data")
    site.here("wget", "-q", "-O", "by-wget", f"http://{WEIR}:8000/data")
    ends(server)
    assert site.fetched("by-curl") and site.fetched("by-wget")


def test_curl_and_wget_as_clients(site):
    needs("curl", "wget")
    server = site.background(8001, sys.executable, "-m", "http.server", "8001", "--bind", LINUX)
    site.client("curl", "-sSf", "-o", "out-curl", f"http://{LINUX}:8001/data")
    site.client("wget", "-q", "-O", "out-wget", f"http://{LINUX}:8001/data")
    server.stop()
    assert site.fetched("out-curl") and site.fetched("out-wget")
    refused = site.client("curl", "-sS", f"http://{LINUX}:8001/data", check=False)
    assert "refused" in refused or "Failed to connect" in refused, refused


ASYNCIO = """
import asyncio
async def echo(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(echo, ["0.0.0.0", "::"], 8002)
    await server.serve_forever()
asyncio.run(main())
"""


def test_asyncio(site):
    server = site.serve(8002, sys.executable, "-c", ASYNCIO)
    for host, family in ((WEIR, socket.AF_INET), (WEIR6, socket.AF_INET6)):
        with inside(site.linux):
            sock = socket.create_connection((host, 8002), 60)
        with sock:
            for at in range(0, min(SIZE, 4_000_000), 500_000):
                sock.sendall(site.data[at:at + 500_000])
                assert run_calls.receive(sock, 500_000) == site.data[at:at + 500_000]
    ends(server)


NGINX = """
worker_processes 4; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{ access_log off; sendfile on; keepalive_requests 1000000; client_body_temp_path {folder}; proxy_temp_path {folder};
fastcgi_temp_path {folder}; uwsgi_temp_path {folder}; scgi_temp_path {folder};
server {{ listen 8080{more}; listen [::]:8080{more}; root {folder}; }} }}
"""


@measured
def many_requests(site):
    report = site.here("wrk", "-t2", "-c64", "-d5" if CAMPAIGN else "-d1", f"http://{WEIR}:8080/1k")
    assert "Socket errors" not in report and int(re.search(r"(\d+) requests in", report)[1]) > 1000, report


@pytest.mark.parametrize("more", ["", " reuseport"])
def test_nginx(site, more):
    needs("nginx", "curl")
    config = site.folder / "nginx.conf"
    config.write_text(NGINX.format(folder=site.folder, more=more))
    (site.folder / "1k").write_bytes(site.data[:1024])
    server = site.serve(8080, "nginx", "-p", site.folder, "-c", config)
    site.here("curl", "-sSf", "-o", "by-nginx", f"http://{WEIR}:8080/data")
    site.here("curl", "-sSfg", "-o", "by-nginx6", f"http://[{WEIR6}]:8080/data")
    assert site.fetched("by-nginx") and site.fetched("by-nginx6")
    for _ in range(2):   # new workers take the listeners over
        os.kill(int((site.folder / "nginx.pid").read_text()), signal.SIGHUP)
        site.here("curl", "-sSf", "-o", "by-nginx", f"http://{WEIR}:8080/data")
        assert site.fetched("by-nginx")
    # Workers of before end their connections.
    master = (site.folder / "nginx.pid").read_text().strip()
    assert until(lambda: site.here("ps", "-o", "args=", "--ppid", master).count("worker process") == 4, 60)
    if shutil.which("wrk"):
        many_requests(site)
    ends(server)
    assert not site.reaches(WEIR, 8080)


def test_redis(site):
    needs("redis-server", "redis-benchmark")
    server = site.serve(6379, "redis-server", "--port", "6379", "--bind", "0.0.0.0", "--protected-mode", "no", "--dir", site.folder,
                        "--save", "")   # only when it is told
    report = site.here("redis-benchmark", "-h", WEIR, "-c", "50", "-n", "100000" if CAMPAIGN else "10000", "-t", "get,set", "--csv")
    assert report.count("\n\"") >= 2, report
    assert site.here("redis-cli", "-h", WEIR, "bgsave").strip() == "Background saving started"   # a fork with all connections open
    assert site.here("redis-cli", "-h", WEIR, "get", "key:__rand_int__").strip() in ("", "xxx", "VXK")
    ends(server)


def test_memcached(site):
    needs("memcached", "nc")
    server = site.serve(11211, "memcached", "-u", "root", "-l", "0.0.0.0", "-t", "4")
    with inside(site.linux):
        clients = [socket.create_connection((WEIR, 11211), 60) for _ in range(20)]
    for number, sock in enumerate(clients):
        sock.sendall(b"set key%d 0 0 5\r\n%05d\r\nget key%d\r\n" % (number, number, number))
    for number, sock in enumerate(clients):
        expected = b"STORED\r\nVALUE key%d 0 5\r\n%05d\r\nEND\r\n" % (number, number)
        assert run_calls.receive(sock, len(expected)) == expected
    ends(server)


@pytest.mark.parametrize("words", [[], ["-R"], ["-u", "-b", "100M"], ["-P", "4"]], ids=["in", "out", "udp", "parallel"])
@pytest.mark.parametrize("family", ["-4", "-6"])
def test_iperf3(site, words, family):
    needs("iperf3")
    seconds = 5 if CAMPAIGN else 1
    server = site.linux.start(*site.words, "iperf3", "-s", "-1", family)
    report = until(lambda: (text := site.here("iperf3", "-c", WEIR if family == "-4" else WEIR6, "-t", seconds, *words, check=False)).count("receiver") and text, 60)
    assert report, server.output()
    assert server.wait(60) == 0, server.output()


def test_iperf3_as_client(site):
    needs("iperf3")
    server = site.linux.start("iperf3", "--forceflush", "-s", "-1", "-B", LINUX)
    assert until(lambda: "listening" in server.output(), 60)
    assert "receiver" in site.client("iperf3", "-c", LINUX, "-t", "1", "-Z")
    server.wait(60)


def test_netcat_and_socat(site):
    needs("nc", "socat")
    listener = site.linux.start(*site.words, "nc", "-l", "7001", log=site.folder / "by-nc")
    # A probe would be the connection that it waits for.
    assert until(lambda: site.linux.run("sh", "-c", f"nc -N {WEIR} 7001 <{site.folder}/data && echo sent", check=False).strip() == "sent", 60)
    assert listener.wait(60) == 0 and site.fetched("by-nc")
    server = site.serve(7000, "socat", "TCP-LISTEN:7000,fork,reuseaddr", "EXEC:cat")
    site.linux.run("sh", "-c", f"nc -N {WEIR} 7000 <{site.folder}/data >{site.folder}/by-socat")
    assert site.fetched("by-socat")
    ends(server)


SSH = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", "-o", "BatchMode=yes"]


def test_ssh_both_ways(site):
    """The server forks, executes itself anew with the connection, and hides behind a filter for system calls."""
    needs("ssh", "sshd", "ssh-keygen")
    if os.geteuid() != 0 or not pathlib.Path("/etc/passwd").exists():
        pytest.skip("sshd needs root")
    pathlib.Path("/run/sshd").mkdir(exist_ok=True)
    folder = site.folder / "ssh"
    folder.mkdir(mode=0o700)
    for key in ("host", "id"):
        site.here("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / key)
    daemon = [shutil.which("sshd", path="/usr/sbin:/sbin:" + os.environ["PATH"]), "-D", "-e", "-p", "2222", "-h", folder / "host", "-o", f"AuthorizedKeysFile={folder}/id.pub",
              "-o", "StrictModes=no", "-o", "UsePAM=no", "-o", "PidFile=none"]
    client = ["ssh", *SSH, "-i", folder / "id", "-p", "2222"]
    server = site.serve(2222, *daemon)
    assert site.here(*client, f"root@{WEIR}", f"sha256sum <{site.folder}/data").split()[0] == site.sum
    site.linux.run("sh", "-c", " ".join(map(str, client)) + f" root@{WEIR} cat <{site.folder}/data >{site.folder}/by-ssh")
    assert site.fetched("by-ssh")
    ends(server)
    server = site.background(2222, *daemon)
    assert site.client(*client, f"root@{LINUX}", f"sha256sum <{site.folder}/data").split()[0] == site.sum
    server.stop()


def test_git_clone(site):
    needs("git")
    repository, copy = site.folder / "repository", site.folder / "copy"
    environment = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_AUTHOR_NAME": "x", "GIT_AUTHOR_EMAIL": "x@x", "GIT_COMMITTER_NAME": "x", "GIT_COMMITTER_EMAIL": "x@x"}
    repository.mkdir()
    (repository / "data").write_bytes(site.data)
    for words in (["init", "-q"], ["add", "data"], ["commit", "-q", "-m", "one"], ["update-server-info"]):
        subprocess.run(["git", *words], cwd=repository, env=environment, check=True)
    server = site.background(8003, sys.executable, "-m", "http.server", "8003", "--bind", LINUX)
    site.client("git", "clone", "-q", f"http://{LINUX}:8003/repository/.git", copy, env=environment)
    server.stop()
    assert (copy / "data").read_bytes() == site.data
    server = site.serve(9418, "git", "daemon", "--export-all", "--reuseaddr", f"--base-path={site.folder}", env=environment)
    shutil.rmtree(copy)
    site.here("git", "clone", "-q", f"git://{WEIR}/repository", copy, env=environment)
    assert (copy / "data").read_bytes() == site.data
    ends(server)


HAPROXY = """
global
    maxconn 200
defaults
    mode http
    timeout connect 60s
    timeout client 60s
    timeout server 60s
frontend in
    bind 0.0.0.0:8090
    default_backend out
backend out
    server one {linux}:8004
"""


def test_haproxy(site):
    """A proxy: connections both ways, in one set."""
    needs("haproxy", "curl")
    config = site.folder / "haproxy.cfg"
    config.write_text(HAPROXY.format(linux=LINUX))
    origin = site.background(8004, sys.executable, "-m", "http.server", "8004", "--bind", LINUX)
    server = site.serve(8090, "haproxy", "-db", "-f", config)
    site.here("curl", "-sSf", "-o", "by-haproxy", f"http://{WEIR}:8090/data")
    assert site.fetched("by-haproxy")
    ends(server)
    origin.stop()


class Postgres:
    """A cluster of databases in a folder of its own, of a user that may not be root."""

    def __init__(self):
        self.programs = next((folder for folder in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), reverse=True) if (folder / "pgbench").exists()), None)
        if self.programs is None:
            pytest.skip("postgresql is not here")
        self.user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        if subprocess.run([*self.user, "true"], capture_output=True).returncode:
            pytest.skip("postgres runs as no root, and nobody else is to be had")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-postgres-"))
        os.chown(self.folder, 65534, 65534)
        self.data = self.folder / "data"
        subprocess.run([*self.user, self.programs / "initdb", "-D", self.data, "-U", "weir", "-A", "trust", "-N"], check=True, capture_output=True, cwd=self.folder)
        with open(self.data / "pg_hba.conf", "a") as file:
            file.write("host all,replication all 10.97.0.0/24 trust\nhost all,replication all fd97::/64 trust\n")

    def server(self):
        """Its command: eight workers at once, each a process that was forked from the one that listens."""
        settings = {"listen_addresses": "*", "unix_socket_directories": self.folder, "fsync": "off", "shared_buffers": "32MB", "max_connections": 60}
        return [*self.user, self.programs / "postgres", "-D", self.data, *(word for name, value in settings.items() for word in ("-c", f"{name}={value}"))]

    def bench(self, host, *words):
        return [self.programs / "pgbench", "-h", host, "-U", "weir", *words, "postgres"]

    def sql(self, host, text):
        return [self.programs / "psql", "-h", host, "-U", "weir", "-XAt", "-c", text, "postgres"]


@pytest.fixture
def postgres():
    cluster = Postgres()
    yield cluster
    shutil.rmtree(cluster.folder)


TRANSACTIONS = 400 if CAMPAIGN else 50
CANCELLED = "set statement_timeout = 300; select pg_sleep(60)"


def up(run, cluster, host):
    """It takes connections before it can use them."""
    assert until(lambda: run(*cluster.sql(host, "select 7"), check=False).strip() == "7", 60)


def transactions(report, clients):
    assert f"number of transactions actually processed: {TRANSACTIONS * clients}/" in report and "number of failed transactions: 0 " in report, report


def test_postgresql(site, postgres):
    """A process for each connection, latches between them (signals, epoll beside a pipe), COPY, replication, cancelled queries."""
    server = site.serve(5432, *postgres.server())
    up(site.here, postgres, WEIR)
    site.here(*postgres.bench(WEIR, "-i", "-q", "-s", "2"))
    transactions(site.here(*postgres.bench(WEIR, "-n", "-c", "8", "-j", "2", "-t", TRANSACTIONS)), 8)
    transactions(site.here(*postgres.bench(WEIR6, "-n", "-S", "-M", "prepared", "-c", "8", "-j", "2", "-t", TRANSACTIONS)), 8)
    transactions(site.here(*postgres.bench(WEIR, "-n", "-S", "-C", "-c", "4", "-t", TRANSACTIONS)), 4)   # a connection for each transaction
    assert site.here(*postgres.sql(WEIR, "select count(*), sum(abalance) = (select sum(delta) from pgbench_history) from pgbench_accounts")).strip() == "200000|t"
    assert "statement timeout" in site.here(*postgres.sql(WEIR, CANCELLED), check=False)
    assert site.here(*postgres.sql(WEIR, "select length(repeat('w', 20000000))")).strip() == "20000000"
    site.here(postgres.programs / "pg_basebackup", "-h", WEIR, "-U", "weir", "-D", site.folder / "backup", "-X", "stream", "-c", "fast")
    assert (site.folder / "backup/PG_VERSION").exists()
    # A client that is interrupted asks by a second connection that its query be cancelled.
    asleep = site.linux.start(*postgres.sql(WEIR, "select pg_sleep(60)"))
    running = "select count(*) from pg_stat_activity where query = 'select pg_sleep(60)'"
    assert until(lambda: site.here(*postgres.sql(WEIR, running)).strip() == "1", 60)
    asleep.send_signal(signal.SIGINT)
    assert asleep.wait(60) != 0 and "user request" in asleep.output(), asleep.output()
    ends(server)


def test_postgresql_clients(site, postgres):
    """pgbench, which polls all its connections, and psql on Weir; the server on Linux."""
    server = site.background(5432, *postgres.server())
    up(site.here, postgres, LINUX)
    site.client(*postgres.bench(LINUX, "-i", "-q", "-s", "1"))
    transactions(site.client(*postgres.bench(LINUX, "-n", "-c", "8", "-j", "2", "-t", TRANSACTIONS)), 8)
    transactions(site.client(*postgres.bench(LINUX6, "-n", "-S", "-C", "-c", "4", "-t", TRANSACTIONS)), 4)
    assert "statement timeout" in site.client(*postgres.sql(LINUX, CANCELLED), check=False)
    ends(server)


def test_address_by_a_dhcp_server(site):
    """The program runs when there is a lease, asks the server that the lease names, and gives the lease back at its end."""
    needs("dnsmasq")
    server = site.linux.start("dnsmasq", "-k", "-C", "/dev/null", "--no-resolv", "--no-hosts", "--listen-address", LINUX, "--bind-interfaces", "--log-facility=-", "--log-dhcp",
                              "--leasefile-ro", "--dhcp-authoritative", "--dhcp-range=10.97.0.50,10.97.0.59,1h", "--address=/weir.example/10.97.0.77")
    assert until(lambda: "started" in server.output()), server.output()
    code = f"import socket; print(socket.gethostbyname('www.weir.example')); s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('{LINUX}', 9)); print(s.getsockname()[0])"
    name, address = site.linux.run(RUN, "--tap", "tap0", "--dhcp", sys.executable, "-c", code).split()
    assert name == "10.97.0.77" and re.fullmatch(r"10\.97\.0\.5\d", address)
    assert until(lambda: f"DHCPRELEASE(tap0) {address}" in server.output(), 60), server.output()
    server.stop()


@pytest.mark.parametrize("words", [(), ("--delay", "5")], ids=["plain", "delay"])
def test_a_server_without_carrier_sleeps(words):
    """A packet socket always has room, and nothing leaves without a carrier: what waits to be sent asks for neither. It goes when the carrier is back."""
    code = (f"import socket, time\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
            f"while not time.sleep(0.1):\n    s.sendto(b'!', socket.MSG_DONTWAIT, ('{LINUX}', 8011))")
    with Lab() as lab:
        linux, host = lab.namespace("linux"), lab.namespace("host")
        lab.veth(linux, "host0", host, "eth0")
        linux.address("host0", f"{LINUX}/24")
        with inside(linux), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
            heard.bind((LINUX, 8011))
            heard.settimeout(60)
            server = host.start(RUN, *words, "--af-packet", "eth0", "--address", f"{WEIR}/24", sys.executable, "-c", code)
            assert heard.recv(9) == b"!", server.output()
            linux.run("ip", "link", "set", "host0", "down")
            time.sleep(1)
            used = processor_ns(server)
            time.sleep(1)
            assert processor_ns(server) - used < 200_000_000
            heard.setblocking(False)
            while select.select([heard], [], [], 0)[0]:
                heard.recv(9)
            linux.up("host0")
            assert until(lambda: select.select([heard], [], [], 0)[0], 60), server.output()


def connections(site):
    """Linux's that are neither over nor wait out their time."""
    return site.here("ss", "-Htan", "state", "connected", "exclude", "time-wait")


@pytest.mark.parametrize("words", [(), ("--delay", "300")], ids=["plain", "delay"])
def test_interrupted_server_leaves_no_peer_behind(site, words):
    code = "import socket; s = socket.create_server(('', 8009)); kept = [s.accept() for _ in iter(int, 1)]"
    server = site.linux.start(*site.words, *words, sys.executable, "-c", code, cwd=site.folder)
    assert until(lambda: server.poll() is not None or site.reaches(WEIR, 8009), 60), server.output()
    with inside(site.linux), socket.create_connection((WEIR, 8009)) as idle:
        idle.settimeout(2)
        server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 143, server.output()
        with contextlib.suppress(ConnectionResetError):   # where the program had not accepted it yet
            assert idle.recv(1) == b""
    assert until(lambda: connections(site) == "", 2), connections(site)


def test_client_interrupted_while_it_connects_leaves_no_peer_behind(site):
    """What Linux answers to the SYN is refused."""
    with inside(site.linux), socket.create_server((LINUX, 8010)):
        connect = f"import socket; socket.create_connection(('{LINUX}', 8010))"
        client = site.linux.start(*site.words, "--delay", "300", sys.executable, "-c", connect, cwd=site.folder)
        assert until(lambda: half_open(site.linux), step=0.01), client.output()
        client.send_signal(signal.SIGTERM)
        assert client.wait(60) == 143, client.output()
        assert until(lambda: connections(site) == "", 2), connections(site)


@pytest.mark.parametrize("words", [(), ("--delay", "300")], ids=["plain", "delay"])
def test_interrupted_client_leaves_no_peer_behind(site, words):
    """Interrupted while it sends: what it wrote arrives, and then the end."""
    with inside(site.linux), socket.create_server((LINUX, 8010)) as listener:
        send = f"import socket; s = socket.create_connection(('{LINUX}', 8010)); s.sendall(bytes(100_000_000))"
        client = site.linux.start(*site.words, *words, sys.executable, "-c", send, cwd=site.folder)
        listener.settimeout(60)
        sock, _ = listener.accept()
        assert sock.recv(1) == b"\0"
        client.send_signal(signal.SIGTERM)
        sock.settimeout(60)
        with sock:
            while sock.recv(1_000_000):
                pass
        assert client.wait(60) == 143, client.output()
    assert until(lambda: connections(site) == "", 2), connections(site)


def test_names_by_a_name_server(site):
    """getaddrinfo asks over Weir's UDP what /etc/hosts does not know."""
    needs("dnsmasq")
    server = site.linux.start("dnsmasq", "-k", "-C", "/dev/null", "--no-resolv", "--no-hosts", "-p", "53", "--listen-address", LINUX, "--bind-interfaces", "--address=/weir.example/10.97.0.77")
    code = "import socket; print(socket.gethostbyname('www.weir.example'))"
    words = [RUN, "--tap", "tap0", "--address", f"{WEIR}/24", "--dns", LINUX, sys.executable, "-c", code]
    assert until(lambda: "10.97.0.77" in site.linux.run(*words, check=False, timeout=60), 60)
    server.stop()


def test_names_of_both_families_by_a_name_server(site):
    """The server has both families: getaddrinfo gives both, or the one that is asked for."""
    needs("dnsmasq")
    server = site.linux.start("dnsmasq", "-k", "-C", "/dev/null", "--no-resolv", "--no-hosts", "-p", "53", "--listen-address", LINUX, "--bind-interfaces",
                              "--local=/example/", "--host-record=both.example,10.97.0.78,fd97::78", "--host-record=six.example,fd97::79", "--host-record=four.example,10.97.0.80")
    code = """
import socket, sys
def ask(name, family=0, flags=0):
    try:
        return sorted({found[4][0] for found in socket.getaddrinfo(name, 80, family, socket.SOCK_STREAM, 0, flags)})
    except socket.gaierror as error:
        return error.errno == socket.EAI_NONAME
assert ask("both.example") == ["10.97.0.78", "fd97::78"], ask("both.example")
assert ask("both.example", socket.AF_INET) == ["10.97.0.78"]
assert ask("both.example", socket.AF_INET6) == ["fd97::78"]
assert ask("six.example") == ["fd97::79"] and ask("four.example") == ["10.97.0.80"]
assert ask("four.example", socket.AF_INET6, socket.AI_V4MAPPED) == ["::ffff:10.97.0.80"]
assert ask("four.example", socket.AF_INET6) is True
print("all as asked")
"""
    said = []
    assert until(lambda: said.append(site.client("--dns", LINUX, sys.executable, "-c", code, check=False)) or "all as asked" in said[-1], 60), said[-1]
    server.stop()


# --- one server for many programs --------------------------------------------------------------------
def test_status_page(site):
    needs("curl")
    server = site.linux.start(*site.words, "--status", "8088", "sleep", "600")
    assert until(lambda: site.reaches(WEIR, 8088) or server.poll() is not None, 60), server.output()
    assert site.here("curl", "-sSf", f"http://{WEIR}:8088/").rstrip().endswith("</html>")
    assert "eth0" in site.here("curl", "-sSf", f"http://{WEIR}:8088/status.json")
    assert server.stop() == 143, server.output()


def test_programs_share_a_server(site):
    name = site.folder / "shared"
    server = site.linux.start(*site.words, "--server", name)
    assert until(lambda: name.exists() or server.poll() is not None, 60), server.output()
    assert name.stat().st_mode & 0o777 == 0o600
    web = site.linux.start(RUN, "--join", name, sys.executable, "-m", "http.server", "8005", cwd=site.folder)
    assert until(lambda: site.reaches(WEIR, 8005) or web.poll() is not None, 60), web.output()
    fetch = "import hashlib, sys, urllib.request; print(hashlib.sha256(urllib.request.urlopen(sys.argv[1]).read()).hexdigest())"
    for address in ("127.0.0.1", WEIR):   # two programs of one stack reach each other
        assert site.sum in site.here(RUN, "--join", name, sys.executable, "-c", fetch, f"http://{address}:8005/data")
    assert "another network namespace" in complaint("--join", name, "true")
    taken = subprocess.run([RUN, "--loopback", "--server", name], capture_output=True, text=True, timeout=60)
    assert taken.returncode == 2 and "File exists" in taken.stderr, taken.stderr
    web.stop()
    assert server.stop() == 0, server.output()
    assert not name.exists() and not list(site.folder.glob("shared.*"))


def test_a_server_that_was_killed_is_replaced(tmp_path):
    name = tmp_path / "shared"
    first = subprocess.Popen([RUN, "--loopback", "--server", name])
    assert until(name.exists, 60)
    first.kill()
    first.wait()
    assert "its server is gone" in complaint("--join", name, "true")
    with subprocess.Popen([RUN, "--loopback", "--server", name]) as second:
        assert until(lambda: subprocess.run([RUN, "--join", name, "true"], capture_output=True).returncode == 0, 60)
        second.terminate()
        assert second.wait(60) == 0


# --- what goes wrong ---------------------------------------------------------------------------------
def complaint(*words, **more):
    done = subprocess.run([RUN, *map(str, words)], capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == 2 and done.stdout == "", (done.returncode, done.stdout)
    return done.stderr


def test_mistakes_are_said_in_a_sentence(tmp_path):
    assert "give a PROGRAM" in complaint()
    assert "no such program" in complaint("no-such-program-anywhere")
    assert "--help" in complaint("--no-such-option", "true")
    assert "runs no program" in complaint("--server", tmp_path / "shared", "true")
    assert "no options beside it" in complaint("--loopback", "--join", tmp_path / "shared", "true")
    assert "No such file" in complaint("--join", tmp_path / "shared", "true")
    (tmp_path / "other").write_text("something else\n")
    assert "names no server" in complaint("--join", tmp_path / "other", "true")
    assert "give a port" in complaint("--status", "0", "true")
    assert "No such file" in complaint("--loopback", "--server", tmp_path / "nowhere" / "shared")
    assert "not an address" in complaint("--address", "10.0.0/24", "true")
    assert "not built in" in complaint("--cc", "nothing", "true")
    assert "give --address" in complaint("--tap", "tap0", "true")
    assert "no-such-device" in complaint("--af-packet", "no-such-device", "--address", "10.1.1.1/24", "true")
    plain = tmp_path / "plain"
    plain.write_text("not a program")
    assert "Permission denied" in complaint("--loopback", plain)
    plain.chmod(0o755)
    assert "Exec format error" in complaint("--loopback", plain)
    assert not [name for name in os.listdir("/sys/class/net") if name == "weir0"]


def test_what_cannot_be_preloaded_is_refused(tmp_path):
    source = tmp_path / "still.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-static", source, "-o", tmp_path / "still"], check=True)
    assert "linked statically" in complaint("--loopback", tmp_path / "still")
    subprocess.run(["gcc", "-Wl,--section-start=.go.buildinfo=0x700000", "-x", "c", source, "-o", tmp_path / "go", "-Wl,--build-id=none"], check=False, capture_output=True)
    source.write_text('__attribute__((section(".go.buildinfo"))) int info = 1;\nint main(void) { return 0; }\n')
    subprocess.run(["gcc", source, "-o", tmp_path / "go"], check=True)
    assert "a Go program" in complaint("--loopback", tmp_path / "go")
    script = tmp_path / "script"
    script.write_text(f"#!{tmp_path}/still\n")
    script.chmod(0o755)
    assert "linked statically" in complaint("--loopback", script)


def test_exit_status_and_signals_are_the_programs():
    def status(code):
        return subprocess.run([RUN, "--loopback", sys.executable, "-c", code], timeout=60).returncode
    assert status("import sys; sys.exit(7)") == 7
    assert status("import os; os.kill(os.getpid(), 9)") == 137
    # Python looks for signals between short sleeps: one that comes just before a long one would wait for its end.
    code = "import signal, time, sys; signal.signal(15, lambda *_: sys.exit(9)); print('up', flush=True); [time.sleep(0.1) for _ in range(600)]"
    with subprocess.Popen([RUN, "--loopback", sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "up\n"
        process.terminate()
        assert process.wait(60) == 9


def test_a_killed_program_leaves_nothing(site):
    code = "import socket, time; s = socket.create_server(('', 7777)); c = s.accept()[0]; print('taken', flush=True); time.sleep(60)"
    server = site.linux.start(*site.words, sys.executable, "-c", code)
    with inside(site.linux):
        sock = until(lambda: (s := socket.socket()).connect_ex((WEIR, 7777)) == 0 and s, 60)
    assert until(lambda: "taken" in server.output(), 60)
    child = int(site.linux.run("ps", "-o", "pid=", "--ppid", server.pid).split()[0])
    os.kill(child, signal.SIGKILL)
    sock.settimeout(60)
    assert sock.recv(1) == b""
    assert server.wait(60) == 137, server.output()


LEFT = """
import errno, os, signal, socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server = listener.accept()[0]
os.kill(os.getppid(), signal.SIGKILL)
for call in (lambda: client.recv(1), lambda: listener.accept(), socket.socket, lambda: client.setsockopt(6, 1, 1)):
    try:
        call()
        print("no error")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""


def test_the_servers_death_is_told(tmp_path):
    with open(tmp_path / "out", "w+") as out:
        subprocess.run([RUN, "--loopback", sys.executable, "-c", LEFT], stdout=out, timeout=60)
        assert until(lambda: len((tmp_path / "out").read_text().split()) >= 4, 60)
    told = (tmp_path / "out").read_text().split()
    assert told == ["ECONNRESET", "EINVAL", "ENETDOWN", "ENETDOWN"], told


HOSTILE = """
import os, random, socket, struct
token = bytes.fromhex(os.environ["WEIR_RUN"])
draw = random.Random(7)
sockets = [socket.socket(socket.AF_INET, kind) for kind in (1, 2, 1, 2)]
OWN
seen = set()
for _ in range(4000):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as call:
        call.connect("\\0weir-run-" + token[:8].hex())
        data = draw.randbytes(draw.choice((0, 1, 16, 28, 200, 3000)))
        length = len(data) if draw.random() < 0.9 else draw.getrandbits(32)
        ids = draw.choice(MINE)
        head = (token if draw.random() < 0.95 else draw.randbytes(16)) + ids + struct.pack("Iiii", draw.randrange(20), *(draw.choice((0, 1, 2, 6, 10, 17, 41, -1, draw.getrandbits(31))) for _ in range(3)))
        request = head + struct.pack("I", length) + data
        if draw.random() < 0.1:
            request = request[:draw.randrange(len(request))]
        if request:
            call.send(request)
        call.settimeout(0.02)
        try:
            seen.add(len(call.recv(65536)))
        except OSError:
            pass
assert seen
with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as one:
    other = listener.accept()[0]
    one.sendall(b"still here")
    assert other.recv(100) == b"still here"
print("done")
"""


def test_a_hostile_program_harms_itself_alone():
    """Requests of random words about its own sockets, and of wrong lengths; then a connection as ever."""
    own = """
import ctypes
def end_of(sock):
    name = ctypes.create_string_buffer(110)
    length = ctypes.c_uint32(110)
    assert ctypes.CDLL(None).syscall(ctypes.c_long(SYS), sock.fileno(), name, ctypes.byref(length)) == 0
    return name.raw[15:23]
"""
    number = {"x86_64": 52, "aarch64": 205}.get(os.uname().machine)
    if number is None:
        pytest.skip("the number of getpeername here is not known")
    code = HOSTILE.replace("OWN\n", own.replace("SYS", str(number)) + "MINE = [bytes(8)] + [end_of(sock) for sock in sockets]\n")
    done = subprocess.run([RUN, "--loopback", sys.executable, "-c", code], capture_output=True, text=True, timeout=200)
    assert (done.returncode, done.stdout.strip()) == (0, "done"), done.stdout + done.stderr


GONE = """
import os, socket, struct
token = bytes.fromhex(os.environ["WEIR_RUN"])
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(("127.0.0.1", 53))
names.settimeout(60)
def ask(name):
    call = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    call.settimeout(60)
    call.connect("\\0weir-run-" + token[:8].hex())
    call.send(token + bytes(8) + struct.pack("IiiiI", 15, 0, 0, 0, len(name)) + name)
    return call, names.recvfrom(1000)
def no_such_name(question, who):
    names.sendto(question[:2] + b"\\x81\\x83" + question[4:], who)
    names.getsockname()   # a call: what was sent before has arrived
call, gone = ask(b"one.example")
call.close()
names.getsockname()
call, here = ask(b"two.example")
no_such_name(*gone)
call.setblocking(False)
try:
    print("told", call.recv(100))
except BlockingIOError:
    call.settimeout(60)
    no_such_name(*here)
    print(*struct.unpack("iI", call.recv(100)))
"""


def test_who_asks_for_a_name_and_goes_is_forgotten():
    """The late answer goes to nobody: not to the call that has taken its place. The allocator gives memory out again at once."""
    done = subprocess.run([RUN, "--loopback", "--dns", "127.0.0.1", sys.executable, "-c", GONE], capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, GLIBC_TUNABLES="glibc.malloc.tcache_count=0:glibc.malloc.perturb=165"))
    assert (done.returncode, done.stdout.strip()) == (0, "-2 0"), done.stdout + done.stderr


def test_an_ordinary_user_has_a_namespace():
    """No right is needed: the server makes its own namespace, and Linux is at the other end of its TAP."""
    words = [RUN, "/usr/bin/python3", "-c", "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(('10.96.0.1', 9)); print(s.getsockname()[0])"]
    if os.geteuid() == 0:
        words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    if "no right to make" in done.stderr or "Permission denied" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout.strip()) == (0, "10.96.0.2"), done.stderr


OPTIONED = f"""
import socket
alert = bytes([0x94, 4, 0, 0])
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(60)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVOPTS, 1)
s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, alert)
s.sendto(b"q" * 3000, ("{LINUX}", 7100))
data, control, flags, peer = s.recvmsg(100, 100)
assert (data, control) == (b"a", [(0, socket.IP_RECVOPTS, bytes([1]) + alert + bytes(3))]), (data, control)
"""


# A record of the way with room for four addresses; Linux sends its SYN-ACK with what came, and itself, on both ways.
OPTIONED_STREAM = f"""
import hashlib, socket, struct
here, there = socket.inet_aton("{WEIR}"), socket.inet_aton("{LINUX}")
s = socket.socket()
s.settimeout(60)
s.setsockopt(socket.IPPROTO_IP, socket.IP_RECVOPTS, 1)
s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([7, 19, 4]) + bytes(17))
try:
    s.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([131, 7, 4]) + there + bytes(1))
except OSError as error:
    assert error.errno == 22
else:
    raise AssertionError("a source route was taken")
s.connect(("{LINUX}", 7100))
told = s.getsockopt(socket.IPPROTO_IP, 9, 100)
assert told[16:36] == bytes([7, 19, 20]) + here + there + there + here + bytes(1), told
sent = bytes(range(256)) * 4000
s.sendall(sent)
got = b""
while len(got) < len(sent):
    data, control, *_ = s.recvmsg(1 << 16, 200)
    assert not control, control   # of segments after the SYN-ACK none are told, as in Linux
    got += data
assert got == sent
print(s.getsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG))
"""


def test_ip4_options_of_a_stream(site):
    """Every segment has them, and room for them; Linux answers with what came, and itself."""
    with inside(site.linux):
        listener = socket.create_server((LINUX, 7100))
        tap = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    with listener, tap:
        listener.settimeout(60)
        tap.settimeout(60)
        program = site.linux.start(*site.words, sys.executable, "-c", OPTIONED_STREAM)
        linux, _ = listener.accept()
        with linux:
            linux.settimeout(60)
            linux.setsockopt(socket.IPPROTO_IP, socket.IP_RECVOPTS, 1)
            told = linux.getsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, 40)
            assert told[:11] == bytes([7, 19, 12]) + socket.inet_aton(WEIR) + socket.inet_aton(LINUX)
            got = b""
            while len(got) < 256 * 4000:
                data, control, *_ = linux.recvmsg(1 << 16, 200)
                assert data and not control, (control, program.output())
                got += data
            linux.sendall(got)
            assert program.wait(60) == 0, program.output()
        assert int(program.output().split()[-1]) == 1500 - 40 - 12 - 20
        tap.setblocking(False)
        seen = 0
        while True:
            try:
                packet, address = tap.recvfrom(1 << 16)
            except BlockingIOError:
                break
            if address[2] == socket.PACKET_OUTGOING or packet[9] != socket.IPPROTO_TCP or packet[12:16] != socket.inet_aton(WEIR):
                continue
            if packet[(packet[0] & 15) * 4 + 2:][:2] != (7100).to_bytes(2, "big"):   # a connection of an earlier test's is refused
                continue
            assert packet[0] == 0x4A and packet[20:27] == bytes([7, 19, 8]) + socket.inet_aton(WEIR), packet[:60]
            assert len(packet) <= 1500
            seen += 1
        assert seen > 50


def test_ip4_options_both_ways(site):
    with inside(site.linux):
        linux = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with linux:
        linux.bind((LINUX, 7100))
        linux.settimeout(60)
        linux.setsockopt(socket.IPPROTO_IP, socket.IP_RECVOPTS, 1)
        program = site.linux.start(*site.words, sys.executable, "-c", OPTIONED)
        data, control, _, peer = linux.recvmsg(4000, 200)
        assert (data, control) == (b"q" * 3000, [(socket.IPPROTO_IP, socket.IP_RECVOPTS, b"\x94\x04\0\0")])
        linux.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, b"\x01\x94\x04\0\0")
        linux.sendto(b"a", peer)
        assert program.wait(60) == 0, program.output()
