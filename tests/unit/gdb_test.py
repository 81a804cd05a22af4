# SPDX-License-Identifier: BSD-2-Clause
"""tools/gdb/weir_gdb.py on unit programs, which stop where their connections are known: with and without an allocator, of both families, and on a core file."""
import os
import re
import subprocess

import pytest

from building import ROOT, build

STOPPED = ["break weir_socket_close", "ignore 1 1", "run"]   # the first closes the listener


def gdb(program, *commands):
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "source tools/gdb/weir_gdb.py"]
    for command in commands:
        words += ["-ex", command]
    done = subprocess.run([*words, program], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert "Python Exception" not in done.stderr and "Error" not in done.stderr, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """What gdb says of a program that is about to close a connection over which 100,000 bytes went, and its core file."""
    build("build/host/tests/tcp/trace")
    core = tmp_path_factory.mktemp("gdb") / "core"
    said = gdb("build/host/tests/tcp/trace", *STOPPED, "weir connections", "weir interfaces", "weir counters", f"generate-core-file {core}", "kill")
    return said, core


def test_a_connection_is_shown_with_its_numbers(stopped):
    lines = re.findall(r"^10\.0\.0\.1:(\d+) > 10\.0\.0\.2:80 ESTABLISHED snd\.una (\d+) snd\.nxt (\d+) snd\.wnd \d+ rcv\.nxt \d+ queued (\d+)/0 mss 14\d\d cwnd (\d+)", stopped[0], re.M)
    assert len(lines) == 1, stopped[0]
    _, una, nxt, queued, cwnd = (int(word) for word in lines[0])
    assert (nxt - una) % 2 ** 32 == queued and cwnd > 14480   # what is queued is under way, and the window grew


def test_interfaces_and_counters_are_shown(stopped):
    assert re.search(r"^test0 index 1 up, carrier, mtu 1500, 10\.0\.0\.1/24$", stopped[0], re.M), stopped[0]
    assert re.search(r"^ +received \d+ frames, \d+ bytes; sent [1-9]\d* frames", stopped[0], re.M)
    assert re.search(r"^ +1 TCP_CONNECTED$", stopped[0], re.M)


def test_a_core_file_says_the_same(stopped):
    said = gdb("build/host/tests/tcp/trace", f"core-file {stopped[1]}", "weir connections", "print weir->netifs->next->address.addr", "print *weir->netifs->next")
    assert re.findall(r"^10\.0\.0\.1:.*", said, re.M) == re.findall(r"^10\.0\.0\.1:.*", stopped[0], re.M)
    assert "= 10.0.0.1\n" in said and "= test0 index 1 up" in said


def test_without_an_allocator_and_with_ipv4_alone():
    build("build/small/tests/tcp/keepalive")
    said = gdb("build/small/tests/tcp/keepalive", "break weir_socket_get", "run", "weir connections", "kill")
    assert len(re.findall(r"^10\.0\.0\.1:\d+ > 10\.0\.0\.\d+:\d+ ESTABLISHED ", said, re.M)) == 1, said


def test_without_an_instance_it_says_what_to_do():
    done = subprocess.run(["gdb", "-nx", "-batch", "-ex", "source tools/gdb/weir_gdb.py", "-ex", "weir connections", "build/host/tests/tcp/trace"], cwd=ROOT, capture_output=True, text=True)
    assert "give the instance, or set $weir" in done.stderr
    assert done.returncode == 1 or "Python" not in done.stderr


def test_auto_load_is_allowed_as_the_page_says(tmp_path):
    """docs/seeing.md: a project's .gdbinit that loads the script is refused, until the line of the page is in the user's own, or the option is given."""
    home, project = tmp_path, tmp_path / "project"
    project.mkdir()
    (project / ".gdbinit").write_text(f"source {ROOT}/tools/gdb/weir_gdb.py\n")
    environment = {**{name: value for name, value in os.environ.items() if not name.startswith("XDG_")}, "HOME": str(home)}

    def session(*options):
        """Whether `weir connections` is there, and what was said besides."""
        done = subprocess.run(["gdb", "-batch", "-iex", "set debuginfod enabled off", *options, "-ex", "help weir connections"], cwd=project, capture_output=True,
                              text=True, timeout=300, env=environment)
        return "Every TCP connection of an instance" in done.stdout, done.stderr
    page = (ROOT / "docs/seeing.md").read_text()
    line = re.search(r"^    (add-auto-load-safe-path .*)$", page, re.M).group(1)
    option = re.search(r"^    gdb -iex '(.*)' program$", page, re.M).group(1)
    there, said = session()
    assert not there and "auto-loading has been declined" in said
    assert session("-iex", option)[0]
    (home / ".gdbinit").write_text(f"{line}\n")
    there, said = session()
    assert there and "declined" not in said
    (home / ".gdbinit").write_text(f"source {ROOT}/tools/gdb/weir_gdb.py\n")
    (project / ".gdbinit").unlink()
    assert session()[0]


def test_the_page_of_tables_is_the_one_of_the_source():
    here = re.search(r"^TABLE_PAGE = (\d+)", (ROOT / "tools/gdb/weir_gdb.py").read_text(), re.M).group(1)
    assert f"#define TABLE_PAGE {here}u" in (ROOT / "src/base/table.h").read_text()
