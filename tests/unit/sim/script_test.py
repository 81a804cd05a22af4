# SPDX-License-Identifier: BSD-2-Clause
"""sim/script/run.py understands what scripts written for other systems say, and does not take for a fault what is each system's own affair."""
import pathlib
import subprocess
import sys

import pytest

from building import build

RUN = pathlib.Path(__file__).resolve().parent.parent.parent.parent / "sim/script/run.py"
SERVER = """
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 bind(3, ..., ...) = 0
  +0 listen(3, 1) = 0
 +.1 < S 0:0(0) win 32792 <mss 1000>
  +0 > S. 0:0(0) ack 1 <mss 1460>
 +.1 < . 1:1(0) ack 1 win 32792
  +0 accept(3, ..., ...) = 4
"""
CLIENT = """
   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
  +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
  +0 connect(3, ..., ...) = -1
"""


@pytest.fixture(scope="module", autouse=True)
def player():
    build("build/host/weir-script")


@pytest.fixture
def play(tmp_path):
    def run(text, *words):
        path = tmp_path / "a.pkt"
        path.write_text(text)
        return subprocess.run([sys.executable, str(RUN), *words, str(path)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60).stdout
    return run


def passed(output):
    return output.startswith(" ok ")


def test_ewouldblock_is_eagain(play):
    assert passed(play(SERVER + "+0 recv(4, ..., 10, MSG_DONTWAIT) = -1 EWOULDBLOCK (Operation would block)"))
    assert not passed(play(SERVER + "+0 recv(4, ..., 10, MSG_DONTWAIT) = -1 EINTR"))


def test_what_an_icmp_error_quotes_may_stand_before_it(play):
    script = "--mtu=1500\n" + SERVER.replace("mss 1000", "mss 1460") + "+0 write(4, ..., 1460) = 1460\n+0 > P. 1:1461(1460) ack 1\n"
    resent = "+0 > . 1:961(960) ack 1\n+0 > P. 961:1461(500) ack 1"
    assert passed(play(script + "+.1 < [1:1461(1460)] icmp unreachable frag_needed mtu 1000\n" + resent))
    assert passed(play(script + "+.1 < icmp unreachable frag_needed mtu 1000 [1:1461(1460)]\n" + resent))
    assert passed(play(script + "+.1 < icmp type_3 code_4 mtu 1000 [1:1461(1460)]\n" + resent))


def test_a_name_given_on_the_command_line_may_be_an_icmp_code(play):
    assert passed(play(SERVER + "+0 < icmp unreachable CODE [1:1(0)]", "--define", "CODE=host_unreachable"))


def test_an_answer_in_icmp_is_passed_over_where_tcp_is_expected(play):
    script = SERVER + "+0 < icmp echo_request\n+.1 < icmp timestamp_request\n+.1 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1"
    assert passed(play(script))
    assert not passed(play(script, "--strict"))


def test_a_timestamp_may_be_left_open(play):
    assert passed(play(CLIENT + "+0 > S 0:0(0) <mss 1460,sackOK,TS val ... ecr 0,nop,wscale 7>"))


def test_flags_may_be_a_number_alone(play):
    script = "`sysctl net.ipv4.tcp_ecn=3`" + CLIENT + "+0 > SEWA 0:0(0) <...>\n+.1 < SW. 0:0(0) ack 1 win 32792 <mss 1000>\n+0 > W. 1:1(0) ack 1 <...>\n"
    assert passed(play(script + "+0 write(3, ..., 10) = 10\n+0 > P5. 1:11(10) ack 1 <...>\n+.1 < 5. 1:1(0) ack 11 win 32792"))


def test_commands_before_all_else_set_up_the_host_and_those_after_it_are_not_carried_out(play):
    script = "0 `sysctl -w kern.ipc.maxsockbuf=2097152`\n+0 `sysctl -w net.inet.tcp.ecn.enable=1`" + CLIENT.replace("   0 socket", "  +0 socket")
    output = play(script + "+0 > SEW 0:0(0) <mss 1460,nop,wscale 6,sackOK,TS val 1 ecr 0>\n+0 `sysctl net.inet.tcp.ecn.enable=0`")
    assert passed(output), output


def test_a_setting_of_freebsd_that_weir_has_not_is_named(play):
    assert "sysctl net.inet.tcp.rfc5827=1" in play("0 `sysctl net.inet.tcp.rfc5827=1`" + CLIENT)


def test_a_script_without_settings_says_by_its_window_scale_what_its_host_had(play):
    assert passed(play(CLIENT + "+0 > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 10>"))
    assert not passed(play("`sysctl net.ipv4.tcp_rmem='4096 65536 2097152'`" + CLIENT + "+0 > S 0:0(0) <mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 10>"))


def test_a_buffer_that_the_script_has_set_is_compared_and_another_is_not(play):
    script = "   0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 getsockopt(3, SOL_SOCKET, SO_RCVBUF, [4711], [4]) = 0\n"
    assert passed(play(script))
    assert not passed(play(script.replace("+0 get", "+0 setsockopt(3, SOL_SOCKET, SO_RCVBUF, [5000], 4) = 0\n+0 get")))


def test_the_window_beside_the_acknowledgement_of_a_fin_means_nothing(play):
    script = SERVER + "+0 < F. 1:1(0) ack 1 win 32792\n* > . 1:1(0) ack 2 win 4711"
    assert passed(play(script))
    assert "the window is" in play(SERVER + "+0 < . 1:11(10) ack 1 win 32792\n* > . 1:1(0) ack 11 win 4711")


def test_the_state_has_freebsds_names_too(play):
    assert passed(play(SERVER + "+0 %{ assert tcpi_state == TCPI_ESTABLISHED }%"))


def test_so_debug_does_nothing(play):
    assert passed(play(SERVER + "+0 setsockopt(4, SOL_SOCKET, SO_DEBUG, [1], 4) = 0"))
