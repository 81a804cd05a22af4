# SPDX-License-Identifier: BSD-2-Clause
"""TCP_INFO under Linux's names, for the %{ }% of a script: segments where Linux counts segments."""
import re

from . import ScriptError, Skip

STATES = {0: 7, 1: 10, 2: 2, 3: 3, 4: 1, 5: 4, 6: 5, 7: 8, 8: 11, 9: 9, 10: 6}    # enum weir_tcp_state to Linux's
CONSTANTS = {
    "TCP_ESTABLISHED": 1, "TCP_SYN_SENT": 2, "TCP_SYN_RECV": 3, "TCP_FIN_WAIT1": 4, "TCP_FIN_WAIT2": 5, "TCP_TIME_WAIT": 6, "TCP_CLOSE": 7,
    "TCP_CLOSE_WAIT": 8, "TCP_LAST_ACK": 9, "TCP_LISTEN": 10, "TCP_CLOSING": 11,
    **{f"TCPI_{name}": number for name, number in (("CLOSED", 7), ("LISTEN", 10), ("SYN_SENT", 2), ("SYN_RECEIVED", 3), ("ESTABLISHED", 1),
       ("CLOSE_WAIT", 8), ("FIN_WAIT_1", 4), ("CLOSING", 11), ("LAST_ACK", 9), ("FIN_WAIT_2", 5), ("TIME_WAIT", 6))},     # FreeBSD's names
    "TCP_CA_Open": 0, "TCP_CA_Disorder": 1, "TCP_CA_CWR": 2, "TCP_CA_Recovery": 3, "TCP_CA_Loss": 4,
    "TCPI_OPT_TIMESTAMPS": 1, "TCPI_OPT_SACK": 2, "TCPI_OPT_WSCALE": 4, "TCPI_OPT_ECN": 8,
}
ENDLESS = 0x7fffffff    # Linux's ssthresh that was never set


def names(info):
    """tcpi_… of an answer of the player."""
    mss = info["snd_mss"] or 1536

    def segments(octets):
        return -(-octets // mss)

    return {
        "tcpi_state": STATES[info["state"]], "tcpi_ca_state": info["recovery"], "tcpi_retransmits": info["backoff"] if info["recovery"] == 4 else 0,
        "tcpi_probes": info["probes"], "tcpi_backoff": info["backoff"],
        "tcpi_options": info["timestamps"] | info["sack"] << 1 | info["window_scaling"] << 2 | info["ecn"] << 3,
        "tcpi_snd_wscale": info["snd_wscale"], "tcpi_rcv_wscale": info["rcv_wscale"], "tcpi_rto": info["rto_us"], "tcpi_snd_mss": info["snd_mss"],
        "tcpi_rcv_mss": info["rcv_mss"], "tcpi_unacked": segments(info["send_queue"] - info["unsent"]), "tcpi_sacked": segments(info["sacked"]),
        "tcpi_lost": segments(info["lost"] + (info["retrans_out"] if info["recovery"] >= 3 else 0)),     # Linux counts them until they are acknowledged
         "tcpi_retrans": segments(info["retrans_out"]), "tcpi_pmtu": info["path_mtu"],
        "tcpi_rtt": info["srtt_us"], "tcpi_rttvar": info["rttvar_us"], "tcpi_min_rtt": info["min_rtt_us"] or 0xffffffff,
        "tcpi_snd_ssthresh": info["ssthresh"] // mss if info["ssthresh"] < ENDLESS else ENDLESS, "tcpi_snd_cwnd": info["cwnd"] // mss,
        "tcpi_advmss": info["rcv_mss"], "tcpi_total_retrans": info["total_retrans"], "tcpi_bytes_acked": info["bytes_acked"],
        "tcpi_bytes_received": info["bytes_received"], "tcpi_bytes_sent": info["bytes_sent"], "tcpi_bytes_retrans": info["bytes_retrans"],
        "tcpi_segs_out": info["segs_out"], "tcpi_segs_in": info["segs_in"], "tcpi_notsent_bytes": info["unsent"],
        "tcpi_snd_wnd": info["snd_wnd"], "tcpi_rcv_wnd": info["rcv_wnd"], "tcpi_pacing_rate": info["pacing_rate"] or 2**64 - 1,
        "tcpi_delivery_rate": info["delivery_rate"], "tcpi_delivered": info["delivered"], "tcpi_delivered_ce": info["delivered_ce"],
        "tcpi_received_ce": info["received_ce"], "tcpi_last_data_sent": info["last_sent_us"] // 1000,
        "tcpi_last_data_recv": info["last_received_us"] // 1000, "tcpi_rcv_ooopack": info["out_of_order"], "tcpi_total_rto": info["rto_count"],
        "tcpi_reordering": info["reordering"], "tcpi_reord_seen": info["reorder_seen"], "tcpi_dsack_dups": info["duplicates"],
        **{f"weir_{key}": value for key, value in info.items()},
    }


def run(text, info, keep, line):
    """Runs a piece of code with the names of `info`; `keep` is what earlier pieces left."""
    values = names(info) if info else {}
    keep.update(CONSTANTS)
    keep.update(values)
    try:
        exec(compile(text, "%{ }%", "exec"), keep)
    except NameError as error:
        missing = re.search(r"name '(\w+)'", str(error)).group(1)
        if re.match(r"(tcpi|vegas|bbr|dctcp|psp)_", missing):
            raise Skip(f"{missing} in TCP_INFO", line)
        if missing.startswith("SK_MEMINFO_"):
            raise Skip(f"Linux's account of memory ({missing})", line)
        raise ScriptError(f"in %{{ }}%: {error}", line)
    except AssertionError as error:
        used = sorted(name for name in set(re.findall(r"\b\w+_\w+\b", text)) if name in values)
        seen = ", ".join(f"{name} = {values[name]}" for name in used)
        raise ScriptError(f"assertion failed: {text.strip()}" + (f"\n    {error}" if str(error) else "") + (f"\n    now: {seen}" if seen else ""), line)
    except Exception as error:  # whatever a script's code may do
        raise ScriptError(f"in %{{ }}%: {type(error).__name__}: {error}", line)
