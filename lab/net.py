# SPDX-License-Identifier: BSD-2-Clause
"""A network of the laboratory: two hosts, Linux's or Weir's or user-mode Linux's, and between them weir-link, a link emulator between two
TAPs. A host is an end with `iperf(...)` to send and `serve()` to receive; the link does not know who they are.

    with Network(Link(rate=100, delay=10, queue=250000, loss=1), sender="weir", receiver="linux", folder=…) as network:
        result = network.bulk(cc="cubic", seconds=15)

What it starts is noted in `commands`, as a person would type it in the namespace that stands before it: link, a or b."""
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from netns import Lab, until  # noqa: E402

BIN = ROOT / "build/host"
TRANSFER, TRANSFER_PORT = ROOT / "lab/transfer.py", 5001
A, B = "10.66.0.1", "10.66.0.2"
A6, B6 = "fd66::1", "fd66::2"
LINUX_OWN = ("reno", "cubic", "bbr")                            # this machine's kernel may have them
UML_ONLY = ("bic", "htcp", "vegas", "westwood", "yeah")         # user-mode Linux's modules
OFFLOADS = ("tx", "rx", "tso", "gso", "gro")


commands = []   # of this process; each run has one of its own (runs.py)


def noted(namespace, words):
    """The words, all of them text."""
    words = [str(word) for word in words]
    line = f"{namespace.name.rpartition('-')[2]}$ {shlex.join(words)}".replace(sys.executable, "python3").replace(f"{ROOT}/", "")
    if line not in commands:
        commands.append(line)
    return words


class Failed(Exception):
    """What was tried and what was seen, for people."""


@dataclasses.dataclass(frozen=True)
class Link:
    rate: float = 0        # Mbit/s of layer-2 bytes; 0: no limit
    delay: float = 0       # ms each way
    queue: int = 0         # bytes, drop-tail; 0: no limit
    loss: float = 0        # percent, from sender to receiver, after the bottleneck
    back_loss: float = 0
    spare_arp: int = 0     # 1: losses strike IP only, as those of a firewall on the receiver's input do
    spare_handshake: int = 0   # 1: from a SYN to the first segment without, all is only delayed: no lost SYN costs its second
    seed: int = 1

    def words(self):
        """Settings of weir-link, which are weir-sim's."""
        return [word for field in dataclasses.fields(self) if getattr(self, field.name) != field.default for word in (f"--{field.name}", str(getattr(self, field.name)))]


@dataclasses.dataclass(frozen=True)
class Options:
    """Of a host: bytes of its socket buffers (0: the default), µs of its timer's tick (0: the clock's own), copying reads."""
    send_buffer: int = 0
    receive_buffer: int = 0
    tick_us: int = 0
    copy: bool = False


def prefixed(address):
    """With its link's length."""
    return f"{address}/{64 if ':' in address else 24}"


def silence6(namespace, tap):
    """IPv6 of Linux's own is not there, where it has no part."""
    namespace.run("sysctl", "-qw", f"net.ipv6.conf.{tap}.disable_ipv6=1", check=False)


class LinuxEnd:
    """The machine's own kernel in a namespace of its own, without offloads, so that a loss is one segment's."""
    name = "linux"

    def __init__(self, network, namespace, tap, address, options):
        self.network, self.namespace, self.address = network, namespace, address
        if ":" in address:   # it is not probed: the link may lose the probe, and nobody else has it
            namespace.run("sysctl", "-qw", f"net.ipv6.conf.{tap}.accept_dad=0")
        else:
            silence6(namespace, tap)
        namespace.address(tap, prefixed(address))
        for offload in OFFLOADS:
            namespace.run("ethtool", "-K", tap, offload, "off", check=False)
        # Measurements must not depend on those before them.
        namespace.run("sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1")
        for name, size in (("wmem", options.send_buffer), ("rmem", options.receive_buffer)):
            if size:
                namespace.run("sysctl", "-qw", f"net.ipv4.tcp_{name}={size} {size} {size}")

    def serve(self, peer_address):
        server = self.namespace.start(*noted(self.namespace, ["iperf3", "-s", "-B", self.address, "--forceflush"]))
        if not until(lambda: "listening" in server.output(), 60):
            raise Failed(f"iperf3 -s did not start: {server.output().strip()}")

    def iperf(self, words, cc, timeout):
        done = subprocess.run(self.namespace.enter() + noted(self.namespace, ["iperf3", "-J", *words]), capture_output=True, text=True, timeout=timeout)
        return parse(done.stdout, done.stderr)

    def send(self, size, cc, timeout):
        command = [sys.executable, TRANSFER, "send", self.network.receiver.address, size, *([cc] if cc else [])]
        done = subprocess.run(self.namespace.enter() + noted(self.namespace, command), capture_output=True, text=True, timeout=timeout)
        return seconds_of(done.stdout, done.stderr)

    def listen(self):
        server = self.namespace.start(*noted(self.namespace, [sys.executable, TRANSFER, "listen"]))
        if not until(lambda: "listening" in server.output(), 60):
            raise Failed(f"the receiver did not start: {server.output().strip()}")
        return server


