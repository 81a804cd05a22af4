# SPDX-License-Identifier: BSD-2-Clause
"""Tracing (weir/trace.h) as builds have it: with all of its levels, and a tracer on every instance that looks at all of each event, unit programs pass; with
none of it not a byte is left."""
import pathlib
import re
import subprocess
import sys

import pytest

from building import ROOT, build, host_flags

sys.path.insert(0, str(ROOT / "tools"))
from configuration import Configuration  # noqa: E402

PROGRAMS = ("tcp/close", "tcp/connect", "tcp/cwv", "tcp/frto", "tcp/input", "tcp/keepalive", "tcp/rack", "tcp/recovery", "tcp/sack", "tcp/scarce",
            "tcp/transfer", "tcp/predict", "tcp/tlp", "tcp/undo", "ip/fragment", "ip/router", "link/arp", "socket/socket", "udp/udp", "security/teardown")
LIBRARIES = [f"build/host/lib{name}.a" for name in ("helpers", "apps", "all")]
TRACER = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "weir/instance.h"
#include "weir/netif.h"
#include "weir/trace.h"
#define JOINED(a, b) a##b
#define BESIDE(a, b) JOINED(a, b)
struct weir *BESIDE(__real_, weir_create)(void *, size_t, const struct weir_port *, const struct weir_config *);
struct weir *BESIDE(__wrap_, weir_create)(void *, size_t, const struct weir_port *, const struct weir_config *);
static unsigned long events[WEIR_TRACE_FRAME + 1];
static void event(struct weir_tracer *self, const struct weir_trace_event *e)
{
    const int of_frame = e->kind == WEIR_TRACE_FRAME;
    if ((unsigned)e->kind > WEIR_TRACE_FRAME || self->level != WEIR_TRACE_FRAMES || !*e->what || strlen(e->what) > 40 || of_frame != (e->netif != NULL) ||
        (of_frame && (!*e->netif->name || !e->bytes)) || (!of_frame && !e->local.port))
        abort();
    events[e->kind]++;
}
static struct weir_tracer tracer = {event, WEIR_TRACE_FRAMES, NULL};
struct weir *BESIDE(__wrap_, weir_create)(void *memory, size_t bytes, const struct weir_port *port, const struct weir_config *config)
{
    struct weir *weir = BESIDE(__real_, weir_create)(memory, bytes, port, config);
    if (weir && weir_trace_set(weir, &tracer) != WEIR_OK)
        abort();
    return weir;
}
__attribute__((destructor)) static void count(void)
{
    printf("traced %lu states, %lu of congestion, %lu timers, %lu windows, %lu frames\\n", events[0], events[1], events[2], events[3], events[4]);
}
"""
# The same sources without what they tell: each place where something is told, away.
WITHOUT = """\
#include "link/trace.h"
#define trace_frame(netif, what, bytes) ((void)0)
#include "tcp/trace.h"
#define trace_state(weir, c) ((void)0)
#define trace_congestion(weir, c, event) ((void)0)
#define trace_timer(weir, c, what) ((void)0)
#define trace_window(weir, c) ((void)0)
"""


@pytest.fixture(scope="module")
def tracer(tmp_path_factory):
    """A tracer's object, and the name that weir_create has in this build."""
    build(*LIBRARIES, *(f"build/host/obj/tests/unit/{program}_test.o" for program in PROGRAMS))
    folder = tmp_path_factory.mktemp("tracer")
    (folder / "tracer.c").write_text(TRACER)
    subprocess.run(["cc", "-O1", "-Wall", "-Werror", "-Iinclude", *host_flags(), "-c", folder / "tracer.c", "-o", folder / "tracer.o"], cwd=ROOT, check=True)
    names = subprocess.run(["nm", "--defined-only", folder / "tracer.o"], capture_output=True, text=True, check=True).stdout
    return folder / "tracer.o", re.search(r"__wrap_(weir_create\w*)", names).group(1)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_passes_with_all_of_it(program, tracer, tmp_path):
    words = ["cc", f"build/host/obj/tests/unit/{program}_test.o", tracer[0], f"-Wl,--wrap={tracer[1]}", *LIBRARIES, "-lcmocka", "-pthread", "-lm", "-o", tmp_path / "program"]
    subprocess.run(words, cwd=ROOT, check=True)
    done = subprocess.run([tmp_path / "program"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    frames = int(re.search(r"traced .* (\d+) frames$", done.stdout, re.M).group(1))
    assert frames > 0, done.stdout[-300:]


def size(folder, compiler, path, *flags):
    """Bytes of code with constants, data, and zeroed data of a source of the full profile."""
    subprocess.run([*compiler, "-std=c11", "-Iinclude", "-Isrc", *flags, "-c", path, "-o", folder / "object.o"], cwd=ROOT, check=True)
    return subprocess.run(["size", folder / "object.o"], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()[:3]


@pytest.mark.parametrize("compiler", [("clang", "-Os"), ("clang", "-O2")], ids="-".join)   # gcc lays out a function otherwise for a load that it drops in the end
def test_nothing_is_left_where_there_is_none(compiler, tmp_path):
    """Neither a source, nor in the objects of those that would tell something a byte more than if they told nothing; nor a member of the instance."""
    sources = Configuration("full").sources
    assert not [path for path in sources if path.endswith("/trace.c")]
    assert {"src/link/trace.c", "src/tcp/trace.c"} <= set(Configuration("full", words=["TRACE=3"]).sources)
    tells = re.compile(r"\btrace_(frame|state|congestion|timer|window)\(")
    users = [path for path in sources if tells.search((ROOT / path).read_text()) or re.search(r'"link/(link|handler)\.h"', (ROOT / path).read_text())]
    assert len(users) > 10
    assert "tracer" not in subprocess.run([compiler[0], "-E", "-P", "-Iinclude", "-Isrc", "src/instance.h"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.partition("struct weir {")[2]
    (tmp_path / "without.h").write_text(WITHOUT)
    for path in users:
        assert size(tmp_path, compiler, path) == size(tmp_path, compiler, path, "-include", tmp_path / "without.h"), path
    assert size(tmp_path, compiler, "src/tcp/timers.c", "-DWEIR_CFG_TRACE=1") != size(tmp_path, compiler, "src/tcp/timers.c")   # there is something to leave out


@pytest.mark.parametrize("level,what,header", [(1, "window", "tcp/trace.h"), (2, "frame", "link/trace.h")])
def test_nothing_is_left_of_what_is_above_the_level(level, what, header, tmp_path):
    """Objects are those of sources that do not tell it; a level higher they are larger."""
    (tmp_path / "without.h").write_text(f'#include "{header}"\n#define trace_{what}(...) ((void)0)\n')
    through = {"frame": "link"}.get(what, what)   # frames that leave are told by an inline function of link/link.h
    users = [path for path in Configuration("full", words=["TRACE=3"]).sources if not path.endswith("/trace.c")
             and re.search(rf'\btrace_{what}\(|"link/{through}\.h"', (ROOT / path).read_text())]
    assert users
    grown = []
    for path in users:
        sizes = [size(tmp_path, ["clang", "-Os"], path, f"-DWEIR_CFG_TRACE={built}", *words) for built, words in
                 ((level, ()), (level, ("-include", tmp_path / "without.h")), (level + 1, ()))]
        assert sizes[0] == sizes[1], path
        grown.append(sizes[2] != sizes[0])
    assert any(grown)
