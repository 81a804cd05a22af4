# SPDX-License-Identifier: BSD-2-Clause
"""weir-host and Linux's own programs as its peers: ping, nc, curl, wget, iperf3, dnsmasq, chronyd. One link, one running host, and
a second host for each client command."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import iperf3  # noqa: E402
from netns import Lab, until  # noqa: E402
from patience import measured  # noqa: E402

HOST = os.environ.get("WEIR_HOST", str(ROOT / "build/host/weir-host"))
LINUX, WEIR, CLIENT_LINUX, CLIENT = "10.80.0.1", "10.80.0.2", "10.81.0.1", "10.81.0.2"
NAME, NAMED = "weir.example", "192.0.2.77"
FOLDER = ROOT / "build/labs/apps"


def pattern(first, count):
    whole = bytes(range(251)) * (count // 251 + 2)
    return whole[first % 251:][:count]


class World:
    def __init__(self, lab):
        self.lab = lab
        self.linux = lab.namespace("linux")
        self.where, self.words = lab.link(self.linux, "weir0", LINUX)
        self.client_where, self.client_words = lab.link(self.linux, "weir1", CLIENT_LINUX)
        self.host = self.where.start(HOST, *self.words, "--address", f"{WEIR}/24", "--gateway", LINUX)
        assert until(lambda: "1 received" in self.linux.run("ping", "-c", "1", "-W", "1", WEIR, check=False), 60), self.host.output()
        self.servers()

    def servers(self):
        self.iperf3 = iperf3.Server(self.linux, "-B", CLIENT_LINUX)
        self.leases = FOLDER / "leases"
        self.dnsmasq = self.linux.start(
            shutil.which("dnsmasq", path=os.environ["PATH"] + ":/usr/sbin"), "--keep-in-foreground", "--conf-file=/dev/null", "--user=", "--group=",
            "--interface=weir1", "--bind-interfaces", "--except-interface=lo", "--pid-file=", "--no-resolv", "--no-hosts", f"--dhcp-leasefile={self.leases}",
            "--dhcp-authoritative", "--dhcp-range=10.81.0.50,10.81.0.99,1h", f"--dhcp-option=option:router,{CLIENT_LINUX}", "--domain=lan.example",
            f"--host-record={NAME},{NAMED},600", f"--cname=alias.example,{NAME}", "--local=/example/", "--log-facility=-", "--log-dhcp", "--log-queries",
            *[f"--host-record=many.example,192.0.2.{i}" for i in range(1, 100)])
        conf = FOLDER / "chrony.conf"
        conf.write_text(f"local stratum 8\nallow\nbindaddress {CLIENT_LINUX}\ncmdport 0\npidfile {FOLDER / 'chronyd.pid'}\nbindcmdaddress /\n")
        self.linux.start(shutil.which("chronyd", path=os.environ["PATH"] + ":/usr/sbin"), "-d", "-x", "-u", "root", "-f", conf)
        self.linux.start(sys.executable, "-m", "http.server", "8000", "--bind", CLIENT_LINUX, "--directory", str(ROOT / "include"))
        until(lambda: all(p in (s := self.linux.run("ss", "-Hulnt")) for p in (":53 ", ":123 ", ":67 ", ":8000 ", ":5201 ")) and s, 60)

    def command(self, command, *words, static=True, timeout=60):
        """A second Weir host runs one command; returns (status, stdout, stderr)."""
        address = ["--address", f"{CLIENT}/24", "--gateway", CLIENT_LINUX, "--dns", CLIENT_LINUX] if static else []
        done = subprocess.run(self.client_where.enter() + [HOST, *self.client_words, *address, *words, "--run", command], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=timeout)
        return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        made = World(lab)
        yield made
        assert made.host.poll() is None, "the host died:\n" + made.host.output()
        assert made.host.stop() == 0, made.host.output()


# --- the servers --------------------------------------------------------------------------------------------------------------

def test_ping(world):
    world.linux.ping(WEIR, 10, "-i", "0.02")
    world.linux.ping(WEIR, 3, "-i", "0.02", "-s", "5000")


def test_echo_over_tcp_by_nc(world):
    data = os.urandom(300_000)
    done = subprocess.run(world.linux.enter() + ["nc", "-N", "-w", "60", WEIR, "7"], input=data, capture_output=True, timeout=90)
    assert done.stdout == data


def test_echo_over_udp_by_nc(world):
    words = world.linux.enter() + ["nc", "-u", "-w", "1", WEIR, "7"]
    assert until(lambda: subprocess.run(words, input=b"hello", capture_output=True, timeout=90).stdout == b"hello")


def test_discard_and_chargen(world):
    subprocess.run(world.linux.enter() + ["nc", "-N", "-w", "60", WEIR, "9"], input=os.urandom(100_000), check=True, timeout=90)
    text = world.linux.run("sh", "-c", f"nc -w 60 {WEIR} 19 </dev/null | head -c 740")
    lines = text.splitlines()
    assert lines[0].startswith(" !\"#$") and lines[1].startswith("!\"#$") and len(lines[0]) == 72 and len(lines) == 10


def test_curl_page_and_keep_alive(world):
    text = world.linux.run("curl", "-sv", f"http://{WEIR}/", f"http://{WEIR}/status.json", "-o", "/dev/null", "-o", "/dev/null")
    assert text.count("HTTP/1.1 200 OK") == 2 and "Re-using existing connection" in text


def test_curl_bytes_and_ranges(world):
    out = FOLDER / "bytes"
    world.linux.run("curl", "-sSf", "-o", out, f"http://{WEIR}/bytes/5000000")
    assert out.read_bytes() == pattern(0, 5_000_000)
    world.linux.run("curl", "-sSf", "-r", "1000-500999", "-o", out, f"http://{WEIR}/bytes/5000000")
    assert out.read_bytes() == pattern(1000, 500_000)
    world.linux.run("curl", "-sSf", "-r", "-77", "-o", out, f"http://{WEIR}/bytes/1000")
    assert out.read_bytes() == pattern(923, 77)
    head = world.linux.run("curl", "-sSI", f"http://{WEIR}/bytes/123")
    assert "Content-Length: 123" in head and "Accept-Ranges: bytes" in head


def test_metrics_are_read_by_prometheus(world):
    from prometheus_client import parser
    from prometheus_client.openmetrics import parser as open_parser
    for reader, words in ((parser, []), (open_parser, ["-H", "Accept: application/openmetrics-text; version=1.0.0"])):
        families = {family.name: family for family in reader.text_string_to_metric_families(world.linux.run("curl", "-sS", *words, f"http://{WEIR}/metrics"))}
        received = families["weir_netif_receive_bytes"].samples[0]
        assert received.labels == {"netif": "eth0"} and received.value > 0 and families["weir_sockets"].samples[0].value > 3 and len(families) > 60


def test_wget_continues(world):
    out = FOLDER / "continued"
    out.write_bytes(pattern(0, 100_001))
    world.linux.run("wget", "-q", "-c", "-O", out, f"http://{WEIR}/bytes/300000")
    assert out.read_bytes() == pattern(0, 300_000)


@pytest.mark.parametrize("words,status", [(["/nothing"], 404), (["-X", "DELETE", "/"], 405), (["-d", "x=1", "/"], 405), (["-r", "9-", "/bytes/5"], 416),
                                          (["-H", "X: " + "a" * 5000, "/"], 431), (["-H", "Transfer-Encoding: gzip", "/"], 501),
                                          (["/" + "a" * 5000], 414), (["-0", "/"], 200)])
def test_http_errors_are_clear(world, words, status):
    *options, path = words
    text = world.linux.run("curl", "-sS", "--max-time", "60", "-w", "\n%{http_code}", *options, f"http://{WEIR}{path}")
    assert text.endswith(str(status)), text
    assert status == 200 or text.startswith(str(status)) and len(text.splitlines()) >= 3


def test_pipelining(world):
    request = b"".join(b"GET /bytes/%d HTTP/1.1\r\nHost: w\r\n\r\n" % n for n in range(1, 200)) + b"GET /bytes/0 HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n"
    done = subprocess.run(world.linux.enter() + ["nc", "-w", "60", WEIR, "80"], input=request, capture_output=True, timeout=90)
    assert done.stdout.count(b"HTTP/1.1 200 OK") == 200
    at = 0
    for n in range(1, 200):
        at = done.stdout.index(b"\r\n\r\n", at) + 4
        assert done.stdout[at:at + n] == pattern(0, n)


def test_thousand_requests_at_once(world):
    url = f"http://{WEIR}/bytes/1000?[1-300]"
    text = world.linux.run("curl", "-sS", "--no-progress-meter", "--parallel", "--parallel-max", "60", "-o", "/dev/null", "-w", "%{http_code} ", url, timeout=90)
    assert re.findall(r"\b\d{3}\b", text).count("200") >= 300 and "curl:" not in text, text


@pytest.mark.parametrize("words", [[], ["-R"], ["-P", "4"], ["-R", "-P", "4"], ["-n", "20M"], ["-R", "-n", "20M"], ["-k", "100", "-l", "8K"], ["-b", "50M"],
                                   ["-R", "-b", "50M"], ["-N", "-l", "100"], ["-C", "reno", "-R"], ["-u", "-b", "30M"], ["-u", "-b", "30M", "-R"],
                                   ["-u", "-b", "10M", "-P", "3", "-l", "500"], ["-u", "-b", "10M", "-R", "-P", "2", "--udp-counters-64bit"], ["-O", "1"]],
                         ids=lambda words: " ".join(words) or "plain")
@measured
def test_iperf3_client_of_linux(world, words):
    time_words = [] if "-n" in words or "-k" in words else ["-t", "2" if "-O" in words else "1"]
    report = json.loads(world.linux.run("iperf3", "-c", WEIR, "-J", *time_words, *words, check=False, timeout=60))
    assert "error" not in report, report["error"]
    end = report["end"]
    streams = int(words[words.index("-P") + 1]) if "-P" in words else 1
    assert len(end["streams"]) == streams
    if "-u" in words:
        assert end["sum"]["lost_percent"] < 5 and end["sum"]["packets"] > 100
        assert all(s["udp"]["bytes"] > 0 for s in end["streams"])
    else:
        sent, received = end["sum_sent"]["bytes"], end["sum_received"]["bytes"]
        assert 0 < received <= sent * 1.02 and received > sent * 0.5
    if "-b" in words and "-u" not in words:
        assert 30e6 < end["sum_received"]["bits_per_second"] < 70e6
    if "-R" in words and "-u" not in words:
        assert end["streams"][0]["sender"]["retransmits"] >= 0   # counted by Weir


@pytest.mark.parametrize("words", ["-t 1", "-t 1 -P 3", "-n 20M", "-u -b 20M -t 1"])
@measured
def test_iperf3_both_ways(world, words):
    """--bidir, with Linux's client and with Weir's."""
    def check(report, receiver_counts):
        assert "error" not in report, report["error"]
        end, streams = report["end"], int(words.split("-P ")[1]) if "-P" in words else 1
        assert len(end["streams"]) == 2 * streams
        for name in ("", "_bidir_reverse"):
            if "-u" in words:
                assert end["sum" + name]["packets"] > 100 and end["sum" + name]["lost_percent"] < 5
            else:
                assert end["sum_sent" + name]["bytes"] > 1e6
                # With -n all ends with the direction that comes first to its bytes; of the other's much lies in queues still.
                assert end["sum_received" + name]["bytes"] > (1e6 if "-n" in words else receiver_counts * end["sum_sent" + name]["bytes"])
        if "-n" in words:
            assert max(end["sum_sent"]["bytes"], end["sum_received_bidir_reverse"]["bytes"]) >= 20 << 20
    check(json.loads(world.linux.run("iperf3", "-c", WEIR, "--bidir", "-J", *words.split(), check=False, timeout=60)), 0.5)
    world.iperf3.ready()
    status, out, err = world.command(f"iperf3 -c {CLIENT_LINUX} --bidir {words} -J")
    assert status == 0, err
    check(json.loads(out), 0.3)


def testing(world):
    """Whether a test of iperf3's is under way: the connection that controls it, and one that has brought data.
    One that nobody has accepted yet has no such figures."""
    found = json.loads(world.linux.run("curl", "-s", "--max-time", "60", f"http://{WEIR}/status.json"))["sockets"]
    there = [s for s in found if s["local"].endswith(":5201") and s["state"] == "ESTABLISHED"]
    return len(there) >= 2 and any(s.get("received", 0) > 10_000 for s in there)


def test_iperf3_server_is_busy(world):
    first = world.linux.popen("iperf3", "-c", WEIR, "-t", "600", "-b", "1M", stdout=subprocess.DEVNULL)
    assert until(lambda: testing(world), 60)
    assert "busy" in world.linux.run("iperf3", "-c", WEIR, "-t", "1", check=False)
    first.send_signal(signal.SIGINT)   # it tells the server that it ends
    first.wait(60)
    assert until(lambda: "iperf Done" in world.linux.run("iperf3", "-c", WEIR, "-t", "1", check=False), 60, 0.5)


def test_iperf3_client_that_vanishes(world):
    first = world.linux.popen("iperf3", "-c", WEIR, "-t", "600", "-b", "1M", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert until(lambda: testing(world), 60)
    first.send_signal(signal.SIGKILL)
    assert until(lambda: "iperf Done" in world.linux.run("iperf3", "-c", WEIR, "-t", "1", check=False), 60, 0.5)


def test_noise_on_every_port(world):
    for port in (7, 9, 80, 5201):
        subprocess.run(world.linux.enter() + ["nc", "-N", "-w", "1", WEIR, str(port)], input=os.urandom(5000), capture_output=True, timeout=90)
        subprocess.run(world.linux.enter() + ["nc", "-u", "-w", "1", "-q", "0", WEIR, str(port)], input=os.urandom(1000), capture_output=True, timeout=90)
    assert world.host.poll() is None
    assert "200 OK" in world.linux.run("curl", "-sSi", "--max-time", "60", f"http://{WEIR}/status.json")


# --- the clients --------------------------------------------------------------------------------------------------------------

def test_client_ping(world):
    status, out, _ = world.command(f"ping {CLIENT_LINUX} -c 3 -i 0.1")
    assert status == 0 and out.count("64 bytes from") == 3 and "3 packets transmitted, 3 received, 0% packet loss" in out
    status, out, _ = world.command("ping 10.81.0.222 -c 1")
    assert status == 1 and "0 received" in out


def test_client_resolve(world):
    for name in (NAME, "alias.example", NAME.upper() + "."):
        status, out, err = world.command(f"resolve {name}")
        assert status == 0 and NAMED in out, err
    status, _, err = world.command("resolve nothing.example")
    assert status == 1 and "no such name" in err
    status, _, err = world.command("resolve a..b")
    assert status == 1 and "no name can look like this" in err


def test_client_resolve_over_tcp(world):
    """99 addresses do not fit into a datagram: the answer is truncated, and asked for again over TCP."""
    status, out, err = world.command("resolve many.example")
    assert status == 0 and out.count("192.0.2.") == 8, err


@measured
def test_client_sntp(world):
    status, out, err = world.command(f"sntp {CLIENT_LINUX}")
    assert status == 0, err
    assert abs(float(re.search(r"offset of this machine ([+-][\d.]+) s", out).group(1))) < 0.5 and "stratum 8" in out
    status, _, err = world.command(f"sntp {NAME}", timeout=90)
    assert status == 1


def test_client_dhcp(world):
    status, out, err = world.command("dhcp", "--dhcp", static=False)
    assert status == 0, err
    address = re.search(r"address +(\S+)", out).group(1)
    assert address.startswith("10.81.0.") and CLIENT_LINUX in out and "lan.example" in out
    for word in ("DHCPDISCOVER", "DHCPOFFER", "DHCPREQUEST", "DHCPACK", "DHCPRELEASE"):
        assert until(lambda word=word: word in world.dnsmasq.output(), 60), f"no {word} in dnsmasq's log"


def test_client_dhcp_declines_what_is_taken(world):
    """dnsmasq is told not to ping first, and to offer one address that Linux itself answers ARP for: the client must decline it."""
    inside = world.lab.namespace("taken")
    world.lab.veth(world.linux, "weir2", inside, "eth0")
    world.linux.address("weir2", "10.82.0.1/24", "10.82.0.9/24")
    server = world.linux.start(
        shutil.which("dnsmasq", path=os.environ["PATH"] + ":/usr/sbin"), "--keep-in-foreground", "--conf-file=/dev/null", "--user=", "--group=", "--port=0",
        "--interface=weir2", "--bind-interfaces", "--except-interface=lo", "--pid-file=", f"--dhcp-leasefile={FOLDER / 'leases2'}", "--no-ping",
        "--dhcp-authoritative", "--dhcp-range=10.82.0.9,10.82.0.10,1h", "--dhcp-sequential-ip", "--log-facility=-", "--log-dhcp")
    assert until(lambda: "started" in server.output(), 60), server.output()   # (the other dnsmasq has port 67, too)
    client = inside.start(HOST, "--packet", "eth0", "--dhcp", "--run", "dhcp")
    status = client.wait(60)
    log = server.output()
    server.stop()
    assert status == 0, client.output() + log
    assert "10.82.0.10" in client.output(), client.output() + log
    assert "DHCPDECLINE" in log or "DHCPOFFER(weir2) 10.82.0.9" not in log, log


@pytest.mark.parametrize("words", ["-t 1", "-t 1 -R", "-t 1 -P 3", "-t 1 -R -P 3", "-n 20M", "-n 20M -R", "-u -b 30M -t 1", "-u -b 30M -t 1 -R", "-u -b 10M -P 2 -t 1", "-t 1 -b 50M",
                                   "-k 2000 -l 16K", "-t 2 -O 1"])
@measured
def test_client_iperf3(world, words):
    world.iperf3.ready()
    status, out, err = world.command(f"iperf3 -c {CLIENT_LINUX} {words} -J")
    assert status == 0, err
    report = json.loads(out)
    end = report["end"]
    assert len(end["streams"]) == (int(words.split("-P ")[1][0]) if "-P" in words else 1)
    if "-u" in words:
        assert end["sum"]["packets"] > 100 and end["sum"]["lost_percent"] < 5
    else:
        assert end["sum_received"]["bytes"] > 0.3 * end["sum_sent"]["bytes"] > 0   # iperf3 -s stops reading at the client's word
        assert end["sum_sent"].get("retransmits", 0) >= 0
    assert "-t" not in words or len(report["intervals"]) >= 1


def test_client_iperf3_text(world):
    world.iperf3.ready()
    status, out, _ = world.command(f"iperf3 -c {CLIENT_LINUX} -t 1")
    assert status == 0 and re.search(r"Retr +Cwnd", out) and "sender" in out and "receiver" in out and "iperf Done." in out
    status, _, err = world.command(f"iperf3 -c {CLIENT_LINUX} -p 5999 -t 1")
    assert status == 1 and "refuses" in err


def test_client_get(world):
    out = FOLDER / "addr.h"
    status, _, err = world.command(f"get http://{CLIENT_LINUX}:8000/weir/addr.h -o {out}")
    assert status == 0 and out.read_bytes() == (ROOT / "include/weir/addr.h").read_bytes(), err
    status, _, err = world.command(f"get http://{CLIENT_LINUX}:8000/nothing -o {out}")
    assert status == 1 and "404" in err


@pytest.mark.parametrize("impair", [[], ["--loss", "1", "--delay", "2"], ["--reorder", "5", "--duplicate", "2", "--corrupt", "1"], ["--rate", "50", "--no-offload"]],
                         ids=lambda words: " ".join(words) or "clean")
def test_files_both_ways(world, impair):
    data, there, back = os.urandom(2_000_000), FOLDER / "there", FOLDER / "back"
    there.write_bytes(data)
    sink = world.linux.popen("sh", "-c", f"nc -l -p 4000 > {back}")
    assert until(lambda: ":4000 " in world.linux.run("ss", "-Hlnt"), 60)
    status, _, err = world.command(f"send {there} {CLIENT_LINUX} 4000", *impair, timeout=90)
    assert status == 0, err
    sink.wait(60)
    assert back.read_bytes() == data
    back.unlink()
    source = world.linux.popen("sh", "-c", f"nc -N -l -p 4001 < {there}")
    assert until(lambda: ":4001 " in world.linux.run("ss", "-Hlnt"), 60)
    status, _, err = world.command(f"receive {CLIENT_LINUX} 4001 {back}", *impair, timeout=90)
    assert status == 0 and back.read_bytes() == data, err
    source.wait(60)


def test_files_to_a_listener(world):
    data, there, back = os.urandom(1_000_000), FOLDER / "to", FOLDER / "from"
    there.write_bytes(data)
    listener = world.client_where.start(HOST, *world.client_words, "--address", f"{CLIENT}/24", "--run", f"listen 4002 {back}")
    assert until(lambda: "listening" in listener.output(), 60)
    world.linux.run("sh", "-c", f"nc -N -w 60 {CLIENT} 4002 < {there}")
    assert listener.wait(60) == 0, listener.output()
    assert back.read_bytes() == data


# --- the program --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("words,said", [([], "give a link"), (["--tap", "x", "--tun", "y"], "one link"), (["--tap", "x"], "--address"), (["--tap", "x", "--address", "1.2.3"], "IPv4"),
                                        (["--tap", "x", "--address", "1.2.3.4/33"], "1 to 32"), (["--tap", "x", "--loss", "101"], "percentage"),
                                        (["--tun", "x", "--dhcp"], "Ethernet"), (["--bogus"], "bogus"), (["--tap", "x", "--cc", "bogus"], "not built in"),
                                        (["--mtu", "67"], "68 to 65535"), (["extra"], "not understood")])
def test_wrong_command_lines_are_explained(words, said):
    done = subprocess.run([HOST, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_missing_interface_is_explained():
    done = subprocess.run([HOST, "--packet", "nothere0", "--address", "10.0.0.1/24"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "nothere0" in done.stderr


def test_unknown_command(world):
    status, _, err = world.command("bogus")
    assert status == 2 and "no such command" in err
    status, _, err = world.command("ping")
    assert status == 2 and "usage" in err
    status, _, err = world.command("ping " + "10.0.0.1 " * 31)
    assert status == 2 and "too many words" in err
    status, _, err = world.command("resolve 'a name")
    assert status == 2 and "never closed" in err


def test_sigterm_and_capture(world):
    capture = FOLDER / "capture.pcapng"
    host = world.client_where.start(HOST, *world.client_words, "--address", f"{CLIENT}/24", "--pcap", capture)
    assert until(lambda: "1 received" in world.linux.run("ping", "-c", "1", "-W", "1", CLIENT, check=False), 60)
    host.terminate()
    assert host.wait(60) == 0
    assert "ICMP echo request" in world.linux.run("tcpdump", "-nr", capture)
