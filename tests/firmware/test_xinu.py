# SPDX-License-Identifier: BSD-2-Clause
"""Embedded Xinu's devices on malta, in both byte orders, with two PCnet cards, whose addresses come by DHCP: from QEMU's user-mode networks, without privileges, and
from dnsmasq on two TAPs."""
import contextlib
import pathlib
import random
import re
import socket
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
from boards import BOARDS, Machine, elf, exchange, free_ports, free_udp_ports, read  # noqa: E402
from netns import Lab, until  # noqa: E402

PROGRAM = "xinu_router"


PLACES = ("malta", "malta-el")


def command(board, *nics):
    words = ["timeout", "600", *BOARDS[board].machine, "-nographic", "-monitor", "none", "-serial", "stdio", "-kernel", str(elf(board, PROGRAM))]
    for nic in nics:
        words += ["-nic", f"{nic},model=pcnet"]
    return words


class Router(Machine):
    """Port 7 by either interface, 7 in UDP and 8 in TCP by the first."""

    def __init__(self, board):
        super().__init__(board, (), PROGRAM)
        *self.tcp, self.relay = free_ports(3)
        self.udp, = free_udp_ports(1)

    def words(self):
        return command(self.board, f"user,net=10.0.2.0/24,dhcpstart=10.0.2.40,hostfwd=tcp:127.0.0.1:{self.tcp[0]}-10.0.2.40:7,hostfwd=udp:127.0.0.1:{self.udp}-10.0.2.40:7,"
                       f"hostfwd=tcp:127.0.0.1:{self.relay}-10.0.2.40:8",
                       f"user,net=10.0.3.0/24,dhcpstart=10.0.3.50,hostfwd=tcp:127.0.0.1:{self.tcp[1]}-10.0.3.50:7")


@pytest.fixture(scope="module", params=PLACES)
def router(request):
    with Router(request.param) as router:
        router.until("services are running", 120)
        for port in router.tcp:   # their threads have begun: whether they listen already only they know
            assert until(lambda: echoes(port), 60), router.console()
        yield router


def connect(port):
    return socket.create_connection(("127.0.0.1", port), 60)


def echoes(port):
    """Whether who connects gets back what it sends. QEMU takes the connection in any case, and ends it when the guest refuses."""
    try:
        with connect(port) as connection:
            return exchange(connection, b"?") == b"?"
    except OSError:
        return False


def test_both_interfaces_have_their_addresses(router):
    assert "ETH0 has 10.0.2.40" in router.console() and "ETH1 has 10.0.3.50" in router.console()


def test_echo_by_either_interface(router):
    for number in range(10):
        data = random.Random(number).randbytes(30_000)
        with connect(router.tcp[number % 2]) as connection:
            assert exchange(connection, data) == data


def test_two_devices_listen_at_one_port(router):
    with connect(router.tcp[0]) as first, connect(router.tcp[1]) as second:
        for connection in (second, first):
            connection.sendall(b"both")
        for connection in (first, second):
            assert read(connection, 4) == b"both"


def test_a_passive_udp_device_answers(router):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        datagrams.settimeout(1)
        datagrams.connect(("127.0.0.1", router.udp))

        def answered(data):
            """UDP may lose what comes before the thread listens; an answer to what was asked before may come late."""
            datagrams.send(data)
            with contextlib.suppress(OSError):
                return datagrams.recv(2000) == data
        for length in (0, 1, 500, 1024):
            assert until(lambda: answered(random.Random(length).randbytes(length)), 60)


def test_in_by_one_interface_and_out_by_the_other(router):
    """The program opens a connection to a server here, which is QEMU's gateway on the second network."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        heard = []

        def serve():
            connection, _ = server.accept()
            with connection:
                while data := connection.recv(4096):
                    heard.append(data)
                    connection.sendall(data)
        thread = threading.Thread(target=serve)
        thread.start()
        with connect(router.relay) as connection:
            connection.sendall(server.getsockname()[1].to_bytes(2, "big"))
            for text in (b"one", b"two" * 50, b"three" * 300):
                connection.sendall(text)
                assert connection.makefile("rb").read(len(text)) == text
        thread.join(60)
        assert b"".join(heard) == b"one" + b"two" * 50 + b"three" * 300


# --- dnsmasq -----------------------------------------------------------------------------------------------------------------------------

def leased(machine, name):
    found = re.search(f"{name} has ([0-9.]+)", machine.output())
    return found and found.group(1)


@pytest.fixture
def lab():
    with Lab() as lab:
        net = lab.namespace("net")
        try:
            for number in range(2):
                lab.tap(net, f"lan{number}")
                net.address(f"lan{number}", f"10.7.{number}.1/24")
        except RuntimeError as error:
            pytest.skip(f"no TAP here: {error}")
        net.start("dnsmasq", "--keep-in-foreground", "--user=root", "--pid-file=", "--conf-file=/dev/null", "--port=0", "--log-dhcp", "--dhcp-authoritative",
                  f"--dhcp-leasefile={lab.folder}/leases", "--dhcp-range=10.7.0.100,10.7.0.110,255.255.255.0,1h", "--dhcp-range=10.7.1.100,10.7.1.110,255.255.255.0,1h")
        yield lab, net


@pytest.mark.parametrize("board", PLACES)
def test_leases_of_dnsmasq(lab, tmp_path, board):
    folder, net = lab
    machine = net.start(*command(board, *(f"tap,ifname=lan{number},script=no,downscript=no" for number in range(2))))
    assert until(lambda: "services are running" in machine.output(), 120), machine.output()
    leases = (pathlib.Path(folder.folder) / "leases").read_text()
    for number in range(2):
        address = leased(machine, f"ETH{number}")
        assert re.search(f"02:57:65:69:72:0{6 + number} {re.escape(address)} ", leases)
        net.ping(address, 5, "-i", "0.05")
        assert until(lambda: net.run("sh", "-c", f"printf x | nc -N -w 10 {address} 7", check=False) == "x", 60)   # a thread listens
        (tmp_path / "there").write_bytes(random.Random(number).randbytes(50_000))
        net.run("sh", "-c", f"nc -N {address} 7 <{tmp_path}/there >{tmp_path}/back", timeout=60)
        assert (tmp_path / "back").read_bytes() == (tmp_path / "there").read_bytes()
    assert machine.poll() is None
