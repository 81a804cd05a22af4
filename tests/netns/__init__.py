# SPDX-License-Identifier: BSD-2-Clause
"""Private networks for tests and demonstrations: namespaces, veth pairs, TAPs, and what runs in them.

    with Lab() as lab:
        a, b = lab.namespace("a"), lab.namespace("b")
        lab.veth(a, "eth0", b, "eth0", mtu=1500)
        a.address("eth0", "10.0.0.1/24")
        server = b.start("weir-host", "--packet", "eth0", "--address", "10.0.0.2/24")
        a.run("ping", "-c", "3", "10.0.0.2")

Works for root, and for anybody inside `unshare --user --map-root-user --net`. A namespace lives as long as the process that holds
it, and that process, like all that is started here, is ended when the lab closes, whether by success, exception or signal; should
even this process be killed, the kernel ends them (the parent-death signal; so make labs from a thread that stays). Nothing is ever
ended by name. The label of a namespace, weir-PID-NAME, is shown in the holder's command line."""
import ctypes
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent():
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Process(subprocess.Popen):
    """A process of a lab; its output goes to a file that `output()` reads at any time."""

    def __init__(self, command, log, **more):
        self.log = pathlib.Path(log)
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as out:
            super().__init__(command, stdin=more.pop("stdin", subprocess.DEVNULL), stdout=out, stderr=subprocess.STDOUT, preexec_fn=_die_with_parent, **more)

    def output(self):
        return self.log.read_text(errors="replace")

    def memory_kb(self, field="VmRSS"):
        """Of /proc's status; of a command in another namespace too, as nsenter becomes it."""
        fields = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines())
        return int(fields[field].split()[0])

    def stop(self, seconds=60):
        """SIGTERM, then SIGKILL. Returns the exit status."""
        if self.poll() is None:
            self.terminate()
            try:
                self.wait(seconds)
            except subprocess.TimeoutExpired:
                self.kill()
        return self.wait()


