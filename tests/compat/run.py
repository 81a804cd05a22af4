#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""`make compat`: programs of Linux under weir-run. Writes docs/compat.md (with --write) and build/bench/compat.json.

  programs  tests/interop/test_run.py in its long forms
  python    CPython's own test suites of sockets, on Linux and on Weir: each test that passes on Linux and not on Weir is listed
  cost      redis-benchmark and wrk from Linux to the server on Weir over a TAP, and to the same server on Linux over a veth pair, in turn

usage: run.py [--write] [programs] [python] [cost]"""
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
sys.path.insert(0, str(ROOT / "tests/interop"))
from netns import Lab, until  # noqa: E402

RUN = str(ROOT / "build/host/weir-run")
PYTHON = ROOT / "build/venv/bin/python"
CPYTHON = "/usr/bin/python3"   # the one that Debian's packages of its tests belong to
SUITES = ["test_socket", "test_selectors", "test_select", "test_poll", "test_epoll", "test_socketserver", "test_asyncore", "test_asynchat", "test_httplib",
          "test_httpservers", "test_urllib2_localnet", "test_ftplib", "test_smtplib", "test_poplib", "test_imaplib", "test_telnetlib", "test_xmlrpc",
          "test_ssl", "test_wsgiref", "test_asyncio"]
SUITE_SECONDS = 900
# What each program's row says of it; the rest is in the test.
PROGRAMS = {
    "http_server_of_python": ("python3 -m http.server", "serves curl and wget"),
    "curl_and_wget_as_clients": ("curl, wget", "fetch; a refused connection is told"),
    "asyncio": ("python3, asyncio", "echo server of both families"),
    "nginx": ("nginx, 4 workers", "both families, sendfile, reload twice, wrk; with reuseport, too"),
    "redis": ("redis-server", "redis-benchmark with 50 clients, a background save"),
    "memcached": ("memcached, 4 threads", "20 clients at once"),
    "iperf3": ("iperf3 -s", "in, out, UDP, four streams; both families"),
    "iperf3_as_client": ("iperf3 -c -Z", "sends by sendfile"),
    "netcat_and_socat": ("nc, socat", "nc -l; socat forks and executes cat on the connection"),
    "ssh_both_ways": ("sshd, ssh", "the daemon executes itself anew and confines itself by seccomp; data both ways"),
    "git_clone": ("git", "clone by HTTP; git daemon serves a clone"),
    "haproxy": ("haproxy", "a proxy between two connections"),
    "postgresql": ("postgresql", "pgbench with 8 clients, then a connection a transaction; replication, cancelled queries"),
    "postgresql_clients": ("pgbench, psql", "clients of a server on Linux"),
    "names_by_a_name_server": ("getaddrinfo", "a name that dnsmasq knows, asked over Weir"),
}


def say(line):
    print(line, flush=True)


# --- programs ----------------------------------------------------------------------------------------
def programs():
    report = ROOT / "build/tests/compat.xml"
    report.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", ROOT / "tests", f"--junitxml={report}", ROOT / "tests/interop/test_run.py"],
                   env={**os.environ, "CAMPAIGN": "1", "PYTHONPATH": str(ROOT / "tests")}, check=False)
    rows = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = case.get("name").removeprefix("test_").split("[")[0]
        kinds = {child.tag for child in case}
        row = rows.setdefault(name, {"passed": 0, "failed": 0, "skipped": 0})
        row["failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "passed"] += 1
    return rows


# --- CPython's suites --------------------------------------------------------------------------------
def suite(name, words):
    """Each test's outcome, and the suite's own if it ran none."""
    with tempfile.TemporaryDirectory() as folder:
        # vsock's tests wait for ever where the kernel has no host to talk to.
        command = [*words, CPYTHON, "-m", "test", "-v", "-i", "*VSOCK*", name]
        try:
            done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=SUITE_SECONDS, check=False)
            output, status = done.stdout.decode(errors="replace"), done.returncode
        except subprocess.TimeoutExpired as late:
            output, status = (late.stdout or b"").decode(errors="replace"), "timeout"
    outcomes = {}
    # What a test prints may stand between its name and its outcome.
    for match in re.finditer(r"^(test\w+) \(([\w.]+)\)(?:(?!^test\w+ \().)*?\.\.\. (?:(?!^test\w+ \().)*?(ok|FAIL|ERROR|skipped)\b", output, re.MULTILINE | re.DOTALL):
        outcomes[match[2] if match[2].endswith(match[1]) else f"{match[2]}.{match[1]}"] = match[3]
    for kind, test in re.findall(r"^(ERROR|FAIL): \w+ \(([\w.]+)\)", output, re.MULTILINE):
        outcomes[test] = kind
    if not outcomes:
        outcomes[name] = "ok" if status == 0 else f"status {status}"
    return outcomes


def python():
    if subprocess.run([CPYTHON, "-c", "import test.test_socket"], capture_output=True).returncode:
        say("python: the test suites are not here (Debian: libpython3.11-testsuite)")
        return {}
    rows = {}
    for name in os.environ.get("SUITES", " ".join(SUITES)).split():
        linux, weir = suite(name, []), suite(name, [RUN, "--loopback"])
        lost = sorted(test for test, outcome in linux.items() if outcome == "ok" and weir.get(test) not in ("ok",))
        rows[name] = {"linux": sum(o == "ok" for o in linux.values()), "weir": sum(o == "ok" for o in weir.values()), "lost": lost,
                      "said": {test: weir.get(test, "not run") for test in lost}}
        say(f"python: {name}: {rows[name]['linux']} pass on Linux, {rows[name]['weir']} on Weir; lost: {' '.join(lost) or 'none'}")
    return rows


# --- cost --------------------------------------------------------------------------------------------
NGINX = """
worker_processes 2; daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{ access_log off; sendfile on; keepalive_requests 100000000; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
uwsgi_temp_path {folder}; scgi_temp_path {folder}; server {{ listen 8080; root {folder}; }} }}
"""
ROUNDS, SECONDS = 5, 3


def redis_figure(client, address):
    report = client.run("redis-benchmark", "-h", address, "-c", "50", "-n", "150000", "-t", "get", "--csv", timeout=120)
    return float(re.search(r'"GET","([\d.]+)"', report)[1])


def wrk_figure(client, address, name):
    report = client.run("wrk", "-t1", "-c32", f"-d{SECONDS}", f"http://{address}:8080/{name}", timeout=60)
    return float(re.search(r"Requests/sec: +([\d.]+)", report)[1])


def measured(client, server, start, figure, address, port):
    """One server, started, measured, ended. The first figure warms it up."""
    process = server.start(*start)
    assert until(lambda: not client.run("sh", "-c", f"nc -z {address} {port} || echo no", check=False).strip(), 20), process.output()
    figure(client, address)
    value = figure(client, address)
    process.stop(10)
    return value


def cost():
    rows = {}
    with Lab() as lab:
        client, other = lab.namespace("client"), lab.namespace("server")
        lab.tap(client, "tap0")
        client.address("tap0", "10.98.0.1/24")
        lab.veth(client, "veth0", other, "eth0")
        client.address("veth0", "10.99.0.1/24")
        other.address("eth0", "10.99.0.2/24")
        for name, size in (("1k", 1024), ("100k", 102400)):
            (lab.folder / name).write_bytes(os.urandom(size))
        (lab.folder / "nginx.conf").write_text(NGINX.format(folder=lab.folder))
        weir = [RUN, "--tap", "tap0", "--address", "10.98.0.2/24"]
        redis = ["redis-server", "--port", "6379", "--bind", "0.0.0.0", "--protected-mode", "no", "--save", "", "--dir", lab.folder]
        nginx = ["nginx", "-p", lab.folder, "-c", lab.folder / "nginx.conf"]
        for key, command, port, figure in (("redis", redis, 6379, redis_figure),
                                           ("nginx_1k", nginx, 8080, lambda c, a: wrk_figure(c, a, "1k")),
                                           ("nginx_100k", nginx, 8080, lambda c, a: wrk_figure(c, a, "100k"))):
            pairs = []
            for _ in range(ROUNDS):
                pairs.append((measured(client, client, [*weir, *command], figure, "10.98.0.2", port),
                              measured(client, other, command, figure, "10.99.0.2", port)))
            rows[key] = {"weir": statistics.median(w for w, _ in pairs), "linux": statistics.median(l for _, l in pairs),
                         "ratio": statistics.median(w / l for w, l in pairs), "ratios": sorted(round(w / l, 3) for w, l in pairs)}
            say(f"cost: {key}: {rows[key]['weir']:.0f}/s on Weir, {rows[key]['linux']:.0f}/s on Linux, ratio {rows[key]['ratio']:.2f} of {rows[key]['ratios']}")
    return rows


# --- the page ----------------------------------------------------------------------------------------
REASONS = [(r"UDPLITE", "UDP-Lite is a protocol of its own, which Weir does not have"),
           (r"connect_racing", "a non-blocking connection attempt that failed cannot be repeated on the same socket"),
           (r"TestPreHandshakeClose", "a reset over loopback goes by way of the server, and a program may look before it is there; most runs pass"),
           (r"testWriteNonBlocking", "passes alone; it counts on how much fits into a full connection, and was lost once on a machine with a load of 14"),
           (r"", "not yet explained")]


def wrapped(text, width=120):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return "\n".join([*lines, line])


def page(result):
    out = ["# Programs of Linux under weir-run", "",
           wrapped("Made by `make compat`; [weir-run.md](weir-run.md) says how it works. Each program is Debian's, unchanged, with Linux's own tools at the other "
                   "end of a TAP."), ""]
    if result.get("programs"):
        out += ["| program | what it does | passed | failed | skipped |", "| --- | --- | --- | --- | --- |"]
        for name, (program, what) in PROGRAMS.items():
            row = result["programs"].get(name)
            if row:
                out.append(f"| {program} | {what} | {row['passed']} | {row['failed']} | {row['skipped']} |")
        calls = result["programs"].get("calls")
        if calls:
            out += ["", wrapped(f"Beside them {calls['passed'] // 2} conversations of tests/interop/run_calls.py go the same way on Linux and on Weir "
                                f"({calls['failed']} failed).")]
    if result.get("python"):
        rows = result["python"]
        out += ["", "## CPython's own test suites", "",
                wrapped("Python 3.11 of Debian 12, over loopback. A test that passes on Linux and not on Weir counts as lost."), "",
                "| suite | pass on Linux | pass on Weir | lost |", "| --- | --- | --- | --- |"]
        out += [f"| {name} | {row['linux']} | {row['weir']} | {len(row['lost'])} |" for name, row in rows.items()]
        groups = {}
        for row in rows.values():
            for test in row["lost"]:
                reason = next(why for pattern, why in REASONS if re.search(pattern, test))
                groups.setdefault(reason, {}).setdefault(test.rsplit(".", 1)[0].removeprefix("test."), []).append(test)
        for reason, classes in groups.items():
            count = sum(len(tests) for tests in classes.values())
            names = ", ".join(sorted(tests[0].removeprefix("test.") if len(tests) == 1 else f"{name} ({len(tests)})" for name, tests in classes.items()))
            out += ["", wrapped(f"{count} lost, {reason}: {names}.")]
    if result.get("cost"):
        out += ["", "## Cost", "",
                wrapped(f"Requests a second from a client on Linux: to the server on Weir over a TAP, and to the same server on Linux over a veth pair, in turn, "
                        f"{ROUNDS} times, all on one machine with {os.cpu_count()} CPUs. The ratio is the median of the pairs'. The load average "
                        f"was {result.get('load', 0):.0f} at the end: where that is beyond the client's and the server's, other work ran beside, and the ratios spread."), "",
                "| what | Weir | Linux | ratio |", "| --- | --- | --- | --- |"]
        names = {"redis": "redis-benchmark GET, 50 clients", "nginx_1k": "nginx, 2 workers, wrk with 32 connections, 1 KB", "nginx_100k": "likewise, 100 KB"}
        out += [f"| {names[key]} | {row['weir']:.0f} | {row['linux']:.0f} | {row['ratio']:.2f} |" for key, row in result["cost"].items()]
    return "\n".join(out) + "\n"


def main():
    words = sys.argv[1:]
    write, parts = "--write" in words, [w for w in words if w != "--write"]
    known = {"programs": programs, "python": python, "cost": cost}
    unknown = [w for w in parts if w not in known]
    if unknown:
        sys.exit(f"compat: {unknown[0]}: there are {', '.join(known)}")
    store = ROOT / "build/bench/compat.json"
    store.parent.mkdir(parents=True, exist_ok=True)
    result = json.loads(store.read_text()) if store.exists() else {}
    for part in parts or known:
        start = time.monotonic()
        result[part] = known[part]()
        if part == "cost":
            result["load"] = os.getloadavg()[0]
        say(f"compat: {part}: {time.monotonic() - start:.0f} s")
        store.write_text(json.dumps(result, indent=1))
    if write:
        (ROOT / "docs/compat.md").write_text(page(result))
    else:
        print(page(result))


if __name__ == "__main__":
    if shutil.which("ip") is None:
        sys.exit("compat: iproute2 is needed")
    main()
