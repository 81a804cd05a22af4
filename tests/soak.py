#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""make soak: a Weir host on a TAP in a private network namespace and Linux's clients at it, for an hour or --seconds.
Round after round, everything at once: downloads whose bytes are checked, echoes, UDP echoes, short connections,
connections that are reset in the middle or stay idle; now and then the link goes and comes back. Nothing may fail, and
what a round took of memory must come back: at rest after the last round the host has no more sockets than at first, not
MEMORY_KB more of its allocator's than after the first rounds, and not MEMORY_MB more as a process. Prints a line each
round; exit status 1 when something failed."""
import argparse
import concurrent.futures
import errno
import http.client
import json
import os
import pathlib
import random
import socket
import struct
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from netns import ROOT, Lab, until  # noqa: E402

LINUX, WEIR, LINK = "10.90.0.1", "10.90.0.2", "weir0"
MEMORY_KB = 64    # of the instance's: the status page's own answers
MEMORY_MB = 8.0   # of the process: what its allocator may keep, more than after the first rounds
REST_S = 150      # to come to rest
WARM_UP = 12      # rounds, until every table is as large as it gets
PATIENCE = 30
PATTERN = bytes(i % 251 for i in range(251 * 4200))


def connect(port):
    """Also when the link is just away."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((WEIR, port), PATIENCE)
        except OSError as error:
            if error.errno not in (errno.ENETUNREACH, errno.EHOSTUNREACH) or time.monotonic() > end:
                raise
            time.sleep(0.1)


def receive(sock, size):
    got = bytearray()
    while len(got) < size:
        part = sock.recv(min(1 << 18, size - len(got)))
        if not part:
            raise OSError(f"ended after {len(got)} of {size} bytes")
        got += part
    return bytes(got)


def download(rng):
    size = rng.choice((1, 1000, 100_000, 30_000_000))
    link = http.client.HTTPConnection(WEIR, 80, timeout=PATIENCE)
    link.sock = connect(80)
    for _ in range(3):
        link.request("GET", f"/bytes/{size}")
        answer, at = link.getresponse(), 0
        while part := answer.read(1 << 20):
            begin = at % 251
            if part != PATTERN[begin:begin + len(part)]:
                raise OSError(f"wrong bytes at {at} of {size}")
            at += len(part)
        if at != size:
            raise OSError(f"{at} bytes of {size}")
    link.close()


def echo(rng):
    data = rng.randbytes(rng.choice((1, 100, 10_000, 3_000_000)))
    with connect(7) as sock, concurrent.futures.ThreadPoolExecutor(1) as sender:
        sent = sender.submit(sock.sendall, data)
        if receive(sock, len(data)) != data:
            raise OSError("another echo")
        sent.result()


def short(rng):
    for i in range(200):
        with connect(7) as sock:
            sock.sendall(b"%d" % i)
            receive(sock, len(b"%d" % i))


def datagrams(rng):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(2)
        for size in (0, 1, 1000, 1472, 4000):
            data = rng.randbytes(size)
            for _ in range(20):   # UDP may lose some, at a link that went
                try:
                    sock.sendto(data, (WEIR, 7))
                    if sock.recv(65536) == data:
                        break
                except OSError:
                    time.sleep(0.1)
            else:
                raise OSError(f"no datagram of {size} bytes came back")


def reset(rng):
    """In the middle of what is sent and asked for."""
    for _ in range(20):
        with connect(80) as sock:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.sendall(b"GET /bytes/100000000 HTTP/1.1\r\nHost: weir\r\n\r\n")
            sock.recv(rng.randrange(1, 100_000))


def idle(rng):
    socks = [connect(7) for _ in range(50)]
    time.sleep(2)
    for sock in rng.sample(socks, 10):
        sock.sendall(b"still here")
        receive(sock, 10)
    for sock in socks:
        sock.close()


def discard(rng):
    with connect(9) as sock:
        sock.sendall(bytes(rng.randrange(1, 20_000_000)))
        sock.shutdown(socket.SHUT_WR)
        if sock.recv(1) != b"":
            raise OSError("discard said something")


