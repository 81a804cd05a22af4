# SPDX-License-Identifier: BSD-2-Clause
"""The layers of src/: a file may include, and call, its own folder and those listed for it. The contracts that everyone sees,
and the places that compose them, are exempt."""
VISIBLE = {
    "base": {"base"},
    "wire": {"base", "wire"},
    "link": {"base", "wire", "link"},
    "ip": {"base", "wire", "link", "ip"},
    "udp": {"base", "wire", "link", "ip", "udp"},
    "tcp": {"base", "wire", "link", "ip", "rt", "tcp"},   # rt: its contract, src/rt/rt.h; cc only through include/weir/cc.h
    "cc": {"base", "cc"},
    "compact": {"base", "wire", "link", "compact"},  # the whole server of the profile tiny; of link only the contract
    "rt": {"base", "rt"},
    "socket": {"base", "wire", "link", "ip", "udp", "tcp", "socket"},
    "instance": {"base", "wire", "link", "ip", "udp", "tcp", "cc", "rt", "socket", "instance"},
}
# Upward calls that are meant: an interface that comes, goes or changes its address tells the network layer, and its connected route
# is the network layer's to add. (Otherwise a lower layer declares in its own header what it expects from above, as ip.h does for raw sockets.)
UPCALLS = {"ip_netif_changed", "ip_netif_removed"}
EXEMPT = {"src/instance.h", "src/instance.c", "src/ip/families.c"}   # the last: the rows of struct ip_family, below whose contract link is


def layer(path):
    """The layer of a path under src/ (src/ itself: instance)."""
    parts = str(path).split("/")
    return parts[1] if len(parts) > 2 else "instance"
