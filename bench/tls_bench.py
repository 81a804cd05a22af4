#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""The `tls` part of host.json: HTTPS by weir-host-tls and by nginx, one process each, with the same certificate and cipher: what a request of a kept
connection, a full handshake with a request, and a megabyte cost of the server's processor time. tls_ratio is requests a second of it, Weir's over
nginx's, the median of the ratios within a round.
    bench/tls_bench.py        prints the figures alone (as root; after `make tls`; nginx, curl and openssl must be here)

Weir is on a TAP, nginx behind a veth pair. Weir's time holds its whole TCP/IP stack and the copies through the TAP; nginx's that of its process in the
kernel, but not what the kernel does for it in the client's name."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import common

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
from netns import Lab, until  # noqa: E402

SERVER = common.ROOT / "build/host/weir-host-tls"
FOLDER = common.OUT / "tls"
WEIR, NGINX = "10.87.0.2", "10.88.0.2"
CIPHER, GOAL = "TLS_AES_128_GCM_SHA256", 0.7
ROUNDS = 5
UNITS = {"requests": 10000, "handshakes": 50, "megabytes": 200}   # of a round
CONF = """daemon off; worker_processes 1; error_log stderr; pid {folder}/nginx.pid; events {{}}
http {{ access_log off; keepalive_requests 1000000; sendfile on; client_body_temp_path {folder}/a; proxy_temp_path {folder}/b; fastcgi_temp_path {folder}/c;
uwsgi_temp_path {folder}/d; scgi_temp_path {folder}/e; server {{ listen {address}:443 ssl; ssl_protocols TLSv1.3; root {folder}; ssl_certificate cert.pem;
ssl_certificate_key key.pem; }} }}
"""


def certificate():
    openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=bench"]
    common.run([*openssl, "-addext", f"subjectAltName=IP:{WEIR},IP:{NGINX}", "-keyout", FOLDER / "key.pem", "-out", FOLDER / "cert.pem"])


def parent(folder):
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


class Site:
    """A server, the paths of its two files, and the processor time that its processes use."""

    def __init__(self, linux, server, address, small, large):
        self.linux, self.server, self.address, self.paths = linux, server, address, {"requests": f"{small}?[1-{UNITS['requests']}]", "megabytes": large}
        self.once = small
        if not until(lambda: self.get(small, check=False).endswith("200") or server.poll() is not None, 30):
            raise common.Failed(f"nobody answers at {address}: {server.output()}")
        if server.poll() is not None:
            raise common.Failed(f"{common.shown(server.args)} ended: {server.output()}")
        self.get(self.paths["megabytes"])   # the file is in memory from here on: what is measured is TLS, not the first reading
        self.processes = [server.pid, *(int(folder.name) for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit() and parent(folder) == server.pid)]

    def get(self, path, check=True):
        """With curl, over one connection; what it says is the last status."""
        return self.linux.run("curl", "-sS", "--fail", "--cacert", FOLDER / "cert.pem", "--tlsv1.3", "--tls13-ciphers", CIPHER, "-o", "/dev/null", "-w", "%{http_code}",
                              f"https://{self.address}/{path}", check=check, timeout=300)

    def cpu_ns(self):
        return sum(int(pathlib.Path(f"/proc/{process}/schedstat").read_text().split()[0]) for process in self.processes)

    def measure(self, what):
        """Units a second of the server's processor time."""
        before = self.cpu_ns()
        if what == "handshakes":
            for _ in range(UNITS[what]):
                self.get(self.once)
        else:
            self.get(self.paths[what])
        return UNITS[what] / (self.cpu_ns() - before) * 1e9


def weir(lab, linux):
    if not lab.tap(linux, "weir0"):
        raise common.Failed("this machine permits no TAP")
    linux.address("weir0", "10.87.0.1/24")
    server = linux.start(SERVER, "--tap", "weir0", "--address", f"{WEIR}/24", "--tls", f"{FOLDER}/cert.pem,{FOLDER}/key.pem")
    return Site(linux, server, WEIR, "bytes/1000", f"bytes/{UNITS['megabytes'] * 1_000_000}")


def nginx(lab, linux):
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    other = lab.namespace("nginx")
    lab.veth(linux, "eth0", other, "eth0")
    linux.address("eth0", "10.88.0.1/24")
    other.address("eth0", f"{NGINX}/24")
    (FOLDER / "small").write_bytes(bytes(1000))
    with open(FOLDER / "large", "wb") as large:
        large.truncate(UNITS["megabytes"] * 1_000_000)
    (FOLDER / "nginx.conf").write_text(CONF.format(folder=FOLDER, address=NGINX))
    return Site(linux, other.start(program, "-c", FOLDER / "nginx.conf", "-e", "stderr"), NGINX, "small", "large")


def measure():
    for program in ("nginx", "curl", "openssl"):
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            raise common.Failed(f"bench/tls_bench.py needs {program}")
    if not SERVER.exists():
        raise common.Failed("bench/tls_bench.py needs build/host/weir-host-tls: make tls")
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    certificate()
    progress = common.Progress("tls", ROUNDS * len(UNITS) * 2)
    found = {name: {what: [] for what in UNITS} for name in ("weir", "nginx")}
    with Lab(FOLDER) as lab:
        linux = lab.namespace("linux")
        sites = {"weir": weir(lab, linux), "nginx": nginx(lab, linux)}
        for number in range(ROUNDS):
            for what in UNITS:
                for name in sites if number % 2 else reversed(sites):
                    progress.step(f"round {number + 1} of {ROUNDS}")
                    found[name][what].append(sites[name].measure(what))
    return summary(found)


def summary(found):
    ratios = {what: sorted(ours / theirs for ours, theirs in zip(found["weir"][what], found["nginx"][what])) for what in UNITS}
    middle = {what: round(common.median(values), 2) for what, values in ratios.items()}
    return {"tls_ratio": middle["requests"], "goal": f">= {GOAL}", "ratios": middle,
            "spread": {what: [round(values[0], 2), round(values[-1], 2)] for what, values in ratios.items()},
            "per_cpu_second": {name: {what: round(common.median(values)) for what, values in of.items()} for name, of in found.items()},
            "all": {name: {what: [round(value) for value in values] for what, values in of.items()} for name, of in found.items()},
            "cipher": CIPHER, "rounds": ROUNDS, "units_of_a_round": UNITS,
            "note": "per_cpu_second: requests of 1,000 bytes on one connection, full handshakes with a request (ECDHE-ECDSA, P-256), megabytes, in a second of the "
                    "server's processor time; ratios: Weir's over nginx's, medians within a round; spread: the least and the greatest of them",
            "command": "bench/tls_bench.py"}


if __name__ == "__main__":
    try:
        print(json.dumps(measure(), indent=2))
    except (common.Failed, RuntimeError, subprocess.TimeoutExpired) as failure:
        sys.exit(f"bench: {failure}")
