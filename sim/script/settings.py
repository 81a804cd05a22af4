# SPDX-License-Identifier: BSD-2-Clause
"""Options of a script, and its init commands: which of Linux's settings Weir can take over, which it has by itself, and which make
a script one for Linux only."""
import dataclasses
import ipaddress
import re
import shlex

from . import OtherVersion, ScriptError, Skip

ANY = None
# Settings that ask for nothing but what Weir does. A set: the values that are true of it, or Linux's default where that is in everyone's preamble
# and another matters only at an end nobody waits for (tcp_syn_retries). A number: a limit that no conversation reaches if it is that or more (and of
# the window to hold back for larger pieces Weir takes no part at all). ANY:
# the value has no effect on a conversation (a queue below TCP, a name that Linux itself no longer heeds, a part of what is off or is not there, or
# only how large the pieces are that go to a device).
SAME = {
    "tcp_timestamps": {"1"}, "tcp_sack": {"1"}, "tcp_dsack": {"1"}, "tcp_window_scaling": {"1"}, "tcp_syncookies": {"0", "1"},
    "tcp_recovery": {"1"}, "tcp_early_retrans": {"3", "4"}, "tcp_frto": {"1", "2"}, "tcp_reordering": {"3"}, "tcp_fack": {"0"},
    "tcp_abort_on_overflow": {"0"}, "tcp_adv_win_scale": ANY, "tcp_app_win": {"0", "31"}, "tcp_autocorking": {"0"}, "tcp_base_mss": ANY,
    "tcp_challenge_ack_limit": 100, "tcp_comp_sack_delay_ns": {"0"}, "tcp_comp_sack_nr": {"0"}, "tcp_comp_sack_slack_ns": ANY,
    "tcp_early_demux": ANY, "tcp_fastopen": {"0", "1", "2", "3"}, "tcp_fastopen_blackhole_timeout_sec": ANY, "tcp_fastopen_key": ANY,
    "tcp_fin_timeout": {"60"}, "tcp_fwmark_accept": {"0"}, "tcp_invalid_ratelimit": {"500"}, "tcp_keepalive_intvl": {"75"},
    "tcp_keepalive_probes": {"9"}, "tcp_keepalive_time": {"7200"}, "tcp_limit_output_bytes": ANY, "tcp_low_latency": ANY, "tcp_max_orphans": 16,
    "tcp_max_reordering": 300, "tcp_max_syn_backlog": 128, "tcp_max_tw_buckets": 16, "tcp_mem": 4096, "tcp_migrate_req": {"0"},
    "tcp_min_rtt_wlen": 300, "tcp_min_snd_mss": {"48"}, "tcp_min_tso_segs": ANY, "tcp_moderate_rcvbuf": {"1"}, "tcp_mtu_probing": {"0"},
    "tcp_no_metrics_save": {"1"}, "tcp_no_ssthresh_metrics_save": {"1"}, "tcp_notsent_lowat": {"-1", "4294967295"},
    "tcp_pacing_ca_ratio": {"120"}, "tcp_pacing_ss_ratio": {"200"}, "tcp_plb_enabled": {"0"}, "tcp_reflect_tos": {"0"}, "tcp_retrans_collapse": {"1"},
    "tcp_rfc1337": {"1"}, "tcp_slow_start_after_idle": {"1"}, "tcp_stdurg": {"0"}, "tcp_syn_linear_timeouts": {"0"}, "tcp_synack_retries": {"5"},
    "tcp_syn_retries": {"5", "6"}, "tcp_shrink_window": {"0"}, "tcp_tso_win_divisor": 3, "tcp_tso_rtt_log": ANY, "tcp_tw_reuse": {"1"},
    "tcp_workaround_signed_windows": {"0"}, "tcp_dma_copybreak": ANY, "tcp_ecn_fallback": {"1"}, "tcp_ecn_option_beacon": {"3"},
    "ip_no_pmtu_disc": {"0"}, "ip_local_port_range": ANY, "route.min_pmtu": {"576"}, "route.mtu_expires": {"600"}, "tcp_rto_min_us": {"200000"},
}
CORE = {"somaxconn": 128, "rmem_max": 212992, "wmem_max": 212992, "default_qdisc": ANY}     # net.core: under less, listen() and SO_RCVBUF get less
# The same of FreeBSD's.
SAME_BSD = {
    "rfc1323": {"1"}, "sack.enable": {"1"}, "rexmit_initial": {"1000"}, "rexmit_slop": {"200"}, "rexmit_drop_options": {"0"}, "blackhole": {"0"},
    "insecure_rst": {"0"}, "insecure_syn": {"0"}, "icmp_may_rst": {"1"}, "initcwnd_segments": {"10"}, "rfc6675_pipe": {"1"}, "rfc3042": {"1"},
    "delayed_ack": {"1"}, "hostcache.purgenow": ANY, "recvspace": ANY, "sendspace": ANY, "recvbuf_auto": ANY, "sendbuf_auto": ANY,
}
CONGESTION = ("reno", "cubic", "bic", "htcp", "vegas", "westwood", "yeah", "bbr", "bbr3")
# The usual preamble: Linux's settings in production (docs/scripts.md tells which of them are taken over).
DEFAULTS = re.compile(r"(bash |source |\. )?(\S*/)?defaults\.sh")
ECN = {"0": (1, 1), "1": (3, 3), "2": (2, 2), "3": (4, 4), "4": (4, 3), "5": (4, 1)}   # Linux's tcp_ecn to enum weir_ecn: what is agreed to, what is asked for
DEFAULTS_RECEIVE, DEFAULTS_SEND = 15 << 20, 4 << 20
LARGEST_WINDOW = 65535 << 14
PACING = re.compile(r"tc\s+qdisc\s+\S.*\bfq\b")
IGNORED = re.compile(r"ip\s+tcp_metrics\s+flush|tc\s+qdisc|ethtool\s+-K|sync|true|sleep|nstat -n|exec 2>|set -|#|:|/bin/true|ip -6|ulimit|tcpdump|pkill|kldload|sockstat")     # what looks at the host from outside, too
WRITTEN = re.compile(r"echo\s+[\"']?([^\"'>]*)[\"']?\s*>\s*/proc/sys/net/(\S+)$")