class WeirEnd:
    """weir-host on the TAP's device through a packet socket, as on a network card; Linux has no address there."""
    name = "weir"

    def __init__(self, network, namespace, tap, address, options):
        self.network, self.namespace, self.tap, self.address = network, namespace, tap, address
        silence6(namespace, tap)
        namespace.run("ip", "link", "set", tap, "arp", "off", "up")
        self.common = [BIN / "weir-host", "--packet", tap, "--address6" if ":" in address else "--address", prefixed(address), "--no-offload"]
        for word, value in (("--send-buffer", options.send_buffer), ("--receive-buffer", options.receive_buffer), ("--tick", options.tick_us)):
            if value:
                self.common += [word, str(value)]
        if options.copy:
            self.common += ["--copy"]

    def serve(self, peer_address):
        self.server = self.namespace.start(*noted(self.namespace, self.common))

    def send(self, size, cc, timeout):
        data = self.network.lab.folder / "data"
        with open(data, "wb") as out:
            out.truncate(size)
        command = [*self.common, *(["--cc", cc] if cc else []), "--run", f"send {data} {self.network.receiver.address} {TRANSFER_PORT}"]
        done = subprocess.run(self.namespace.enter() + noted(self.namespace, command), capture_output=True, text=True, timeout=timeout)
        return seconds_of(done.stdout + done.stderr, done.stderr)

    def listen(self):
        server = self.namespace.start(*noted(self.namespace, [*self.common, "--run", f"listen {TRANSFER_PORT} /dev/null"]))
        if not until(lambda: "listening" in server.output(), 60):
            raise Failed(f"weir-host did not listen: {server.output().strip()}")
        return server

    def iperf(self, words, cc, timeout):
        command = [*self.common, "--run", " ".join(["iperf3", "-J", *words])]
        done = subprocess.run(self.namespace.enter() + noted(self.namespace, command), capture_output=True, text=True, timeout=timeout)
        return parse(done.stdout, done.stderr)


class UmlEnd:
    """User-mode Linux: a kernel as a process, with the congestion controls that the machine's own has not. It sends only: each run boots it."""
    name = "uml"
    MODULES = pathlib.Path("/usr/lib/uml/modules")

    def __init__(self, network, namespace, tap, address, options):
        self.network, self.namespace, self.tap, self.address, self.options = network, namespace, tap, address, options
        if ":" in address:
            raise Failed("user-mode Linux sends over IPv4")
        silence6(namespace, tap)
        namespace.run("ip", "link", "set", tap, "arp", "off", "up")

    def run(self, command, cc, timeout):
        out, script = self.network.lab.folder / "uml-result", self.network.lab.folder / "uml-init.sh"
        out.unlink(missing_ok=True)
        modules = {"yeah": "vegas yeah"}.get(cc, cc)   # yeah is built on vegas
        script.write_text(UML_SCRIPT.format(address=self.address, modules="" if cc in (None, "reno", "cubic") else modules, command=shlex.join(command), out=out,
                                            peer=B if self.address == A else A, wmem=self.options.send_buffer or "4096 16384 4194304"))
        script.chmod(0o755)
        words = ["env", f"LD_PRELOAD={BIN / 'uml_xstate.so'}", "linux.uml", "mem=192M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", f"init={script}",
                 f"vec0:transport=raw,ifname={self.tap},depth=64,gro=0", "con=null", "con0=fd:0,fd:1", "quiet"]
        noted(self.namespace, command)
        done = subprocess.run(self.namespace.enter() + noted(self.namespace, words), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout + 30)
        return out.read_text() if out.exists() else "", done.stdout[-600:]

    def iperf(self, words, cc, timeout):
        return parse(*self.run(["iperf3", "-J", *words], cc, timeout))

    def send(self, size, cc, timeout):
        return seconds_of(*self.run([sys.executable, str(TRANSFER), "send", self.network.receiver.address, str(size), *([cc] if cc else [])], cc, timeout))


UML_SCRIPT = """#!/bin/sh
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
for module in {modules}; do busybox insmod /usr/lib/uml/modules/$(uname -r)/kernel/net/ipv4/tcp_$module.ko; done
ip link set lo up; ip address add {address}/24 dev vec0; ip link set vec0 up
for offload in tso gso gro sg tx rx; do ethtool -K vec0 $offload off 2>/dev/null; done
echo "{wmem}" >/proc/sys/net/ipv4/tcp_wmem
echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save
ping -q -c 2 -i 0.2 {peer} >/dev/null
{command} >{out} 2>&1
sync
busybox poweroff -f
"""
ENDS = {"linux": LinuxEnd, "weir": WeirEnd, "uml": UmlEnd}


def seconds_of(text, complaint):
    """What both kinds of sender print: N bytes in S s."""
    found = re.search(r"bytes in ([0-9.]+) s", text)
    if not found:
        raise Failed(f"the transfer failed: {(complaint or text).strip()[-300:]}")
    return float(found.group(1))


