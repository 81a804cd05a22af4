# SPDX-License-Identifier: BSD-2-Clause
"""For gdb: `source tools/gdb/weir_gdb.py`, on a live program, a core file or a board that is stopped; nothing is called in the target.

Addresses, endpoints, connections and interfaces are printed as one reads them, and there are
    weir connections [INSTANCE]     every TCP connection: ends, state, sequence numbers, windows, queues
    weir interfaces [INSTANCE]      interfaces, their addresses and counts
    weir counters [INSTANCE]        counters that are not zero
INSTANCE is any expression for a struct weir *; without, $weir if it is set, or else a variable `weir` of some frame. The stack is any profile's but tiny."""
import ipaddress
import struct

import gdb
import gdb.printing

TABLE_PAGE = 4096   # src/base/table.h
UP, LINK = 1, 2     # enum weir_netif_flag


# --- values ----------------------------------------------------------------------------------------------------------

def address(value):
    """A struct weir_addr as text."""
    fields = {field.name for field in value.type.strip_typedefs().fields()}
    if "v4" in fields:
        return str(ipaddress.IPv4Address(int(value["v4"])))
    words = [int(value["words"][index]) for index in range(4)]
    order = "<" if "little" in gdb.execute("show endian", to_string=True) else ">"
    found = ipaddress.IPv6Address(struct.pack(f"{order}4I", *words))
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(found)


def endpoint(value):
    text, port = address(value["addr"]), int(value["port"])
    return f"[{text}]:{port}" if ":" in text else f"{text}:{port}"


def state(conn):
    """By the enumerator's name."""
    name = str(conn["state"].cast(gdb.lookup_type("enum weir_tcp_state")))
    return name.removeprefix("WEIR_TCP_").replace("_", "-")


def queued(stream):
    return int(stream.dereference()["length"]) if stream else 0


def connection(conn):
    """One line."""
    snd, rcv, flow = conn["snd"], conn["rcv"], conn["flow"]
    text = (f"{endpoint(conn['local'])} > {endpoint(conn['remote'])} {state(conn)} snd.una {int(snd['una'])} snd.nxt {int(snd['nxt'])} snd.wnd {int(snd['wnd'])} "
            f"rcv.nxt {int(rcv['nxt'])} queued {queued(conn['send'])}/{queued(conn['receive'])} mss {int(conn['mss'])}")
    if flow:
        window = flow.dereference()["window"]
        threshold = int(window["ssthresh"])
        text += f" cwnd {int(window['cwnd'])} ssthresh {'none' if threshold == 0xffffffff else threshold}"
    return text


def netif(value):
    flags = int(value["flags"])
    first = value["address"]
    return (f"{value['name'].string()} index {int(value['index'])} {'up' if flags & UP else 'down'}, {'carrier' if flags & LINK else 'no carrier'}, "
            f"mtu {int(value['mtu'])}, {address(first['addr'])}/{int(first['prefix_length'])}")


class Printer:
    def __init__(self, value, text):
        self.value, self.text = value, text

    def to_string(self):
        return self.text(self.value)


def printers():
    collection = gdb.printing.RegexpCollectionPrettyPrinter("weir")
    for name, text in (("weir_addr", address), ("weir_endpoint", endpoint), ("weir_netif", netif), ("tcp_conn", connection)):
        collection.add_printer(name, f"^{name}$", lambda value, text=text: Printer(value, text))
    return collection


# --- walks -----------------------------------------------------------------------------------------------------------

def slots(table):
    """The heads of a struct table's chains."""
    names = {field.name for field in table.type.fields()}
    if "buckets" not in names:   # without an allocator: one list
        yield table["first"]
        return
    first = table["first"].type.range()[1] + 1
    for bucket in range(int(table["buckets"])):
        if bucket < first:
            yield table["first"][bucket]
            continue
        k = bucket.bit_length() - 4
        at, segment = bucket - (8 << k), table["segment"][k]
        yield segment["bucket"][at] if 8 << k <= TABLE_PAGE else segment["page"][at // TABLE_PAGE][at % TABLE_PAGE]


def container(node, type_name, member):
    """The object that the node is a member of."""
    kind = gdb.lookup_type(type_name)
    offset = next(field.bitpos // 8 for field in kind.fields() if field.name == member)
    return (node.cast(gdb.lookup_type("char").pointer()) - offset).cast(kind.pointer()).dereference()


def connections(weir):
    for node in slots(weir["tcp"]["connections"]):
        while node:
            yield container(node, "struct tcp_conn", "node")
            node = node.dereference()["next"]


def netifs(weir):
    at = weir["netifs"]
    while at:
        yield at.dereference()
        at = at.dereference()["next"]


def addresses(value):
    at = value["address"]["next"]
    while at:
        yield at.dereference()
        at = at.dereference()["next"]


# --- commands --------------------------------------------------------------------------------------------------------

def frames():
    for thread in gdb.selected_inferior().threads() or ():
        thread.switch()
        frame = gdb.newest_frame()
        while frame:
            yield frame
            frame = frame.older()


def variable(frame):
    """The variable `weir` of a frame, if it is an instance."""
    try:
        found = frame.read_var("weir")
        kind = found.type.strip_typedefs()
        return found.dereference() if kind.code == gdb.TYPE_CODE_PTR and kind.target().unqualified().tag == "weir" and found else None
    except (ValueError, gdb.error):
        return None


def instance(argument):
    """A struct weir, from the command's words."""
    given = gdb.parse_and_eval(argument) if argument else gdb.convenience_variable("weir")
    if given is not None:
        return given.dereference() if given.type.strip_typedefs().code == gdb.TYPE_CODE_PTR else given
    thread = gdb.selected_thread()
    try:
        for frame in frames():
            found = variable(frame)
            if found is not None:
                return found
    finally:
        if thread:
            thread.switch()
    raise gdb.GdbError("no frame has a variable `weir`: give the instance, or set $weir")


class Weir(gdb.Command):
    """Looks at an instance of Weir."""

    def __init__(self):
        super().__init__("weir", gdb.COMMAND_DATA, prefix=True)


class Walk(gdb.Command):
    """A command that prints lines about an instance."""

    def __init__(self, name, about, lines):
        self.__doc__, self.lines = about, lines
        super().__init__(f"weir {name}", gdb.COMMAND_DATA)

    def invoke(self, argument, from_tty):
        for line in self.lines(instance(argument)):
            print(line)


def connection_lines(weir):
    return (connection(conn) for conn in connections(weir))


def netif_lines(weir):
    for value in netifs(weir):
        stats = value["stats"]
        yield netif(value)
        for further in addresses(value):
            yield f"    {address(further['addr'])}/{int(further['prefix_length'])}"
        yield f"    received {int(stats['rx_frames'])} frames, {int(stats['rx_bytes'])} bytes; sent {int(stats['tx_frames'])} frames, {int(stats['tx_bytes'])} bytes"


def counter_lines(weir):
    for field in gdb.lookup_type("enum weir_counter").fields():
        if field.name != "WEIR_COUNT_COUNT" and int(weir["counters"][field.enumval]):
            yield f"{int(weir['counters'][field.enumval]):10} {field.name.removeprefix('WEIR_COUNT_')}"


gdb.printing.register_pretty_printer(None, printers(), replace=True)
Weir()
Walk("connections", "Every TCP connection of an instance: weir connections [INSTANCE].", connection_lines)
Walk("interfaces", "The interfaces of an instance: weir interfaces [INSTANCE].", netif_lines)
Walk("counters", "The counters of an instance that are not zero: weir counters [INSTANCE].", counter_lines)