# Our address, the peer's, the length of the prefix, and the MTU, in which the same segment fits: packetdrill's own.
IP4, IP6 = ("192.168.0.1", "192.0.2.1", 16, 1500), ("fd3d:a0b:17d6::1", "fd3d:fa7b:d17d::1", 64, 1520)
VERSIONS = {"ipv4": IP4, "ipv6": IP6, "ipv4-mapped-ipv6": IP4}


@dataclasses.dataclass
class Config:
    version: str = None             # of VERSIONS
    local: bytes = None             # addresses as in packets: those of IPv4 in ipv4-mapped-ipv6, too
    remote: bytes = None
    prefix: int = None
    mtu: int = None
    receive: int = 0                # bytes; 0: Weir's default
    send: int = 0
    congestion: str = "-"
    ecn: tuple = (0, 0)             # enum weir_ecn: of listeners, of who connects
    accecn_told: bool = True        # accurate ECN's option is expected where it may be
    bind_port: int = 8080
    connect_port: int = 8080
    tolerance: int = 4000           # µs
    tolerance_percent: float = 0.0
    ts_tick: int = 0                # µs; 0: the value of timestamps is not checked
    ts_scaled: bool = False
    whole_segments: bool = False    # --strict_segments: an expected packet is one packet
    built: frozenset = frozenset(CONGESTION)

    def complete(self):
        """What nobody has set comes from the version."""
        local, remote, prefix, mtu = VERSIONS[self.version or "ipv4"]
        self.version, self.local, self.remote = self.version or "ipv4", self.local or address(local), self.remote or address(remote)
        self.prefix, self.mtu = prefix if self.prefix is None else self.prefix, self.mtu or mtu
        if len(self.local) != len(self.remote) or (len(self.local) == 16) != (self.version == "ipv6"):
            raise ScriptError(f"the addresses are not of --ip_version={self.version}", 1)

    def host(self):
        """What cannot change while a host runs."""
        return dataclasses.replace(self, accecn_told=True)


def address(text):
    return ipaddress.ip_address(text.split("/")[0].strip('"')).packed


def take_option(config, name, value, line):
    try:
        if name == "ip_version":
            if value not in VERSIONS:
                raise ScriptError(f"--ip_version is {', '.join(VERSIONS)}, not {value}", line)
            if line and config.version not in (value, None):
                raise OtherVersion(f"--ip_version={value} alone", line)
            config.version = value
        elif name == "local_ip":
            config.local = address(value)
        elif name == "remote_ip":
            config.remote = address(value)
        elif name == "netmask_ip":
            config.prefix = bin(int.from_bytes(address(value), "big")).count("1")
        elif name == "mtu":
            config.mtu = int(value)
        elif name == "bind_port":
            config.bind_port = int(value)
        elif name == "connect_port":
            config.connect_port = int(value)
        elif name == "tolerance_usecs":
            config.tolerance = int(value)
        elif name == "tolerance_percent":
            config.tolerance_percent = float(value)
        elif name == "tcp_ts_tick_usecs":
            config.ts_tick = int(value)
        elif name == "tcp_ts_ecr_scaled":
            config.ts_scaled = True
        elif name == "strict_segments":
            config.whole_segments = True
        elif name in ("wire_client", "wire_server", "so_filename"):
            raise Skip(f"--{name}", line)
        elif name not in ("gateway_ip", "speed", "mss", "non_fatal", "dry_run", "is_anyip", "send_omit_free", "debug", "define",
                          "verbose", "code_command", "code_format", "code_sockopt", "init_scripts", "timeout", "no_cleanup"):
            raise ScriptError(f"there is no option --{name}", line)
    except ValueError as error:
        raise ScriptError(f"--{name}={value}: {error}", line)


