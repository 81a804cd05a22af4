# SPDX-License-Identifier: BSD-2-Clause
"""The boards as QEMU's machines, or as our own models of machines that it does not have (tools/machines): how to start one with a firmware, over a
link that needs no privileges or on a TAP."""
import contextlib
import dataclasses
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
ADDRESS, HOST = "10.0.0.2", "10.0.0.1"   # of the firmware (boards/board.h), of what is at the link's other end


@dataclasses.dataclass(frozen=True)
class Board:
    name: str
    machine: tuple = ()    # words for QEMU
    model: str = ""        # or the program of tools/machines
    nic: str = ""          # model for -nic, where the machine does not have its own
    device: str = ""       # or what follows -device, for a card that -nic does not know
    image: str = ""        # the board whose firmware it runs, if not its own
    program: str = "echo"  # what `make run` shows, as in tools/boards.mk (RUN_PROGRAM)
    about: str = ""


BOARDS = {board.name: board for board in (
    Board("lm3s6965evb", ("qemu-system-arm", "-M", "lm3s6965evb"), about="Cortex-M3, Stellaris Ethernet; the tiny profile in 64 KB of flash and 20 KB of RAM"),
    Board("mps2-an385", ("qemu-system-arm", "-M", "mps2-an385"), about="Cortex-M3, LAN9118; the small profile"),
    Board("mps2-an385-micro", ("qemu-system-arm", "-M", "mps2-an385"), about="the same with the microkernel: stack, driver and applications are processes"),
    Board("xilinx-zynq-a9", ("qemu-system-arm", "-M", "xilinx-zynq-a9", "-m", "128"), about="Cortex-A9, Cadence GEM with descriptor rings; the full profile"),
    Board("arm-virt", ("qemu-system-arm", "-M", "virt", "-cpu", "cortex-a15", "-m", "128", "-global", "virtio-mmio.force-legacy=false"), device="virtio-net-device",
          about="Cortex-A15, virtio-net over MMIO; the full profile"),
    Board("pc", ("qemu-system-x86_64", "-M", "pc", "-m", "128"), device="virtio-net-pci,disable-legacy=on,romfile=", about="x86 PC in 32 bits, virtio-net over PCI; the full profile"),
    Board("pc-ne2k", ("qemu-system-x86_64", "-M", "pc", "-m", "128"), device="ne2k_pci,romfile=", about="x86 PC in 32 bits, NE2000 on PCI; the full profile"),
    Board("pc-ne2k-isa", ("qemu-system-x86_64", "-M", "pc", "-m", "128"), device="ne2k_isa,iobase=0x300,irq=9", image="pc-ne2k", about="the same with the card on ISA"),
    Board("malta", ("qemu-system-mips", "-M", "malta", "-cpu", "24Kf", "-m", "128"), nic="pcnet", about="MIPS 24Kf, big-endian, PCnet-PCI II; the full profile"),
    Board("malta-el", ("qemu-system-mipsel", "-M", "malta", "-cpu", "24Kf", "-m", "128"), nic="pcnet", about="the same, little-endian"),
    Board("versatilepb", ("qemu-system-arm", "-M", "versatilepb", "-m", "128", "-audiodev", "none,id=none", "-global", "pl041.audiodev=none"), nic="smc91c111", about="ARM926EJ-S, SMC LAN91C111; the full profile"),
    Board("portux920t", model="portux920t.py", program="services", about="ARM920T, AT91RM9200 with its EMAC, in a machine model of our own; the full profile"),
)}


def elf(board, program="echo"):
    path = ROOT / f"build/boards/{BOARDS[board].image or board}/{program}.elf"
    if os.environ.get("WEIR_BUILD_BOARDS"):   # a part of the tests: tests/run.py has not built every program before
        from building import build
        build(str(path.relative_to(ROOT)))
    return path