JOBS = (download, download, echo, echo, short, datagrams, reset, idle, discard)


def job(work, seed):
    try:
        work(random.Random(seed))
    except Exception as error:   # whatever it was, it is told with what repeats it
        return f"{work.__name__}, seed {seed}: {error!r}"
    return None


def memory_mb(process):
    """Of its own, beyond the files that are mapped."""
    return process.memory_kb("RssAnon") / 1024


class Page:
    """The status page, by a connection that stays: each that was closed would count for a minute (TIME-WAIT)."""

    def __init__(self):
        self.link = None

    def in_use(self):
        """Sockets, and KB that the instance has of its allocator."""
        for left in (1, 0):
            try:
                self.link = self.link or http.client.HTTPConnection(WEIR, 80, timeout=PATIENCE)
                self.link.request("GET", "/status.json")
                page = json.loads(self.link.getresponse().read())
                return page["sockets_total"], page["memory"] // 1024
            except (OSError, http.client.HTTPException):   # it was idle for too long
                self.link = None
                if not left:
                    raise


def at_rest(pool, page, host, sockets, kilobytes=0):
    """In use, and memory of the process, when there are no more sockets than `sockets`, nor KB (0: whatever they are):
    what was closed is over after a minute (FIN-WAIT-2)."""
    seen = []

    def settled():
        seen.append(pool.submit(page.in_use).result())
        return seen[-1][0] <= sockets and (not kilobytes or seen[-1][1] <= kilobytes)
    until(settled, REST_S, 2)
    return *seen[-1], memory_mb(host)


def flap(linux):
    linux.run("ip", "link", "set", LINK, "down")
    time.sleep(0.5)
    linux.run("ip", "link", "set", LINK, "up")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    failures, number, first = [], 0, ()
    with Lab(ROOT / "build/soak") as lab:
        linux = lab.namespace("linux")
        if not lab.tap(linux, LINK):
            sys.exit("no right to make a TAP")
        linux.address(LINK, f"{LINUX}/24")
        program = os.environ.get("WEIR_HOST", ROOT / "build/host/weir-host")
        host = linux.start(program, "--tap", LINK, "--address", f"{WEIR}/24", "--http", 80)
        assert until(lambda: "up on" in host.output() or host.poll() is not None, 20), host.output()
        with concurrent.futures.ThreadPoolExecutor(len(JOBS), initializer=linux.join) as pool:
            page, end = Page(), None
            sockets = pool.submit(page.in_use).result()[0]
            while not failures and host.poll() is None and (end is None or time.monotonic() < end):
                began = time.monotonic()
                seeds = [options.seed * 1_000_000 + number * 1000 + i for i in range(len(JOBS))]
                running = [pool.submit(job, work, seed) for work, seed in zip(JOBS, seeds)]
                if number % 10 == 5:
                    flap(linux)
                failures += [said for said in (one.result() for one in running) if said]
                number += 1
                print(f"round {number}: {time.monotonic() - began:.1f} s, {memory_mb(host):.1f} MB", flush=True)
                if number == WARM_UP:
                    first = at_rest(pool, page, host, sockets)
                    end = time.monotonic() + options.seconds
            last = first or (0, 0, 0)
            if first and not failures and host.poll() is None:
                last = at_rest(pool, page, host, sockets, first[1] + MEMORY_KB)
        first = first or last
        status = host.stop(15)
    print(f"{number} rounds; at rest after the first {WARM_UP} {first[0]} sockets, {first[1]} KB, process "
          f"{first[2]:.1f} MB; after the last {last[0]}, {last[1]} KB, {last[2]:.1f} MB")
    if last[0] > sockets or last[1] > first[1] + MEMORY_KB:
        failures.append(f"{last[0] - sockets} sockets and {last[1] - first[1]} KB are left over")
    if last[2] > first[2] + MEMORY_MB:
        failures.append(f"the process has {last[2] - first[2]:.1f} MB more")
    if status or "Sanitizer" in host.output() or "runtime error" in host.output():
        failures.append(f"the host ended with status {status}: {host.output()}")
    print("\n".join(failures) if failures else "nothing failed")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
