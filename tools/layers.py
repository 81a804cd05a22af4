# SPDX-License-Identifier: BSD-2-Clause
"""The layers of src/: a file may include, and call, its own folder and those listed for it. The contracts that everyone sees,
and the one place that composes them, are exempt."""
VISIBLE = {
    "base": {"base"},
    "wire": {"base", "wire"},
    "link": {"base", "wire", "link"},
    "ip": {"base", "wire", "link", "ip"},
    "udp": {"base", "wire", "link", "ip", "udp"},
    "tcp": {"base", "wire", "link", "ip", "tcp"},   # cc and rt only through include/weir/cc.h
    "cc": {"base", "cc"},
    "rt": {"base", "rt"},
    "socket": {"base", "wire", "link", "ip", "udp", "tcp", "socket"},
    "instance": {"base", "wire", "link", "ip", "udp", "tcp", "cc", "rt", "socket", "instance"},
}
EXEMPT = {"src/instance.h", "src/instance.c"}


def layer(path):
    """The layer of a path under src/ (src/ itself: instance)."""
    parts = str(path).split("/")
    return parts[1] if len(parts) > 2 else "instance"