def parse(text, complaint):
    try:
        result = json.loads(text)
    except json.JSONDecodeError:
        raise Failed(f"no result: {(complaint or text).strip()[-300:]}") from None
    if result.get("error"):
        raise Failed(result["error"])
    return result


class Network:
    def __init__(self, link, sender, receiver, folder, sender_options=Options(), receiver_options=Options(), serve=True, trace=None, apart=False, version6=False):
        """apart: the ends share a core and the link has another; else they move, and where they lie shows more than a small difference does."""
        self.link, self.kinds, self.folder = link, (sender, receiver), folder
        self.options, self.serve, self.trace, self.apart = (sender_options, receiver_options), serve, trace, apart
        self.addresses = (A6, B6) if version6 else (A, B)

    def __enter__(self):
        self.cores = os.sched_getaffinity(0)
        self.lab = Lab(self.folder / str(os.getpid()))   # several may be under way
        self.lab.__enter__()
        try:
            self.build()
        except BaseException:
            self.leave(None, None, None)
            raise
        return self

    def __exit__(self, *what):
        self.leave(*what)
        if what == (None, None, None):
            shutil.rmtree(self.lab.folder)

    def leave(self, *what):
        self.lab.__exit__(*what)
        os.sched_setaffinity(0, self.cores)

    def build(self):
        cores = sorted(self.cores)
        if self.apart:
            os.sched_setaffinity(0, cores[:1])
        middle, a, b = (self.lab.namespace(name) for name in ("link", "a", "b"))
        self.emulator = middle.start(*noted(middle, [BIN / "weir-link", "lab0", "lab1", *self.link.words(), *(["--frames", self.trace] if self.trace else [])]))
        if not until(lambda: self.emulator.output().startswith("ready") or self.emulator.poll() is not None, 60) or self.emulator.poll() is not None:
            raise Failed(f"weir-link: {self.emulator.output().strip() or 'does not start'}")
        if self.apart:
            os.sched_setaffinity(self.emulator.pid, cores[-1:])
        for tap, namespace in (("lab0", a), ("lab1", b)):
            middle.run("ip", "link", "set", tap, "netns", namespace.pid)
            namespace.run("ip", "link", "set", tap, "up", "txqueuelen", 10000)   # the queue that counts is the link's
        self.hosts = a, b
        self.equip(*self.options)
        if self.serve:
            self.receiver.serve(self.addresses[0])

    def equip(self, sender_options, receiver_options):
        """The ends, for what is begun from now on."""
        (a, b), (sender, receiver) = self.hosts, self.kinds
        self.sender = ENDS[sender](self, a, "lab0", self.addresses[0], sender_options)
        self.receiver = ENDS[receiver](self, b, "lab1", self.addresses[1], receiver_options)

    def link_counters(self):
        self.emulator.send_signal(signal.SIGTERM)
        self.emulator.wait(5)
        return json.loads(self.emulator.output().split("\n", 1)[1] or "[{}, {}]")

    def bulk(self, cc=None, seconds=None, size=None, reverse=False, parallel=1, timeout=None):
        """One run of iperf3. Mbit/s as the receiver counted them, seconds, retransmissions, and the intervals' cwnd and RTT."""
        words = ["-c", self.addresses[1], *(["-t", str(seconds)] if seconds else ["-n", str(size)]), *(["-C", cc] if cc else []), *(["-R"] if reverse else []),
                 *(["-P", str(parallel)] if parallel > 1 else []), "-i", "0.5" if self.kinds[0] != "weir" else "1"]
        if self.kinds[0] == "weir":
            words = words[:-2]
        started = time.monotonic()
        result = self.sender.iperf(words, cc, timeout or (seconds or 300) + 60)
        end = result["end"]
        received = end.get("sum_received") or end["sum"]
        return {
            "mbit": round(received["bits_per_second"] / 1e6, 4), "seconds": round(received["seconds"], 4), "bytes": received["bytes"],
            "retransmits": (end.get("sum_sent") or {}).get("retransmits"), "wall": round(time.monotonic() - started, 2),
            "flows": [round(stream["receiver"]["bits_per_second"] / 1e6, 4) for stream in end.get("streams", []) if "receiver" in stream],
            "intervals": [[round(i["sum"]["end"], 2), round(i["sum"]["bits_per_second"] / 1e6, 2), sum(s.get("snd_cwnd", 0) for s in i["streams"]),
                           max((s.get("rtt", 0) for s in i["streams"]), default=0)] for i in result.get("intervals", [])],
        }

    def transfer(self, size, cc=None, timeout=900):
        """Seconds from connect until the receiver has read everything and closed."""
        listener = self.receiver.listen()
        try:
            return self.sender.send(size, cc, timeout)
        finally:   # a Weir that still waits for the last acknowledgement would answer for the next, which has its address
            listener.kill()
            listener.wait()


def this_kernel_has():
    """Congestion controls the machine's own kernel offers."""
    return set(pathlib.Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split())


def uml_there():
    return UmlEnd.MODULES.exists() and any(os.access(pathlib.Path(p) / "linux.uml", os.X_OK) for p in os.environ["PATH"].split(":"))
