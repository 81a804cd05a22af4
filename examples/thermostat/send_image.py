#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Sends a thermostat new firmware over HTTPS: send_image.py IMAGE (examples/update/image.py makes it). Its records are short, as the device's room for
them is: 4 KB. curl's are 16 KB."""
import argparse
import http.client
import pathlib
import socket
import ssl
import sys

KEYS = pathlib.Path(__file__).resolve().parents[2] / "build/thermostat"
RECORD = 2048


def send(data, name, address, authority, key):
    """(status, text)."""
    context = ssl.create_default_context(cafile=authority)
    connection = http.client.HTTPSConnection(name, context=context, timeout=120)
    connection.sock = context.wrap_socket(socket.create_connection((address or name, 443), timeout=120), server_hostname=name)
    connection.putrequest("PUT", "/firmware")
    connection.putheader("Content-Length", str(len(data)))
    if key:
        connection.putheader("Authorization", f"Bearer {key}")
    connection.endheaders()
    try:
        for at in range(0, len(data), RECORD):
            connection.send(data[at:at + RECORD])   # each is a record of its own
    except (BrokenPipeError, ConnectionResetError, ssl.SSLEOFError):
        pass   # it was refused before all of it was sent, and says why
    answer = connection.getresponse()
    return answer.status, answer.read().decode(errors="replace").strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("image", type=pathlib.Path)
    parser.add_argument("--name", default="thermostat.local")
    parser.add_argument("--address", help="where it is (default: where its name leads)")
    parser.add_argument("--authority", default=KEYS / "ca.pem")
    parser.add_argument("--key", default=KEYS / "password", help="a file (default: %(default)s); none: no key is shown")
    words = parser.parse_args()
    key = "" if str(words.key) == "none" else pathlib.Path(words.key).read_text().strip()
    status, text = send(words.image.read_bytes(), words.name, words.address, words.authority, key)
    print(f"{status} {text}")
    return status != 200


if __name__ == "__main__":
    sys.exit(main())
