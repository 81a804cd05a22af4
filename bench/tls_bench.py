#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""HTTPS by weir-host-tls and by nginx, over the same kind of link, with the same certificate and cipher: what a full handshake with a request, a request of a
kept connection and a megabyte cost of the server's processor time. Prints a table and writes build/bench/tls.json. As root.

Weir's time holds its whole TCP/IP stack and the copies through a TAP; nginx's that of its process in the kernel, but not what the kernel does for it in the
client's name. tls_ratio: requests a second of processor time, Weir's over nginx's."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

FOLDER = ROOT / "build/bench/tls"
WEIR, NGINX = "10.87.0.2", "10.88.0.2"
CIPHER, REQUESTS, HANDSHAKES, MEGABYTES = "TLS_AES_128_GCM_SHA256", 40000, 500, 1000
TICK = os.sysconf("SC_CLK_TCK")


def certificate():
    openssl = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", "/CN=bench"]
    subprocess.run([*openssl, "-addext", f"subjectAltName=IP:{WEIR},IP:{NGINX}", "-keyout", FOLDER / "key.pem", "-out", FOLDER / "cert.pem"], check=True, capture_output=True)


def children(pid):
    return [int(p.name) for p in pathlib.Path("/proc").iterdir() if p.name.isdigit() and parent(p) == pid]


def parent(folder):
    try:
        return int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return -1


def spent(pid):
    """Processor seconds of a process and its children."""
    def one(number):
        fields = pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK
    return sum(map(one, [pid, *children(pid)]))


def cost(pid, work):
    before = spent(pid)
    start = time.monotonic()
    work()
    return spent(pid) - before, time.monotonic() - start


def measure(linux, pid, address):
    curl = ["curl", "-sS", "--cacert", FOLDER / "cert.pem", "--tls13-ciphers", CIPHER, "--tlsv1.3", "-o", "/dev/null"]
    linux.run(*curl, f"https://{address}/kb")
    found = {}
    cpu, wall = cost(pid, lambda: linux.run(*curl, f"https://{address}/kb?[1-{REQUESTS}]", timeout=300))
    found["requests_per_cpu_s"], found["requests_per_s"] = REQUESTS / cpu, REQUESTS / wall
    cpu, wall = cost(pid, lambda: linux.run("sh", "-c", f"for i in $(seq {HANDSHAKES}); do curl -sS --cacert {FOLDER}/cert.pem --tls13-ciphers {CIPHER} --tlsv1.3 -o /dev/null https://{address}/kb; done", timeout=300))
    found["handshakes_per_cpu_s"] = HANDSHAKES / cpu
    cpu, wall = cost(pid, lambda: linux.run(*curl, f"https://{address}/big", timeout=300))
    found["mb_per_cpu_s"], found["mb_per_s"] = MEGABYTES / cpu, MEGABYTES / wall
    return found


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    certificate()
    with Lab(FOLDER) as lab:
        linux, other = lab.namespace("linux"), lab.namespace("nginx")
        if not lab.tap(linux, "weir0"):
            sys.exit("bench/tls_bench.py: no TAP is permitted here")
        linux.address("weir0", "10.87.0.1/24")
        lab.veth(linux, "eth0", other, "eth0")
        linux.address("eth0", "10.88.0.1/24")
        other.address("eth0", f"{NGINX}/24")
        (FOLDER / "kb").write_bytes(bytes(1000))
        with open(FOLDER / "big", "wb") as big:
            big.truncate(MEGABYTES * 1_000_000)
        conf = FOLDER / "nginx.conf"
        conf.write_text(f"daemon off; worker_processes 1; error_log stderr; pid {FOLDER}/nginx.pid; events {{}} http {{ access_log off; keepalive_requests 100000; sendfile on;"
                        f" client_body_temp_path {FOLDER}/a; proxy_temp_path {FOLDER}/b; fastcgi_temp_path {FOLDER}/c; uwsgi_temp_path {FOLDER}/d; scgi_temp_path {FOLDER}/e;"
                        f" server {{ listen {NGINX}:443 ssl; ssl_protocols TLSv1.3; root {FOLDER}; ssl_certificate cert.pem; ssl_certificate_key key.pem; }} }}\n")
        nginx = other.start(shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", conf, "-e", "stderr")
        weir = linux.start(ROOT / "build/host/weir-host-tls", "--tap", "weir0", "--address", f"{WEIR}/24", "--tls", f"{FOLDER}/cert.pem,{FOLDER}/key.pem")
        for address in (WEIR, NGINX):
            assert until(lambda: "HTTP" in linux.run("curl", "-skI", "--max-time", "1", f"https://{address}/", check=False), 15)
        rename = {"kb": "bytes/1000", "big": f"bytes/{MEGABYTES * 1_000_000}"}
        plain = linux.run

        def run_for_weir(*words, **more):
            return plain(*[str(w).replace("/kb", "/" + rename["kb"]).replace("/big", "/" + rename["big"]) for w in words], **more)
        linux.run = run_for_weir
        ours = measure(linux, weir.pid, WEIR)
        linux.run = plain
        result = {"weir": ours, "nginx": measure(linux, nginx.pid, NGINX)}
    result["tls_ratio"] = result["weir"]["requests_per_cpu_s"] / result["nginx"]["requests_per_cpu_s"]
    (FOLDER.parent / "tls.json").write_text(json.dumps(result, indent=2) + "\n")
    for name in result["weir"]:
        print(f"{name:<22} weir {result['weir'][name]:10.1f}   nginx {result['nginx'][name]:10.1f}   {result['weir'][name] / result['nginx'][name]:.2f}")
    print(f"tls_ratio {result['tls_ratio']:.2f}")


main()
