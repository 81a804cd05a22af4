# SPDX-License-Identifier: BSD-2-Clause
"""tls13_flood.py ADDRESS NAME AUTHORITIES TYPE PADDING CONTENT: a client of TLS 1.3 that sends the same record (its content in hexadecimal)
over and over, each acknowledged before more are sent, until the server ends the session or a million bytes have gone. Prints
`ended BYTES` or `open BYTES`: so many had been taken. The records are made here, with the keys that Python's ssl writes down."""
import array
import fcntl
import hashlib
import hmac
import pathlib
import socket
import ssl
import struct
import sys
import tempfile
import termios
import time

from cryptography.hazmat.primitives.ciphers import aead

MOST = 1_000_000
BATCH = 4000     # more than two segments, so that no acknowledgement is delayed


def expand(secret, label, length, digest):
    """HKDF-Expand-Label (RFC 8446 section 7.1); a block of the hash is enough."""
    label = b"tls13 " + label
    return hmac.new(secret, struct.pack(">HB", length, len(label)) + label + b"\0\1", digest).digest()[:length]


class Session:
    def __init__(self, address, name, authorities):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "keys"
            context = ssl.create_default_context(cafile=authorities)
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.keylog_filename = str(log)
            self.socket = socket.create_connection((address, 443), 60)
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            tls = context.wrap_bio(incoming, outgoing, server_hostname=name)
            done = False
            while not done:
                try:
                    tls.do_handshake()
                    done = True
                except ssl.SSLWantReadError:
                    self.socket.sendall(outgoing.read())
                    incoming.write(self.socket.recv(65536))
            self.socket.sendall(outgoing.read())
            secret, = [bytes.fromhex(line.split()[2]) for line in log.read_text().splitlines() if line.startswith("CLIENT_TRAFFIC_SECRET_0 ")]
        suite = tls.cipher()[0]
        digest = hashlib.sha384 if "SHA384" in suite else hashlib.sha256
        cipher = aead.ChaCha20Poly1305 if "CHACHA20" in suite else aead.AESGCM
        self.cipher = cipher(expand(secret, b"key", 16 if "AES_128" in suite else 32, digest))
        self.iv, self.number = expand(secret, b"iv", 12, digest), 0

    def record(self, content, kind, padding):
        plain = content + bytes([kind]) + bytes(padding)
        header = struct.pack(">BHH", 23, 0x0303, len(plain) + 16)
        nonce = bytes(a ^ b for a, b in zip(self.iv, struct.pack(">IQ", 0, self.number)))
        self.number += 1
        return header + self.cipher.encrypt(nonce, plain, header)

    def send(self, data):
        """Returns when the server's TCP has acknowledged them. False: it has ended the connection."""
        count = array.array("i", [1])
        try:
            self.socket.sendall(data)
            self.socket.setblocking(False)
            while count[0]:
                fcntl.ioctl(self.socket, termios.TIOCOUTQ, count)
                try:
                    if self.socket.recv(65536) == b"":   # else tickets, or an alert
                        return False
                except BlockingIOError:
                    time.sleep(0.0001)
            self.socket.setblocking(True)
        except (ConnectionResetError, BrokenPipeError):
            return False
        return True


def main():
    address, name, authorities, kind, padding, content = sys.argv[1:]
    session = Session(address, name, authorities)
    taken, open_still = 0, True
    while open_still and taken < MOST:
        batch = b""
        while len(batch) < BATCH:
            batch += session.record(bytes.fromhex(content), int(kind), int(padding))
        open_still = session.send(batch)
        taken += len(batch) if open_still else 0
    print("open" if open_still else "ended", taken)


if __name__ == "__main__":
    main()
