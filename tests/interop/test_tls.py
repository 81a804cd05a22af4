# SPDX-License-Identifier: BSD-2-Clause
"""HTTPS by weir-host-tls, with curl and openssl s_client as its clients; and its own client against openssl s_server and nginx. Authorities
and certificates are made here, with openssl."""
import importlib.util
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
from building import build  # noqa: E402
from netns import Lab, until  # noqa: E402
from patience import Slowdown, measured  # noqa: E402

HOST = os.environ.get("WEIR_HOST_TLS", str(ROOT / "build/host/weir-host-tls"))
LINUX, WEIR, CLIENT_LINUX, CLIENT = "10.84.0.1", "10.84.0.2", "10.85.0.1", "10.85.0.2"
MUTUAL_LINUX, MUTUAL = "10.86.0.1", "10.86.0.2"
NAME = "weir.example"
FOLDER = ROOT / "build/labs/tls"


def pattern(first, count):
    return (bytes(range(251)) * (count // 251 + 2))[first % 251:][:count]


def openssl(*words, **more):
    return subprocess.run(["openssl", *map(str, words)], cwd=FOLDER, check=True, capture_output=True, **more)


def certificates():
    """ca.pem; server.pem and .key for NAME and the addresses; rsa.pem; client.pem; a stranger's ca and certificate; one that has expired."""
    names = f"subjectAltName=DNS:{NAME},IP:{WEIR},IP:{CLIENT_LINUX},IP:{MUTUAL}"
    for ca in ("ca", "strange-ca"):
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30", "-subj", f"/CN={ca}", "-keyout", f"{ca}.key", "-out", f"{ca}.pem")
    for name, ca, extension, key, days in (("server", "ca", names, "ec", "20"), ("client", "ca", "extendedKeyUsage=clientAuth", "ec", "20"),
                                           ("stranger", "strange-ca", names, "ec", "20"), ("rsa", "ca", names, "rsa:2048", "20"),
                                           ("expired", "ca", names, "ec", "-1"), ("else", "ca", "subjectAltName=DNS:else.example", "ec", "20")):
        curve = ["-pkeyopt", "ec_paramgen_curve:P-256"] if key == "ec" else []
        openssl("req", "-new", "-newkey", key, *curve, "-nodes", "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (FOLDER / f"{name}.ext").write_text(extension + "\n")
        if days == "-1":
            (FOLDER / "ca.txt").write_text("")
            (FOLDER / "ca.cnf").write_text("[ca]\ndefault_ca=d\n[d]\ndatabase=ca.txt\nnew_certs_dir=.\nserial=ca.serial\ndefault_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
            openssl("ca", "-batch", "-config", "ca.cnf", "-rand_serial", "-cert", "ca.pem", "-keyfile", "ca.key", "-in", f"{name}.csr", "-out", f"{name}.pem", "-notext",
                    "-extfile", f"{name}.ext", "-startdate", "20250101000000Z", "-enddate", "20250201000000Z")
        else:
            openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{ca}.pem", "-CAkey", f"{ca}.key", "-CAcreateserial", "-days", days, "-extfile", f"{name}.ext", "-out", f"{name}.pem")


class World:
    def __init__(self, lab):
        self.lab = lab
        self.linux = lab.namespace("linux")
        certificates()
        self.host = self.serve("weir0", LINUX, WEIR, "--tls", f"{FOLDER}/server.pem,{FOLDER}/server.key")
        self.mutual = self.serve("weir2", MUTUAL_LINUX, MUTUAL, "--tls", f"{FOLDER}/rsa.pem,{FOLDER}/rsa.key", "--tls-trust", FOLDER / "ca.pem")
        self.client_where, self.client_words = self.lab.link(self.linux, "weir1", CLIENT_LINUX)
        self.servers = []
        for port, name in enumerate(("server", "expired", "stranger", "else"), 8440):
            self.servers.append(self.linux.start("openssl", "s_server", "-accept", port, "-cert", FOLDER / f"{name}.pem", "-key", FOLDER / f"{name}.key", "-WWW", "-quiet",
                                                 cwd=FOLDER, log=FOLDER / f"s_server-{name}.log"))
        self.servers.append(self.linux.start("openssl", "s_server", "-accept", 8450, "-cert", FOLDER / "rsa.pem", "-key", FOLDER / "rsa.key", "-WWW", "-quiet", "-tls1_2",
                                             cwd=FOLDER, log=FOLDER / "s_server-rsa.log"))
        (FOLDER / "file").write_bytes(pattern(0, 300_000))
        assert until(lambda: all(f":{port} " in (s := self.linux.run("ss", "-Hlnt")) for port in (8440, 8441, 8442, 8443, 8450)) and s, 60)

    def serve(self, interface, linux, weir, *words):
        where, link = self.lab.link(self.linux, interface, linux)
        host = where.start(HOST, *link, "--address", f"{weir}/24", "--gateway", linux, *words)
        assert until(lambda: "1 received" in self.linux.run("ping", "-c", "1", "-W", "1", weir, check=False), 60), host.output()
        return host

    def curl(self, *words, address=WEIR, check=True):
        return self.linux.run("curl", "-sS", "--max-time", "60", "--cacert", FOLDER / "ca.pem", "--resolve", f"{NAME}:443:{address}", *words, check=check)

    def client(self, *words, text="", address=WEIR, seconds=60):
        """openssl s_client with a text at its input, which stays open until the server closes; its output."""
        command = self.linux.enter() + ["openssl", "s_client", "-connect", f"{address}:443", "-CAfile", str(FOLDER / "ca.pem"), "-servername", NAME, *map(str, words)]
        done = subprocess.run(command, input=text.encode(), capture_output=True, timeout=seconds)
        return (done.stdout + done.stderr).decode(errors="replace")

    def get(self, url, *words, options=("--tls-trust", FOLDER / "ca.pem")):
        done = subprocess.run(self.client_where.enter() + [HOST, *self.client_words, "--address", f"{CLIENT}/24", "--gateway", CLIENT_LINUX, *map(str, options),
                                                           "--run", f"get {url} {' '.join(words)}"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr


@pytest.fixture(scope="module")
def world():
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with Lab(FOLDER) as lab:
        made = World(lab)
        yield made
        for host in (made.host, made.mutual):
            assert host.poll() is None, "the host died:\n" + host.output()
            assert host.stop() == 0, host.output()


REQUEST = f"GET /bytes/20 HTTP/1.1\r\nHost: {NAME}\r\nConnection: close\r\n\r\n"


# --- curl -----------------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_curl_gets_the_page_and_keeps_the_connection(world, version):
    text = world.curl("-v", f"--tlsv{version}", "--tls-max", version, f"https://{NAME}/", f"https://{NAME}/status.json", "-o", "/dev/null", "-o", "/dev/null")
    assert text.count("HTTP/1.1 200 OK") == 2 and "Re-using existing connection" in text
    assert f"SSL connection using TLSv{version}" in text and "http/1.1" in text.split("ALPN: server accepted")[1][:20]


@pytest.mark.parametrize("version", ["1.2", "1.3"])
def test_curl_gets_many_bytes(world, version):
    out = FOLDER / "bytes"
    world.curl(f"--tlsv{version}", "--tls-max", version, "-f", "-o", out, f"https://{NAME}/bytes/5000000")
    assert out.read_bytes() == pattern(0, 5_000_000)
    world.curl("-f", "-r", "1000-500999", "-o", out, f"https://{NAME}/bytes/5000000")
    assert out.read_bytes() == pattern(1000, 500_000)


def test_curl_by_address_and_many_at_once(world):
    world.linux.run("curl", "-sSf", "--cacert", FOLDER / "ca.pem", "-o", "/dev/null", f"https://{WEIR}/")
    urls = [word for _ in range(60) for word in ("-o", "/dev/null", f"https://{NAME}/bytes/3000")]
    text = world.curl("-Z", "--parallel-max", "50", "-w", "%{http_code}\n", *urls)
    assert text.count("200") == 60, text


def test_curl_refuses_who_is_not_trusted(world):
    text = world.linux.run("curl", "-sS", "--cacert", FOLDER / "strange-ca.pem", f"https://{WEIR}/", check=False)
    assert "certificate" in text
    assert "200" in world.linux.run("curl", "-sS", "--cacert", FOLDER / "ca.pem", "-o", "/dev/null", "-w", "%{http_code}", f"https://{WEIR}/")


# --- openssl s_client -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("version,suite", [("-tls1_2", "ECDHE-ECDSA-AES128-GCM-SHA256"), ("-tls1_2", "ECDHE-ECDSA-CHACHA20-POLY1305"), ("-tls1_3", "TLS_AES_128_GCM_SHA256"),
                                           ("-tls1_3", "TLS_AES_256_GCM_SHA384"), ("-tls1_3", "TLS_CHACHA20_POLY1305_SHA256")])
def test_versions_and_suites(world, version, suite):
    choice = ["-cipher", suite] if version == "-tls1_2" else ["-ciphersuites", suite]
    text = world.client(version, *choice, "-alpn", "h2,http/1.1", "-ign_eof", text=REQUEST)
    assert "Verify return code: 0 (ok)" in text and suite in text and "ALPN protocol: http/1.1" in text and "200 OK" in text


@pytest.mark.parametrize("words", [["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES128-SHA"], ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA"],
                                   ["-alpn", "smtp"]])
def test_the_old_and_the_strange_are_refused(world, words):
    text = world.client(*words)
    assert "alert" in text or "no protocols available" in text
    assert "Verify return code: 0" not in text or "Cipher is (NONE)" in text


@pytest.mark.parametrize("group", ["P-256", "X25519", "P-384"])
def test_groups_and_a_second_hello(world, group):
    """The client's first share may be of a group that the server does not have: it asks for another (HelloRetryRequest)."""
    assert "200 OK" in world.client("-groups", f"X448:{group}", "-ign_eof", text=REQUEST)


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_resumption(world, version):
    saved = FOLDER / f"session{version}"
    first = world.client(version, "-sess_out", saved, "-ign_eof", text=REQUEST)
    assert "New, TLS" in first and saved.exists()
    again = world.client(version, "-sess_in", saved, "-ign_eof", text=REQUEST)
    assert "Reused, TLS" in again and "200 OK" in again
    assert "New, TLS" in world.client(version, "-sess_in", saved, address=MUTUAL, *["-cert", FOLDER / "client.pem", "-key", FOLDER / "client.key"])


def test_renegotiation_is_refused(world):
    text = world.client("-tls1_2", "-ign_eof", text="R\n")   # with -ign_eof a line R is no command: so once more without
    process = world.linux.popen("openssl", "s_client", "-connect", f"{WEIR}:443", "-tls1_2", "-CAfile", str(FOLDER / "ca.pem"), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT)
    process.stdin.write(b"R\n")
    process.stdin.flush()
    process.wait(timeout=60)    # its input stays open: the end of it would end openssl before the answer comes
    text = process.stdout.read().decode(errors="replace")
    process.stdin.close()
    assert "RENEGOTIATING" in text and "no renegotiation" in text
    assert "200 OK" in world.client("-ign_eof", text=REQUEST)


def test_a_key_update_harms_its_own_session_alone(world):
    """Mbed TLS 3.6 changes no keys within a session (RFC 8446 §4.6.3): who asks for that loses the connection, at once."""
    process = world.linux.popen("openssl", "s_client", "-connect", f"{WEIR}:443", "-tls1_3", "-CAfile", str(FOLDER / "ca.pem"),
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = b""
    while b"Verify return code: 0 (ok)" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    process.stdin.write(b"K\n")
    process.stdin.flush()
    process.wait(timeout=60)    # its input stays open: it is the server that ends
    said = process.stdout.read()
    assert b"KEYUPDATE" in said and b"unexpected message" in said and b"200 OK" not in said, said
    process.stdin.close()
    assert "200 OK" in world.client("-ign_eof", text=REQUEST)


@pytest.mark.parametrize("command", ["k", "K"])   # with and without the wish that the other side changes its keys, too
def test_a_key_update_is_told_as_what_it_is(world, command):
    server = world.linux.start("openssl", "s_server", "-accept", "8451", "-cert", FOLDER / "server.pem", "-key", FOLDER / "server.key", "-tls1_3", stdin=subprocess.PIPE)
    assert until(lambda: ":8451 " in world.linux.run("ss", "-Hlnt")), server.output()
    client = world.client_where.start(HOST, *world.client_words, "--address", f"{CLIENT}/24", "--tls-trust", FOLDER / "ca.pem",
                                      "--run", f"get https://{CLIENT_LINUX}:8451/ -o {FOLDER}/never")
    assert until(lambda: "GET / HTTP/1.1" in server.output()), server.output() + client.output()
    server.stdin.write(f"{command}\n".encode())
    server.stdin.flush()
    assert until(lambda: client.poll() is not None), client.output()
    assert client.poll() != 0 and "WEIR_TLS_KEY_UPDATE" in client.output(), client.output()
    server.stop()


def hello_in_pieces(world, bytes_each, version, told):
    """A handshake whose ClientHello comes in records of so many bytes; `told` gets the version agreed, or the alert."""
    world.linux.join()
    context = ssl.create_default_context(cafile=str(FOLDER / "ca.pem"))
    context.minimum_version = context.maximum_version = version
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=NAME)
    with pytest.raises(ssl.SSLWantReadError):
        tls.do_handshake()
    with socket.create_connection((WEIR, 443), 60) as peer:
        record = outgoing.read()
        head, hello = record[:3], record[5:]
        assert len(hello) == int.from_bytes(record[3:5], "big")
        peer.sendall(b"".join(head + len(piece).to_bytes(2, "big") + piece for piece in (hello[at:at + bytes_each] for at in range(0, len(hello), bytes_each))))
        while tls.version() is None or not told:
            data = peer.recv(65536)
            assert data, "it ended without a word"
            incoming.write(data)
            try:
                tls.do_handshake()
                told.append(tls.version())
            except ssl.SSLWantReadError:
                peer.sendall(outgoing.read())
            except ssl.SSLError as error:
                told.append(error.reason)
                return


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("bytes_each", [1, 3, 4, 5, 100])
def test_a_hello_in_many_records(world, version, bytes_each):
    """Mbed TLS 3.6 puts a message together, but wants the four bytes of its header in the first of its records (docs/tls.md)."""
    told = []
    thread = threading.Thread(target=hello_in_pieces, args=(world, bytes_each, version, told))
    thread.start()
    thread.join(90)
    assert told == (["TLSV1_ALERT_DECODE_ERROR"] if bytes_each < 4 else [version.name.replace("_", ".")])
    assert "200 OK" in world.client("-ign_eof", text=REQUEST)


FLOODS = {   # of TLS 1.3, once the handshake is done: what is in a record, its type, and how much padding comes with it
    "empty": (b"", 23, 0), "padding": (b"", 23, 1000), "KeyUpdate": (b"\x18\0\0\1\0", 22, 0),
    "KeyUpdate with answer": (b"\x18\0\0\1\1", 22, 0), "warning": (b"\1\x5a", 21, 0), "empty handshake": (b"", 22, 0),
    "ticket": (b"\4\0\0\x10" + b"a" * 16, 22, 0), "ChangeCipherSpec": (b"\1", 20, 0), "no type": (b"", 0, 0)}
SILENT_BYTES = 70_000   # after so many without application data a session ends (QUIET_MAX of api/tls), and what lies in its queue


def flood(world, content, kind, padding):
    command = world.linux.enter() + [sys.executable, str(ROOT / "tests/interop/tls13_flood.py"), WEIR, NAME, str(FOLDER / "ca.pem"), str(kind), str(padding), content.hex()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    word, taken = done.stdout.split()
    return word, int(taken)


@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_of_nothing_ends(world, name):
    """Records that are sound and carry nothing are work without end, unless somebody counts."""
    if importlib.util.find_spec("cryptography") is None:
        pytest.skip("pip has no cryptography for this machine")
    word, taken = flood(world, *FLOODS[name])
    assert word == "ended" and taken < SILENT_BYTES
    assert flood(world, b"HEAD / HTTP/1.1\r\nHost: w\r\n\r\n", 23, 0)[0] == "open"   # who asks for something may go on
    assert "200 OK" in world.client("-ign_eof", text=REQUEST)


@pytest.mark.parametrize("length", [512, 2048])
def test_short_fragments(world, length):
    text = world.client("-tls1_2", "-maxfraglen", length, "-ign_eof", text=REQUEST.replace("/bytes/20", "/bytes/9000"))
    assert "200 OK" in text


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_the_end_is_said(world, version):
    """close_notify comes before FIN: openssl tells an end that was cut off."""
    text = world.client(version, "-ign_eof", text=REQUEST)
    assert "unexpected eof" not in text and "200 OK" in text and "\nclosed\n" in text.replace("\x13closed", "\nclosed")


@pytest.mark.parametrize("version", ["-tls1_2", "-tls1_3"])
def test_clients_show_certificates(world, version):
    own = ["-cert", FOLDER / "client.pem", "-key", FOLDER / "client.key"]
    assert "200 OK" in world.client(version, *own, "-ign_eof", text=REQUEST, address=MUTUAL)
    strange = ["-cert", FOLDER / "stranger.pem", "-key", FOLDER / "stranger.key"]
    for words in ([], strange):
        assert "200 OK" not in world.client(version, *words, "-ign_eof", text=REQUEST, address=MUTUAL)
    assert "200 OK" in world.client(version, *own, "-ign_eof", text=REQUEST, address=MUTUAL)


# --- a scanner --------------------------------------------------------------------------------------------------------------------

VERSIONS = {"ssl_2_0": "--sslv2", "ssl_3_0": "--sslv3", "tls_1_0": "--tlsv1", "tls_1_1": "--tlsv1_1",
            "tls_1_2": "--tlsv1_2", "tls_1_3": "--tlsv1_3"}
SCANS = {**{f"{version}_cipher_suites": option for version, option in VERSIONS.items()},
         "tls_compression": "--compression", "tls_1_3_early_data": "--early_data", "openssl_ccs_injection": "--openssl_ccs",
         "tls_fallback_scsv": "--fallback", "heartbleed": "--heartbleed", "robot": "--robot",
         "session_renegotiation": "--reneg", "session_resumption": "--resum", "elliptic_curves": "--elliptic_curves",
         "tls_extended_master_secret": "--ems"}
SEALED = ("AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305_SHA256")


def scan(world, address, *words):
    """What sslyze finds out about the server at an address: each of its scans by name."""
    out = FOLDER / f"scan-{address}.json"
    world.linux.run(sys.executable, "-m", "sslyze", "--quiet", "--slow_connection", "--mozilla_config", "disable",
                    *SCANS.values(), *words, "--json_out", out, f"{address}:443", timeout=200)
    server, = json.loads(out.read_text())["server_scan_results"]
    found = {name: server["scan_result"][name] for name in SCANS}
    for name, scanned in found.items():
        assert scanned["status"] == "COMPLETED", f"{name}: {scanned['error_trace']}"
    return {name: scanned["result"] for name, scanned in found.items()}


@pytest.mark.parametrize("address,key", [(WEIR, "ECDSA"), (MUTUAL, "RSA")])
def test_sslyze_finds_nothing_old_and_nothing_weak(world, address, key):
    if importlib.util.find_spec("sslyze") is None:
        pytest.skip("pip has no sslyze for this machine")
    own = ("--cert", FOLDER / "client.pem", "--key", FOLDER / "client.key") if address == MUTUAL else ()
    found = scan(world, address, *own)
    for version in VERSIONS:
        suites = found[f"{version}_cipher_suites"]["accepted_cipher_suites"]
        head = {"tls_1_2": f"TLS_ECDHE_{key}_WITH_", "tls_1_3": "TLS_"}.get(version)
        assert {suite["cipher_suite"]["name"] for suite in suites} == {head + cipher for cipher in SEALED if head}, version
    curves = {curve["name"] for curve in found["elliptic_curves"]["supported_curves"]}
    assert curves == {"X25519", "secp256r1", "secp384r1"}
    assert found["tls_compression"] == {"supports_compression": False}
    assert found["tls_1_3_early_data"] == {"supports_early_data": False}
    assert found["openssl_ccs_injection"] == {"is_vulnerable_to_ccs_injection": False}
    assert found["heartbleed"] == {"is_vulnerable_to_heartbleed": False}
    assert found["robot"] == {"robot_result": "NOT_VULNERABLE_RSA_NOT_SUPPORTED"}
    assert found["tls_fallback_scsv"] == {"supports_fallback_scsv": True}
    assert found["tls_extended_master_secret"] == {"supports_ems_extension": True}
    assert found["session_renegotiation"]["supports_secure_renegotiation"]
    assert found["session_renegotiation"]["client_renegotiations_success_count"] == 0
    assert found["session_resumption"]["tls_ticket_resumption_result"] == "FULLY_SUPPORTED"


# --- trouble ------------------------------------------------------------------------------------------------------------------------

def raw(world, count):
    """So many TCP connections to port 443, by a Python in the namespace that holds them until its input ends."""
    code = (f"import socket,sys\nheld=[socket.create_connection(('{WEIR}',443),60) for _ in range({count})]\n"
            "[s.send(b'\\x16\\x03\\x01') for s in held]\nprint('held',flush=True)\nsys.stdin.read()")
    process = world.linux.popen(sys.executable, "-c", code, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"held\n"
    return process


def test_half_a_hello_keeps_nobody_out(world):
    """Sixteen handshakes at most are under way; who says nothing gives way to who waits."""
    crowd = raw(world, 60)
    assert "200" in world.curl("-o", "/dev/null", "-w", "%{http_code}", f"https://{NAME}/")
    crowd.stdin.close()
    crowd.wait()


@measured
def test_ping_is_quick_while_hands_are_shaken(world):
    with Slowdown(world.host) as host:
        loader = world.linux.popen("sh", "-c", f"for i in $(seq 12); do curl -sS --cacert {FOLDER}/ca.pem -o /dev/null https://{WEIR}/ & done; wait",
                                   stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
        text = world.linux.ping(WEIR, 50, "-i", "0.01")
        loader.wait(timeout=60)
    assert float(re.search(r"= [\d.]+/([\d.]+)/", text).group(1)) < 20 * host.factor, (host.factor, text)


# --- Weir as a client -----------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("port", [8440, 8450])
def test_get_over_tls(world, port):
    out = FOLDER / "got"
    status, text = world.get(f"https://{CLIENT_LINUX}:{port}/file", "-o", str(out))
    assert status == 0, text
    assert out.read_bytes() == pattern(0, 300_000)


@pytest.mark.parametrize("port,words", [(8441, "has expired"), (8442, "no authority"), (8443, "somebody else")])
def test_get_refuses_each_for_its_reason(world, port, words):
    status, text = world.get(f"https://{CLIENT_LINUX}:{port}/file", "-o", str(FOLDER / "never"))
    assert status == 1 and words in text, text


def test_get_tells_an_alert_by_its_name(world):
    server = world.linux.start("openssl", "s_server", "-accept", "8452", "-cert", FOLDER / "server.pem", "-key", FOLDER / "server.key", "-tls1_1", "-WWW", "-quiet",
                               cwd=FOLDER)
    assert until(lambda: ":8452 " in world.linux.run("ss", "-Hlnt") or server.poll() is not None, 60), server.output()
    if server.poll() is not None:
        pytest.skip("this openssl has no TLS 1.1")
    status, text = world.get(f"https://{CLIENT_LINUX}:8452/file")
    server.stop()
    assert status == 1 and "alert 70 (protocol_version)" in text, text


def test_get_tells_a_server_without_tls(world):
    server = world.linux.start("python3", "-m", "http.server", "8453", "--bind", CLIENT_LINUX, "--directory", FOLDER)
    assert until(lambda: ":8453 " in world.linux.run("ss", "-Hlnt"), 60), server.output()
    status, text = world.get(f"https://{CLIENT_LINUX}:8453/file")
    server.stop()
    assert status == 1 and "what the server says is no TLS" in text, text


def test_what_is_no_certificate_is_told(world):
    status, text = world.get(f"https://{CLIENT_LINUX}:8440/file", options=("--tls-trust", ROOT / "README.md"))
    assert status == 1 and "no certificate or key that can be read" in text, text


def test_get_wants_authorities(world):
    status, text = world.get(f"https://{CLIENT_LINUX}:8440/file", options=())
    assert status == 1 and "--tls-trust" in text


def test_get_from_nginx(world):
    conf = FOLDER / "nginx.conf"
    conf.write_text(f"daemon off; error_log stderr; pid {FOLDER}/nginx.pid; events {{}} http {{ access_log off; client_body_temp_path {FOLDER}/a; proxy_temp_path {FOLDER}/b;"
                    f" fastcgi_temp_path {FOLDER}/c; uwsgi_temp_path {FOLDER}/d; scgi_temp_path {FOLDER}/e; server {{ listen {CLIENT_LINUX}:8460 ssl; root {FOLDER};"
                    f" ssl_certificate {FOLDER}/server.pem; ssl_certificate_key {FOLDER}/server.key; }} }}\n")
    server = world.linux.start(shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"), "-c", conf, "-e", "stderr")
    assert until(lambda: ":8460 " in world.linux.run("ss", "-Hlnt"), 60), server.output()
    out = FOLDER / "from-nginx"
    status, text = world.get(f"https://{CLIENT_LINUX}:8460/file", "-o", str(out))
    server.stop()
    assert status == 0, text
    assert out.read_bytes() == pattern(0, 300_000)


# --- another library ----------------------------------------------------------------------------------------------------------------

def test_a_second_back_end_keeps_the_contract():
    build("build/host/tls-bearssl")
    done = subprocess.run([ROOT / "build/host/tls-bearssl"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


# --- the example --------------------------------------------------------------------------------------------------------------------

def test_the_example_echoes(world):
    build("examples-tls")
    linux = world.lab.namespace("example")
    if not world.lab.tap(linux, "try0"):
        pytest.skip("this machine permits no TAP here")
    linux.run("ip", "link", "del", "try0")
    server = linux.start(ROOT / "build/host/examples/tls/secure_echo", "tap0", f"{WEIR}/24", FOLDER / "server.pem", FOLDER / "server.key")
    assert until(lambda: "tap0" in linux.run("ip", "-o", "link"), 60), server.output()
    linux.address("tap0", f"{LINUX}/24")
    code = (f"import socket, ssl\ncontext = ssl.create_default_context(cafile='{FOLDER}/ca.pem')\n"
            "for _ in range(2):   # one client after the other\n"
            f"    with context.wrap_socket(socket.create_connection(('{WEIR}', 4433), 60), server_hostname='{NAME}') as session:\n"
            "        session.sendall(b'hello')\n        print(session.recv(5), session.version())\n        session.unwrap()\n")
    assert linux.run(sys.executable, "-c", code).splitlines() == ["b'hello' TLSv1.3"] * 2
    assert server.poll() is None, server.output()