def command(board, nic, program="echo"):
    """QEMU's words, or a model's. `nic`: what follows -nic, without a model. The machine is ended by `timeout` should nobody else do it."""
    found = BOARDS[board]
    if found.model:
        return ["timeout", "600", str(ROOT / "build/venv/bin/python"), str(ROOT / "tools/machines" / found.model), "--nic", nic, str(elf(board, program))]
    kind, _, rest = nic.partition(",")
    card = ["-netdev", f"{kind},id=net0,{rest}", "-device", f"{found.device},netdev=net0"] if found.device else ["-nic", nic + (f",model={found.nic}" if found.nic else "")]
    return ["timeout", "600", *found.machine, "-nographic", "-monitor", "none", "-serial", "stdio", "-kernel", str(elf(board, program)), *card]


def serial_command(board, path, program):
    """QEMU's words for a board without a network, whose second serial line is the UNIX socket at `path`, where QEMU listens."""
    return ["timeout", "600", *BOARDS[board].machine, "-nographic", "-monitor", "none", "-serial", "stdio", "-serial", f"unix:{path},server=on,wait=off",
            "-kernel", str(elf(board, program)), "-nic", "none"]


def free_ports(count, kind=socket.SOCK_STREAM):
    """So many, no two the same: each is held until all are found."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket(socket.AF_INET, kind)) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


def free_udp_ports(count):
    return free_ports(count, socket.SOCK_DGRAM)


class Machine:
    """A board in QEMU whose TCP ports are reached through QEMU's own user-mode network: no privileges.

        with Machine("lm3s6965evb", ports=[7]) as machine:
            echo = machine.connect(7)
    """

    def __init__(self, board, ports=(7,), program="echo", log=None, extra=(), stdin=subprocess.DEVNULL):
        self.board, self.program, self.extra, self.stdin = board, program, extra, stdin   # extra: more words for QEMU
        self.ports = dict(zip(ports, free_ports(len(ports))))
        self.log = pathlib.Path(log or ROOT / f"build/boards/{board}/{program}.log")

    def words(self):
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{here}-{ADDRESS}:{there}" for there, here in self.ports.items())
        return [*command(self.board, f"user,net=10.0.0.0/24,host={HOST},dhcpstart={ADDRESS}{forwards}", self.program), *self.extra]

    def __enter__(self):
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "wb") as out:
            self.process = subprocess.Popen(self.words(), stdin=self.stdin, stdout=out, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def say(self, text):
        """Types on the console of a machine made with stdin=subprocess.PIPE."""
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def console(self):
        return self.log.read_text(errors="replace")

    def until(self, text, seconds=60):
        """Waits until the console shows the text."""
        deadline = time.monotonic() + seconds
        while text not in self.console():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.board}: no {text!r} on the console, which shows: {self.console()[-400:]!r}")
            time.sleep(0.05)

    def connect(self, port, timeout=60):
        connection = socket.create_connection(("127.0.0.1", self.ports[port]), timeout)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


class SerialMachine(Machine):
    """A board whose second serial line ends in a UNIX socket of QEMU's: no privileges."""

    def __init__(self, board, program):
        super().__init__(board, (), program)
        self.folder = tempfile.TemporaryDirectory()
        self.path = self.folder.name + "/line"

    def words(self):
        return serial_command(self.board, self.path, self.program)

    def __exit__(self, *words):
        super().__exit__(*words)
        self.folder.cleanup()

    def line(self):
        deadline = time.monotonic() + 60
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(self.path)
                return connection
            except OSError:
                connection.close()
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def read(connection, length):
    """So many bytes; fewer at the stream's end. (A socket with a time limit, as Python makes it, does not wait for all by itself.)"""
    got = b""
    while len(got) < length and (some := connection.recv(length - len(got))):
        got += some
    return got


def answered(connect, question=b"?"):
    """Whether who connects is answered. QEMU takes a connection in any case, and ends it when nobody in the guest listens yet."""
    try:
        with connect() as connection:
            connection.sendall(question)
            return bool(connection.recv(100))
    except OSError:
        return False


def exchange(connection, data):
    """Sends and reads at once, so that full queues at both ends cannot block each other; returns what came back."""
    sender = threading.Thread(target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR)))
    sender.start()
    got = b"".join(iter(lambda: connection.recv(65536), b""))
    sender.join()
    return got
