#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Packets of a Weir host in Wireshark, by its shell's `tcpdump -w -`: an extcap (https://www.wireshark.org/docs/wsdg_html_chunked/ChCaptureExtcap.html).
    ln -s /usr/local/bin/weir-extcap ~/.local/lib/wireshark/extcap/   and Wireshark lists it among the interfaces
    weir-extcap --capture --fifo - --host 10.0.0.2 | wireshark -k -i -
Docs: docs/shell.md, "Packets"."""
import argparse
import pathlib
import socket
import sys

INTERFACE = "weir"
PROMPT, MAGIC = b"weir> ", b"\x0a\x0d\x0d\x0a"
ARGUMENTS = [  # (option, what Wireshark's dialog says, type, more)
    ("host", "Host", "string", "{required=true}{tooltip=The address of the Weir host}"),
    ("shell-port", "Port of its shell", "unsigned", "{default=2323}{range=1,65535}"),
    ("port", "Only this port", "unsigned", "{range=1,65535}"),
    ("address", "Only this IPv4 address", "string", ""),
    ("proto", "Only this protocol", "selector", ""),
    ("count", "So many packets", "unsigned", "{range=1,4294967295}")]


class Wrong(Exception):
    """What a user is told."""


def tell_config():
    for number, (option, text, kind, more) in enumerate(ARGUMENTS):
        print(f"arg {{number={number}}}{{call=--{option}}}{{display={text}}}{{type={kind}}}{more}")
        if kind == "selector":
            for value in ("any", "tcp", "udp", "icmp", "arp"):
                print(f"value {{arg={number}}}{{value={value}}}{{display={value}}}{{default={'true' if value == 'any' else 'false'}}}")


def command(words):
    parts = ["tcpdump -w -"]
    for name, value in (("count", words.count), ("port", words.port), ("host", words.address), ("proto", words.proto)):
        if value and value != "any":
            parts.append(f"{name} {value}")
    line = " ".join(parts)
    if len(line) > 120 or any(character < " " or character > "~" for character in line):
        raise Wrong(f"this is no address: {words.address}")
    return line.encode() + b"\n"


def file_begins(session, sent):
    """What the shell says from the file's first byte on. Before it there is a prompt; in place of it a sentence."""
    heard = b""
    while MAGIC not in heard:
        some = session.recv(65536)
        heard += some
        said = heard.removeprefix(PROMPT)
        if not some or (b"\n" in said and MAGIC[:1] != said[:1]):
            raise Wrong(f"the shell does not answer {sent.decode().strip()!r} with packets: {said.decode(errors='replace').strip() or 'nothing'}")
    return heard[heard.index(MAGIC):]


def capture(words, out):
    if not words.host:
        raise Wrong("--host is needed: the address of the Weir host")
    if words.extcap_capture_filter:
        raise Wrong("capture filters are not understood: take --port, --address and --proto, or a display filter")
    line = command(words)
    try:
        session = socket.create_connection((words.host, words.shell_port), timeout=20)
    except OSError as error:
        raise Wrong(f"nothing answers at {words.host} port {words.shell_port} ({error.strerror or error}): the host has a shell there by "
                    f"weir-host --shell {words.shell_port} --shell-tcpdump; another port: --shell-port") from error
    with session:
        session.sendall(line)
        some = file_begins(session, line)
        session.settimeout(None)
        while some:
            out.write(some)
            out.flush()
            some = session.recv(65536)


def told(function, *arguments):
    """Its exit status, when what went wrong has been said."""
    try:
        return function(*arguments) or 0
    except BrokenPipeError:
        sys.stderr.close()   # the reader has seen enough
        return 0
    except (Wrong, OSError) as wrong:
        print(f"weir-extcap: {wrong}", file=sys.stderr, flush=True)
        return 1


def capture_into(words):
    # Wireshark waits until a fifo ends, and then wants to have heard why: it is opened before anything can go wrong, and closed after it was said.
    with sys.stdout.buffer if words.fifo == "-" else pathlib.Path(words.fifo).open("wb", buffering=0) as out:
        return told(capture, words, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("interfaces", "dlts", "config"):
        parser.add_argument(f"--extcap-{flag}", action="store_true", help=argparse.SUPPRESS)
    for option in ("interface", "version", "capture-filter"):
        parser.add_argument(f"--extcap-{option}", nargs="?", default="", help=argparse.SUPPRESS)
    parser.add_argument("--capture", action="store_true", help="capture, until the reader or the host ends it")
    parser.add_argument("--fifo", default="-", help="where to write (-: standard output)")
    parser.add_argument("--host", help="the address of the Weir host")
    parser.add_argument("--shell-port", type=int, default=2323)
    parser.add_argument("--port", type=int)
    parser.add_argument("--address")
    parser.add_argument("--proto", choices=["any", "tcp", "udp", "icmp", "arp"])
    parser.add_argument("--count", type=int)
    words = parser.parse_args()
    if words.extcap_interfaces:
        print(f"extcap {{version=1.0}}\ninterface {{value={INTERFACE}}}{{display=Weir host: packets by its shell}}")
    elif words.extcap_dlts:
        print("dlt {number=1}{name=EN10MB}{display=Ethernet}")
    elif words.extcap_config:
        tell_config()
    elif words.capture:
        return told(capture_into, words)
    elif words.extcap_capture_filter:
        print("filters are not understood")
    else:
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
