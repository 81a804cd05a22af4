#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Weir on the metal beside Linux on the same metal: the benchmarks of LyraOS (10,000 writes of 1460 bytes, the server sends, the server
receives; x86 PC) and of the thesis (5 MB each way, without loss and with 15 %; ARM "virt"; Zynq alone), each in QEMU, over the same network
card on a TAP in a private namespace. The Linux guest is Debian's kernel with bench/metal/guest.c as its only process. LyraOS's benchmark is run
twice: `component` is lyraos.elf, the stack's component with LyraOS's calls over the preemptive kernel, with a virtio card and with an NE2000;
`lyra` is transfer.elf, Weir in a loop without a kernel.

    bench/metal/guests.py [component] [lyra] [thesis] [loss] [zynq] [--runs N] [--lossy-runs N]    without a name: all five

Runs are paired: Weir and Linux in turn, both booted all the while (with loss, where both mostly wait, at the same time); a ratio is Linux's time by
Weir's, of the medians. Writes its keys into build/bench/metal.json. Needs TAP; where that is not permitted nothing is measured, and the exit
status is 2."""
import argparse
import functools
import os
import pathlib
import re
import socket
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tools"), str(ROOT / "lab")]
import metal_json  # noqa: E402
from boards import BOARDS  # noqa: E402
from netns import Lab, until  # noqa: E402

OUT = ROOT / "build/bench"
WORK = OUT / "guests"
INSIDE = "WEIR_GUESTS_INSIDE"
SEND_PORT, RECEIVE_PORT = 5001, 5002
LYRA, THESIS, LOSS = 10000 * 1460, 5 << 20, 15
PEER_CC = "cubic"   # of the far end where it sends: Linux's default, as both guests have theirs
WEIR, LINUX, FAR = "10.0.0.2", "10.0.0.3", "10.0.0.1"   # the guests, and the other end
# Debian's architecture → its kernel's package, modules in the order of loading, how to compile guest.c, QEMU's words beside the board's.
KERNELS = {
    "amd64": ("linux-image-amd64", ("failover", "net_failover", "virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_net", "8390", "ne2k-pci"),
              ["gcc", "-static", "-no-pie", "-fno-pie"], "console=ttyS0"),
    "armhf": ("linux-image-armmp", ("failover", "net_failover", "virtio_mmio", "virtio_net"), ["arm-none-eabi-gcc", "-marm", "-march=armv7-a", "-static"], "console=ttyAMA0"),
}
ARCHITECTURE = {"pc": "amd64", "pc-ne2k": "amd64", "arm-virt": "armhf"}
CARDS = {"virtio": "pc", "ne2k": "pc-ne2k"}   # LyraOS's benchmark with its component: card → board
LINUX_MEMORY = "256"
LYRA_SECONDS, LYRA_STALLS = 60, 20   # of a transfer at the most; of Linux's that may come to nothing


class Failed(Exception):
    pass


# --- the Linux guest -----------------------------------------------------------------------------------------------------------------

def fetch(architecture):
    """Debian's kernel of that architecture, unpacked; apt works on lists of our own, so that the machine's stay as they are."""
    folder = WORK / architecture
    if list(folder.glob("root/boot/vmlinuz*")):
        return folder / "root"
    for part in ("lists/partial", "cache/archives/partial", "parts"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    archives = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"], capture_output=True, text=True, check=True)
    (folder / "sources.list").write_text("".join(f"deb [arch={architecture}] {line}\n" for line in sorted(set(archives.stdout.splitlines())) if "/debian" in line))
    options = [word for name, value in (("APT::Architecture", architecture), ("APT::Architectures", architecture), ("Dir::Etc::SourceList", folder / "sources.list"),
                                        ("Dir::Etc::SourceParts", folder / "parts"), ("Dir::State::Lists", folder / "lists"), ("Dir::State::status", "/dev/null"),
                                        ("Dir::Cache", folder / "cache"), ("APT::Sandbox::User", ""), ("Debug::NoLocking", "1")) for word in ("-o", f"{name}={value}")]
    log = open(folder / "apt.log", "w")
    subprocess.run(["apt-get", *options, "update"], stdout=log, stderr=log)   # one list of several may be out of step
    shown = subprocess.run(["apt-cache", *options, "depends", KERNELS[architecture][0]], capture_output=True, text=True)
    package = re.search(r"Depends: (linux-image-\d\S+)", shown.stdout)
    if not package:
        raise Failed(f"apt knows no {KERNELS[architecture][0]}; see {folder}/apt.log")
    if subprocess.run(["apt-get", *options, "download", package[1]], cwd=folder, stdout=log, stderr=log).returncode:
        raise Failed(f"{package[1]} was not to be had; see {folder}/apt.log")
    subprocess.run(["dpkg-deb", "-x", next(folder.glob("linux-image-*.deb")), folder / "unpacked"], check=True)
    (folder / "unpacked").rename(folder / "root")   # whole or not at all
    return folder / "root"


def entry(name, mode, data=b"", device=(0, 0)):
    """A file in a cpio archive of the kind that the kernel unpacks."""
    name = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name), 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
    return head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4)


def linux_guest(board, tap, mac):
    """QEMU's words for Debian's Linux on that board's machine."""
    architecture = ARCHITECTURE[board]
    root = fetch(architecture)
    package, modules, compiler, console = KERNELS[architecture]
    program = WORK / architecture / "init"
    subprocess.run([*compiler, "-O2", "-nostdlib", "-ffreestanding", "-fno-stack-protector", "-fno-tree-loop-distribute-patterns", "-Wall", "-Wextra", ROOT / "bench/metal/guest.c",
                    "-o", program], check=True)
    files = [next(root.glob(f"lib/modules/*/kernel/**/{name}.ko"), None) for name in modules]
    archive = entry("dev", 0o040755) + entry("dev/console", 0o020600, device=(5, 1)) + entry("init", 0o100755, program.read_bytes())
    archive += b"".join(entry(file.name, 0o100644, file.read_bytes()) for file in files if file)
    archive += entry("modules", 0o100644, "".join(f"/{file.name}\n" for file in files if file).encode()) + entry("TRAILER!!!", 0)
    (WORK / architecture / "initrd").write_bytes(archive)
    machine = list(BOARDS[board].machine)
    machine[machine.index("-m") + 1] = LINUX_MEMORY
    return qemu(board, machine, next(root.glob("boot/vmlinuz*")), tap, mac) + ["-initrd", str(WORK / architecture / "initrd"),
                                                                             "-append", f"{console} quiet rdinit=/init panic=-1 ADDRESS={LINUX}"]