class Namespace:
    def __init__(self, lab, name, pid):
        self.lab, self.name, self.pid = lab, name, pid

    def enter(self):
        """The words that put a command into this namespace."""
        return [] if self.pid == os.getpid() else ["nsenter", f"--net=/proc/{self.pid}/ns/net"]

    def join(self):
        """Sockets that this thread makes from now on belong to this namespace, and stay in it."""
        with open(f"/proc/{self.pid}/ns/net") as file:
            if _libc.setns(file.fileno(), 0):
                raise OSError(ctypes.get_errno(), "setns")

    def run(self, *command, check=True, timeout=60, **more):
        """Runs a command here to its end; returns its output (stdout and stderr together)."""
        words = [str(word) for word in command]
        done = subprocess.run(self.enter() + words, stdin=more.pop("stdin", subprocess.DEVNULL), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", timeout=timeout, preexec_fn=_die_with_parent, **more)
        if check and done.returncode:
            raise RuntimeError(f"{' '.join(words)} in {self.name}: exit status {done.returncode}\n{done.stdout}")
        return done.stdout

    def ping(self, address, count, *words):
        """So many echo requests, each answered within a minute: what ping says of it. (Without a deadline ping waits for the last answer no longer than two
        round trips or an interval; with one it asks on until `count` answers have come.)"""
        said = self.run("ping", "-c", count, "-w", 60, *words, address, check=False, timeout=90)
        answered = {int(number) for number in re.findall(r"icmp_seq=(\d+) ttl", said)}
        if not answered >= set(range(1, count + 1)):
            raise RuntimeError(f"ping {address} in {self.name}:\n{said}")
        return said

    def popen(self, *command, **more):
        """A plain Popen here, ended with the lab, for who wants its pipes."""
        process = subprocess.Popen(self.enter() + [str(word) for word in command], preexec_fn=_die_with_parent, **more)
        self.lab.processes.append(process)
        return process

    def start(self, *command, log=None, **more):
        """Starts a process here, ended with the lab."""
        words = [str(word) for word in command]
        number = len(self.lab.processes)
        process = Process(self.enter() + words, log or self.lab.folder / f"{number:02}-{pathlib.Path(words[0]).name}.log", **more)
        self.lab.processes.append(process)
        return process

    def address(self, interface, *prefixes):
        for prefix in prefixes:
            self.run("ip", "address", "add", prefix, "dev", interface)
        self.up(interface)

    def up(self, interface):
        self.run("ip", "link", "set", interface, "up")

    def netem(self, interface, *words):
        """Impairs what leaves through the interface: netem("eth0", "delay", "10ms", "loss", "1%"); without words: no more.
        Returns whether the kernel has netem; where not, Weir's own wrappers (weir-host --loss …) do it on the other side."""
        self.run("tc", "qdisc", "del", "dev", interface, "root", check=False)
        return not words or "Error" not in self.run("tc", "qdisc", "add", "dev", interface, "root", "netem", *words, check=False)

    def offloads(self, interface, on):
        state = "on" if on else "off"
        self.run("ethtool", "-K", interface, "tx", state, "rx", state, "tso", state, "gso", state, "gro", state, check=False)


class Lab:
    def __init__(self, folder=None):
        self.folder = pathlib.Path(folder or ROOT / f"build/labs/{os.getpid()}")
        self.processes, self.holders = [], []
        self._links = 0

    def __enter__(self):
        self.folder.mkdir(parents=True, exist_ok=True)
        self._old_handler = None
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:   # so that a terminated test still cleans up
            self._old_handler = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if isinstance(process, Process):
                process.stop(5)
            elif process.poll() is None:
                process.kill()
                process.wait()
        for holder in self.holders:
            holder.kill()
            holder.communicate()
        if self._old_handler is not None:
            signal.signal(signal.SIGTERM, self._old_handler)

    def here(self):
        """The namespace this process is in."""
        return Namespace(self, "here", os.getpid())

    def namespace(self, name):
        """A new, empty network namespace with its loopback up."""
        label = f"weir-{os.getpid()}-{name}"
        holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; read _", label], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  preexec_fn=_die_with_parent)
        self.holders.append(holder)
        if holder.stdout.readline() != b"\n":
            raise RuntimeError("no right to make a network namespace: be root, or run inside  unshare --user --map-root-user --net")
        namespace = Namespace(self, label, holder.pid)
        namespace.up("lo")
        return namespace

    def veth(self, a, name_a, b, name_b, mtu=1500, offloads=True):
        """A cable between two namespaces, both ends up and without addresses."""
        ends = [(a, name_a), (b, name_b)]
        passing = []
        for _ in ends:   # made under unused names here, then moved and renamed
            self._links += 1
            passing.append(f"wv{os.getpid() % 100000}-{self._links}")
        subprocess.run(["ip", "link", "add", passing[0], "type", "veth", "peer", "name", passing[1]], check=True)
        for (namespace, name), temporary in zip(ends, passing):
            if namespace.pid != os.getpid():
                subprocess.run(["ip", "link", "set", temporary, "netns", str(namespace.pid)], check=True)
            namespace.run("ip", "link", "set", temporary, "name", name, "mtu", mtu, "up")
            if not offloads:
                namespace.offloads(name, False)
        for namespace, name in ends:   # the kernel makes the first end usable some time after it has seen the second
            assert until(lambda: "state UP" in namespace.run("ip", "link", "show", name), 60)

    def tap(self, namespace, name, mode="tap", mtu=1500):
        """A TAP (or TUN) device, up. Returns whether this machine permits it."""
        made = subprocess.run(namespace.enter() + ["ip", "tuntap", "add", "dev", name, "mode", mode], capture_output=True)
        if made.returncode:
            return False
        namespace.run("ip", "link", "set", name, "mtu", mtu, "up")
        return True

    def link(self, linux, name, address, tap=True):
        """A link of Linux's, `name` with `address`/24, for a Weir host: a TAP, or where this machine permits none a veth pair. Returns the
        namespace of its other side, and the words for weir-host there."""
        if tap and self.tap(linux, name):
            linux.address(name, f"{address}/24")
            return linux, ["--tap", name]
        inside = self.namespace(name)
        self.veth(linux, name, inside, "eth0")
        linux.address(name, f"{address}/24")
        return inside, ["--packet", "eth0"]


def until(condition, seconds=60, step=0.05):
    """Waits until condition() is true; returns its value, or the last false one at the deadline, which is far off:
    machines are busy."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(step)
    return value