def asks_for_the_same(table, name, value):
    if name not in table:
        return False
    rule = table[name]
    if isinstance(rule, int):
        return all(number.isdigit() and int(number) >= rule for number in value.split() or ["none"])
    return rule is ANY or value in rule


def take_sysctl(config, name, value, line):
    name, value = name.strip().replace("/", "."), value.strip().strip("\"'")
    if name.startswith("net.core.") and asks_for_the_same(CORE, name[len("net.core."):], value):
        return
    if name.startswith(("net.inet.tcp.", "kern.")):
        return take_bsd(config, name, value, line)
    if not name.startswith("net.ipv4."):
        raise Skip(f"sysctl {name}={value}", line)
    name = name[len("net.ipv4."):]
    if name in ("tcp_rmem", "tcp_wmem"):
        bounds = [arithmetic(number, line) for number in value.split()]
        if name == "tcp_rmem":
            config.receive = max(bounds[1:] or bounds)
        else:
            config.send = max(bounds[1:] or bounds)
    elif name in ("tcp_congestion_control", "tcp_allowed_congestion_control"):
        if value.split()[0] not in config.built:
            raise Skip(f"congestion control {value}", line)
        if name == "tcp_congestion_control":
            config.congestion = value
    elif name == "tcp_ecn" and value in ECN:
        config.ecn = ECN[value]
    elif name == "tcp_ecn_option" and value in ("0", "1", "2"):
        config.accecn_told = value != "0"   # Weir's option is taken for none: who sends it, and when, is the sender's affair
    elif not asks_for_the_same(SAME, name, value):
        raise Skip(f"sysctl net.ipv4.{name}={value}", line)


def take_bsd(config, name, value, line):
    short = name.removeprefix("net.inet.tcp.")
    if name == "kern.ipc.maxsockbuf":
        config.receive = min(int(value), LARGEST_WINDOW)
    elif short == "ecn.enable" and value in "01234":
        config.ecn = ECN[value if value != "4" else "5"]
    elif not asks_for_the_same(SAME_BSD, short, value):
        raise Skip(f"sysctl {name}={value}", line)


def arithmetic(text, line):
    text = re.sub(r"\$\(\((.*?)\)\)", r"\1", text)
    if not re.fullmatch(r"[\d*+() ]+", text):
        raise Skip(f"'{text}' in a sysctl", line)
    return int(eval(text))  # digits and operators only


def take_command(config, text, line):
    """The init command: shell, of which the usual lines are understood."""
    text = re.sub(r"\\\n", " ", text)
    for command in re.split(r"\n|;|&&|\|\|", text):
        command = re.sub(r"\d?>+\s*/dev/null(\s+2>&1)?|2>&1|(^|\s)#.*", "", command).strip()
        if DEFAULTS.match(command):
            config.receive, config.send, config.ecn = DEFAULTS_RECEIVE, DEFAULTS_SEND, ECN["0"]
            continue
        if PACING.match(command):
            raise Skip(f"the command '{command}' (pacing)", line)
        if not command or IGNORED.match(command):
            continue
        written = WRITTEN.match(command)
        if written:
            take_sysctl(config, "net." + written.group(2).replace("/", "."), written.group(1), line)
            continue
        try:
            words = shlex.split(re.sub(r"\$\(\((.*?)\)\)", lambda m: m.group(0).replace(" ", ""), command))
        except ValueError:
            words = [command]
        if words[0].endswith("sysctl"):
            pairs = [word for word in words[1:] if not word.startswith("-")]
        elif words[0].endswith("set_sysctls.py"):
            pairs = [re.sub(r"^/proc/sys/", "", word).replace("/", ".") for word in words[1:]]
        else:
            raise Skip(f"the command '{command}'", line)
        for pair in pairs:
            name, equals, value = pair.partition("=")
            if not equals:
                raise Skip(f"the command '{command}'", line)
            take_sysctl(config, name, value, line)