def weir_guest(board, tap, mac, program="transfer"):
    return qemu(board, BOARDS[board].machine, ROOT / f"build/boards/{board}/{program}.elf", tap, mac)


def qemu(board, machine, kernel, tap, mac):
    back = f"tap,ifname={tap},script=no,downscript=no"
    device = BOARDS[board].device
    card = ["-netdev", back.replace("tap,", "tap,id=net0,", 1), "-device", f"{device},netdev=net0,mac={mac}"] if device else ["-nic", back]
    return ["timeout", "3600", *machine, "-nographic", "-monitor", "none", "-serial", "stdio", "-kernel", str(kernel), *card]


# --- one transfer --------------------------------------------------------------------------------------------------------------------

def connect(address, sends, seconds, cc, window=0):
    """`window`: the most that this end offers; 0: as it likes."""
    connection = socket.socket()
    connection.settimeout(seconds)
    if cc:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    if window:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_WINDOW_CLAMP, window)
    connection.connect((address, SEND_PORT if sends else RECEIVE_PORT))
    return connection


def take(connection):
    """All that comes until the server closes."""
    room, got = bytearray(1 << 20), 0
    while some := connection.recv_into(room):
        got += some
    return got


def transfer(address, sends, size, seconds=300, cc=None, lyraos=False, window=0):
    """Seconds from connect until all has arrived and the server has closed. `sends`: the server does. `lyraos`: it is examples/lyraos/server.c, which
    sends without being asked, and answers with how much it took."""
    data = (b"" if lyraos else size.to_bytes(4, "big")) if sends else b"weir" * (size // 4)
    began = time.monotonic()
    with connect(address, sends, seconds, cc, window) as connection:
        connection.sendall(data)
        if sends:
            if (got := take(connection)) != size:
                raise Failed(f"{address}: {got} bytes of {size} came")
        else:
            connection.shutdown(socket.SHUT_WR)
            answer = connection.makefile("rb").read()
            if not (answer.startswith(b"received %d bytes" % size) if lyraos else answer == b""):
                raise Failed(f"{address} answered {answer[:80]!r}")
    return time.monotonic() - began


def server_is_up(address):
    try:
        socket.create_connection((address, RECEIVE_PORT), 1).close()
        return True
    except OSError:
        return False


# --- LyraOS: two guests on one bridge with this end ------------------------------------------------------------------------------------

def boot(here, words, what):
    machine = here.start(*words, log=WORK / f"{what}.log")
    if not until(lambda: "serving" in machine.output() or "listens" in machine.output() or machine.poll() is not None, 120) or machine.poll() is not None:
        raise Failed(f"{what} does not serve: {machine.output()[-800:]}")
    return machine


def taps(lab, here, names):
    """TAPs on a bridge that has the far end's address."""
    here.up("lo")
    here.run("ip", "link", "del", "br0", check=False)
    here.run("ip", "link", "add", "br0", "type", "bridge")
    here.run("sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1", check=False)
    for name in names:
        lab.tap(here, name)
        here.run("ip", "link", "set", name, "master", "br0", "up", "txqueuelen", "10000")
        here.run("sysctl", "-qw", f"net.ipv6.conf.{name}.disable_ipv6=1", check=False)


def pairs(kinds, runs, size, sends, one=transfer):
    """kind → seconds of each run, the kinds in turn, each pair beginning with another."""
    found = {kind: [] for kind in kinds}
    for number in range(runs):
        for kind in (list(kinds) if number % 2 else list(kinds)[::-1]):
            found[kind].append(one(kinds[kind], sends, size))
    return found


def together(kinds, runs, size, sends, one):
    """As pairs, but the kinds of a pair run at once."""
    found = {kind: [None] * runs for kind in kinds}

    def run(kind, number):
        found[kind][number] = one(kinds[kind], sends, size)
    for number in range(runs):
        threads = [threading.Thread(target=run, args=(kind, number)) for kind in kinds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if any(found[kind][number] is None for kind in kinds):
            raise Failed("a transfer did not come to its end")
        print(f"    {number + 1} of {runs}: " + ", ".join(f"{kind} {found[kind][number]:.1f} s" for kind in kinds), flush=True)
    return found


def ratio(found):
    return statistics.median(found["linux"]) / statistics.median(found["weir"])


class Pair:
    """Weir's program and Linux on the same machine, booted. Debian's driver of the NE2000 stops receiving for good now and then, in QEMU: that guest is
    booted again, the run repeated, and `linux_stalls` counts it."""

    def __init__(self, lab, board, program, one):
        self.here, self.board, self.stalls = lab.here(), board, 0
        self.ways = {WEIR: one, LINUX: transfer}
        taps(lab, self.here, ("weir0", "linux0"))
        self.here.address("br0", f"{FAR}/24")
        boot(self.here, weir_guest(board, "weir0", "52:54:00:00:00:02", program), f"{board}-weir")
        self.boot_linux()
        until(lambda: server_is_up(WEIR), 20)

    def boot_linux(self):
        self.linux = boot(self.here, linux_guest(self.board, "linux0", "52:54:00:00:00:03"), f"{self.board}-linux")
        until(lambda: server_is_up(LINUX), 20)

    def transfer(self, address, sends, size):
        while True:
            try:
                return self.ways[address](address, sends, size, LYRA_SECONDS, PEER_CC)
            except TimeoutError:
                if address == WEIR or self.stalls == LYRA_STALLS:
                    raise Failed(f"{self.board}: {address} stands still") from None
            self.stalls += 1
            self.linux.stop()
            self.boot_linux()


def beside_linux(board, program, one, runs):
    """Figures of LyraOS's benchmark: `program` of the board, which `one` transfers with, beside Linux."""
    with Lab(WORK / f"{board}-{program}") as lab:
        pair = Pair(lab, board, program, one)
        kinds, result = {"weir": WEIR, "linux": LINUX}, {"bytes": LYRA, "runs": runs, "peer": PEER_CC, "program": f"build/boards/{board}/{program}.elf"}
        for name, sends in (("send", True), ("receive", False)):
            pairs(kinds, 2, LYRA, sends, pair.transfer)   # warm: QEMU translates what it has not seen
            found = pairs(kinds, runs, LYRA, sends, pair.transfer)
            result[f"ratio_{name}"] = round(ratio(found), 3)
            for kind, seconds in found.items():
                result[f"{kind}_{name}_mbit"] = round(LYRA * 8e-6 / statistics.median(seconds), 1)
                result[f"{kind}_{name}_s"] = [round(value, 4) for value in sorted(seconds)]
            print(f"  {board}, {program}, server {name}s   Weir {result[f'weir_{name}_mbit']} Mbit/s, Linux {result[f'linux_{name}_mbit']}: {result[f'ratio_{name}']}", flush=True)
    result["ratio_min"], result["linux_stalls"] = min(result["ratio_send"], result["ratio_receive"]), pair.stalls
    return result


def lyra(runs):
    return {"lyra": beside_linux("pc", "transfer", transfer, runs)}


def component(runs):
    """lyra.component.CARD.send and .receive are the ratios; the runs stand beside them."""
    found = {}
    for card, board in CARDS.items():
        figures = beside_linux(board, "lyraos", functools.partial(transfer, lyraos=True), runs)
        found[card] = {"send": figures["ratio_send"], "receive": figures["ratio_receive"], **figures}
    return {"lyra": {"component": found}}


# --- the thesis: guests on a bridge; with loss the far end is behind an emulated link -----------------------------------------------------

class Behind:
    """weir-link between the bridge and the far end, which then is a namespace of its own: with loss towards who receives, and what `more` says of it."""

    def __init__(self, lab, here, loss, sends, more=()):
        self.lab, self.here, self.words = lab, here, ["--seed", "1", "--loss" if sends else "--back_loss", str(loss), *more]

    def __enter__(self):
        middle, self.far = self.lab.namespace("link"), self.lab.namespace("far")
        self.emulator = middle.start(ROOT / "build/host/weir-link", "lab0", "lab1", *self.words)
        if not until(lambda: self.emulator.output().startswith("ready"), 5):
            raise Failed(f"weir-link: {self.emulator.output().strip()}")
        for end, namespace in (("lab0", self.here), ("lab1", self.far)):
            middle.run("ip", "link", "set", end, "netns", namespace.pid)
            namespace.run("sysctl", "-qw", f"net.ipv6.conf.{end}.disable_ipv6=1", check=False)
            namespace.offloads(end, False)   # so that a loss is one segment's
            namespace.run("ip", "link", "set", end, "up", "txqueuelen", "10000")
        self.here.run("ip", "link", "set", "lab0", "master", "br0")
        self.here.run("ip", "address", "del", f"{FAR}/24", "dev", "br0")
        self.far.address("lab1", f"{FAR}/24")
        self.far.run("sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1", check=False)
        return self

    def __exit__(self, *_):
        self.emulator.stop()
        self.here.address("br0", f"{FAR}/24")

    def transfer(self, address, sends, size, cc, window=0):
        words = [sys.executable, __file__, "one", address, "send" if sends else "receive", str(size), cc, str(window)]
        return float(self.far.run(*words, timeout=900))


def thesis(runs, loss=0, board="arm-virt", kinds=("weir", "linux"), cc=PEER_CC):
    """way → kind → seconds of each run of 5 MB."""
    result = {}
    with Lab(WORK / "thesis") as lab:
        here, addresses = lab.here(), {kind: {"weir": WEIR, "linux": LINUX}[kind] for kind in kinds}
        taps(lab, here, [f"{kind}0" for kind in kinds])
        here.address("br0", f"{FAR}/24")
        for kind in kinds:
            make = weir_guest if kind == "weir" else linux_guest
            boot(here, make(board, f"{kind}0", f"52:54:00:00:00:0{addresses[kind][-1]}"), f"{board}-{kind}")
            until(lambda kind=kind: server_is_up(addresses[kind]), 20)
        for name, sends in (("send", True), ("receive", False)):
            pairs(addresses, 2, THESIS, sends, lambda address, *rest: transfer(address, *rest, cc=cc))   # warm
            if loss:
                with Behind(lab, here, loss, sends) as far:
                    found = together(addresses, runs, THESIS, sends, lambda address, *rest: far.transfer(address, *rest, cc))
            else:
                found = pairs(addresses, runs, THESIS, sends, lambda address, *rest: transfer(address, *rest, cc=cc))
            result[name] = found
            text = ", ".join(f"{kind} {statistics.median(values):.3f} s" for kind, values in found.items())
            print(f"  the thesis, 5 MB on {board}, {loss} % loss, the board {name}s: {text}", flush=True)
    return result


def paired(key, runs, loss):
    """thesis, thesis_loss: both guests on arm-virt."""
    figures = {"bytes": THESIS, "runs": runs, "loss_percent": loss, "peer": PEER_CC}
    for name, pair in thesis(runs, loss).items():
        figures[f"ratio_{name}"] = round(ratio(pair), 3)
        figures.update({f"{kind}_{name}_s": [round(value, 4) for value in sorted(seconds)] for kind, seconds in pair.items()})
    figures["ratio_min"] = min(figures["ratio_send"], figures["ratio_receive"])
    print(f"  {key}.ratio_min {figures['ratio_min']}", flush=True)
    return {key: figures}


def zynq(runs, lossy_runs):
    """Weir alone, since Debian's kernel has no driver for that board."""
    figures = {"bytes": THESIS}
    for loss, count in ((0, runs), (LOSS, lossy_runs)):
        for name, seconds in thesis(count, loss, "xilinx-zynq-a9", kinds=("weir",)).items():
            median = statistics.median(seconds["weir"])
            figures.update({f"{name}_{loss}_s": round(median, 4), f"{name}_{loss}_mbit": round(THESIS * 8e-6 / median, 3)})
    return {"thesis_zynq": figures}


def keep(found):
    metal_json.keep(found, ("lyra", "thesis"))   # LyraOS's two programs are measured one by one, the thesis's calls by api.py


def enter_private_network():
    unshare = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--net"]
    if INSIDE not in os.environ:
        if subprocess.run([*unshare, "ip", "tuntap", "add", "dev", "probe0", "mode", "tap"], capture_output=True).returncode:
            print("bench-metal: TAP is not permitted here, so nothing is compared with Linux guests", file=sys.stderr)
            sys.exit(2)
        os.environ[INSIDE] = "1"
        os.execvp(unshare[0], [*unshare, sys.executable, __file__, *sys.argv[1:]])


def main():
    words = argparse.ArgumentParser()
    words.add_argument("what", nargs="*")
    words.add_argument("--runs", type=int, default=61)   # some hundredths of a second each: many, since what else runs here disturbs some
    words.add_argument("--lossy-runs", type=int, default=15)   # half a minute each
    given = words.parse_args()
    if given.what[:1] == ["one"]:
        _, address, way, size, cc, window = given.what
        print(transfer(address, way == "send", int(size), 900, cc, window=int(window)))
        return
    parts = {"component": lambda: component(given.runs), "lyra": lambda: lyra(given.runs), "thesis": lambda: paired("thesis", given.runs, 0), "loss": lambda: paired("thesis_loss", given.lossy_runs, LOSS),
             "zynq": lambda: zynq(given.runs, min(given.lossy_runs, 5))}
    if unknown := set(given.what) - set(parts):
        sys.exit(f"there is no {' '.join(unknown)}; there are: {' '.join(parts)}")
    WORK.mkdir(parents=True, exist_ok=True)
    if INSIDE not in os.environ and given.what != ["zynq"]:   # where there is a network still
        for architecture in KERNELS:
            fetch(architecture)
    enter_private_network()
    for name in given.what or parts:
        keep(parts[name]())


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"bench-metal: {error}")
