# SPDX-License-Identifier: BSD-2-Clause
"""One configuration for a library and its programs: what contradicts itself stops the build with a sentence, by the compiler and by tools/options.py;
and a program with another configuration than its library's does not link."""
import json
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADER = "include/weir/instance.h"
sys.path.insert(0, str(ROOT / "tools"))
from amalgamate import unit  # noqa: E402


def compile_with(*flags, compiler="cc"):
    done = subprocess.run([compiler, "-fsyntax-only", "-Iinclude", *flags, HEADER], cwd=ROOT, capture_output=True, text=True)
    return done.returncode, done.stderr


def tell(*words):
    done = subprocess.run([sys.executable, "tools/options.py", *words], cwd=ROOT, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout.split(), done.stderr


def test_any_builds_commands_are_looked_at(tmp_path):
    """A misspelt -D of a compiler alone: by what the build wrote down of its commands."""
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([{"directory": ".", "file": "good.c", "command": "cc -DWEIR_CFG_SOCKETS=4 -D WEIR_PROFILE=small -DMINE='\"a b\"' -c good.c"},
                                {"directory": ".", "file": "one.c", "arguments": ["cc", "-D", "WEIR_CFG_SOKETS=4", "-c", "one.c"]},
                                {"directory": ".", "file": "two.c", "command": "cc -DWEIR_PROFILE_MEDIUM -DWEIR_CFG_SOKETS=4 -c two.c"}]))
    status, _, messages = tell("--commands", str(path))
    assert status == 2 and "there is no option WEIR_CFG_SOKETS; did you mean WEIR_CFG_SOCKETS? (docs/options.md lists them); it is set for one.c" in messages
    assert "there is no profile medium: there are tiny, small, full; it is set for two.c" in messages and messages.count("SOKETS") == 1 and "good.c" not in messages
    path.write_text(json.dumps(json.loads(path.read_text())[:1]))
    assert tell("--commands", str(path)) == (0, [], "")
    path.write_text("[{}]")
    status, _, messages = tell("--commands", str(path))
    assert status == 2 and "is no compile_commands.json" in messages


def macros_of(compiler, *flags, text=""):
    """What the documented pipe says of a file with this text, compiled with these flags."""
    listed = subprocess.run([compiler, "-dM", "-E", "-Iinclude", *flags, "-x", "c", "-"], cwd=ROOT, input=text, capture_output=True, text=True, check=True).stdout
    done = subprocess.run([sys.executable, "tools/options.py", "--macros", "-"], cwd=ROOT, input=listed, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


@pytest.mark.parametrize("compiler", ["gcc", "clang", "arm-none-eabi-gcc"])
def test_a_compiler_alone_can_be_asked(compiler, tmp_path):
    """Whatever set the name: the command, the header that it names, the file itself."""
    header = tmp_path / "my_config.h"
    header.write_text("#define WEIR_CFG_UPD 0\n")
    include = '#include "weir/socket.h"\n'
    assert macros_of(compiler, "-DWEIR_PROFILE=small", "-DWEIR_CFG_SOCKETS=4", text=include) == (0, "")   # nor is a macro of Weir's own headers told
    for flags, text, sentence in ((["-DWEIR_CFG_SOKETS=4"], "", "there is no option WEIR_CFG_SOKETS; did you mean WEIR_CFG_SOCKETS?"),
                                  ([f'-DWEIR_CONFIG_FILE="{header}"'], include, "there is no option WEIR_CFG_UPD; did you mean WEIR_CFG_UDP?"),
                                  ([], "#define WEIR_PROFILE_MEDIUM\n" + include, "there is no profile medium: there are tiny, small, full")):
        status, messages = macros_of(compiler, *flags, text=text)
        assert status == 2 and sentence in messages, messages


@pytest.mark.parametrize("text,sentence", [(None, "cannot be read"), ("", "has no #define in it"), ("int main(void) { return 0; }\n", "has no #define in it")])
def test_what_lists_no_macros_is_told(tmp_path, text, sentence):
    if text is not None:
        (tmp_path / "macros").write_text(text)
    status, _, messages = tell("--macros", str(tmp_path / "macros"))
    assert status == 2 and sentence in messages


PREFIXES = ("WEIR_CONFIG_SOCKETS", "WEIR_OPT_SOCKETS", "WEIR_OPTION_SOCKETS", "WEIR_SOCKETS", "WEIR_CFG_SMALL_SOCKETS")
MEANT = "did you mean WEIR_CFG_SOCKETS? (docs/options.md lists them)"


@pytest.mark.parametrize("name", PREFIXES)
def test_a_prefix_that_is_misspelt_is_told(header, tmp_path, name):
    """By the header, the macros and the commands: a name that ends with an option's."""
    sentence = f"there is no option {name}; {MEANT}"
    status, _, messages = tell("--sources", "small", "--config", header(f"#define {name} 4\n"))
    assert status == 2 and sentence in messages and messages.count("there is no") == 1
    status, messages = macros_of("gcc", f"-D{name}=4", text='#include "weir/socket.h"\n')
    assert status == 2 and sentence in messages
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([{"directory": ".", "file": "one.c", "command": f"cc -D{name}=4 -c one.c"}]))
    status, _, messages = tell("--commands", str(path))
    assert status == 2 and f"{sentence}; it is set for one.c" in messages


def test_names_of_others_are_left_alone(header, tmp_path):
    """Guards, a program's own names, and macros that Weir's sources ask for; in a whole build's commands also what is no option by any spelling."""
    for line in ("WEIR_MYAPP_PRIORITY 3", "WEIR_CONFIG_H 1", "WEIR_OPTIONAL 1", "WEIR_CONFIGS 2", "WEIR_TCP_ECN 7"):
        assert tell("--sources", "small", "--config", header(f"#define {line}\n"))[0] == 0, line
    assert tell("--sources", "small", "--config", header("#ifndef WEIR_CONFIG_H\n#define WEIR_CONFIG_H\n#define WEIR_CONFIGURATION mine\n#define MINE 1\n#endif\n"))[0] == 0
    assert tell("--sources", "small", "--config", header("#define WEIR_TLS_LEAN 1\n"))[0] == 0
    path = tmp_path / "compile_commands.json"
    path.write_text(json.dumps([{"directory": ".", "file": "one.c", "command": "cc -DWEIR_TLS_LEAN -DWEIR_DEMO=1 -DWEIR_TCP_ECN=7 -DCFG_SOCKETS=1 -c one.c"}]))
    assert tell("--commands", str(path)) == (0, [], "")


@pytest.fixture
def header(tmp_path):
    def write(text):
        path = tmp_path / "my config.h"
        path.write_text(text)
        return str(path)
    return write


@pytest.mark.parametrize("flags,sentence", [
    (["-DWEIR_PROFILE=medium"], "WEIR_PROFILE must be tiny, small or full"),
    (["-DWEIR_PROFILE=small", "-DWEIR_PROFILE_TINY"], "two profiles are chosen"),
    (["-DWEIR_PROFILE_SMALL", "-DWEIR_PROFILE_FULL"], "two profiles are chosen"),
    (["-DWEIR_CFG_SOCKETS=0"], "WEIR_CFG_SOCKETS must be 1 to"),
    (["-DWEIR_CFG_TCP_KEEPALIVE=yes"], "yes")])
def test_the_compiler_stops_with_a_sentence(flags, sentence):
    status, messages = compile_with(*flags)
    assert status != 0 and sentence in messages


@pytest.mark.parametrize("flags", [["-DWEIR_PROFILE=small"], ["-DWEIR_PROFILE=small", "-DWEIR_PROFILE_SMALL"], ["-DWEIR_PROFILE_TINY=1"], ["-DWEIR_CFG_SOCKETS=(2*4)"]])
def test_the_compiler_takes_what_is_right(flags):
    assert compile_with("-Wall", "-Wextra", "-Wundef", "-Werror", *flags)[0] == 0


@pytest.mark.parametrize("words,sentence", [
    (["medium"], "there is no profile medium: there are tiny, small, full"),
    (["small", "tiny"], "two profiles are chosen: small and tiny"),
    (["small", "SOCKETS"], "SOCKETS is an option: it is written SOCKETS=VALUE"),
    (["WEIR_CFG_UDP"], "WEIR_CFG_UDP is an option: it is written WEIR_CFG_UDP=VALUE"),
    (["small", "SOKETS=4"], "there is no option WEIR_CFG_SOKETS; did you mean SOCKETS?"),
    (["small", "SOCKETS=0"], "WEIR_CFG_SOCKETS is 0: it must be 1 to"),
    (["small", "SOCKETS=four"], "WEIR_CFG_SOCKETS is `four`: it must be a whole number"),
    (["small", "TCP_SACK=0"], "WEIR_CFG_TCP_PREDICT needs WEIR_CFG_TCP_SACK"),
    (["small", "SOCKETS=4", "WEIR_CFG_SOCKETS=5"], "WEIR_CFG_SOCKETS is set twice"),
    (["small", "--config", "nowhere.h"], "there is no file nowhere.h"), (["small", "--config", "nowhere.h", "SOCKETS=4"], "there is no file nowhere.h")])
def test_the_tool_stops_with_a_sentence(words, sentence):
    status, _, messages = tell("--sources", *words)
    assert status == 2 and sentence in messages


@pytest.mark.parametrize("text,sentence", [
    ("#define WEIR_CFG_SOKETS 4\n", "there is no option WEIR_CFG_SOKETS; did you mean WEIR_CFG_SOCKETS?"),
    ("#define WEIR_OPTION_SOKETS 4\n", "there is no option WEIR_OPTION_SOKETS; did you mean WEIR_CFG_SOCKETS?"),
    ("#define WEIR_CONF_QQQQ 4\n", "there is no option WEIR_CONF_QQQQ (docs/options.md lists them)"),
    ("#define WEIR_PROFILE_MEDIUM\n", "there is no profile medium"),
    ("#define WEIR_PROFILE tiny\n", "two profiles are chosen"), ("#define WEIR_PROFILE_TINY\n", "two profiles are chosen"),
    ("#define WEIR_CFG_SOCKETS\n", "WEIR_CFG_SOCKETS is ``: it must be a whole number"),
    ("#define WEIR_CFG_UDP yes\n", "WEIR_CFG_UDP is `yes`: it must be a whole number"),
    ("#define WEIR_CFG_SOCKETS (1 << 30)\n", "WEIR_CFG_SOCKETS is 1073741824: it must be 1 to"),
    ("#define WEIR_CFG_UDP 0\n#define WEIR_CFG_RAW 1\n", "WEIR_CFG_RAW needs WEIR_CFG_UDP"),
    ("#error my own sentence\n", "my own sentence")])
def test_a_header_that_is_wrong_is_told(header, text, sentence):
    status, _, messages = tell("--sources", "small", "--config", header(text))
    assert status == 2 and sentence in messages


@pytest.mark.parametrize("compiler", ["gcc", "clang", "arm-none-eabi-gcc"])
def test_what_is_set_twice_is_told(header, compiler):
    status, _, messages = tell("--sources", "small", "SOCKETS=4", "--config", header("#define WEIR_CFG_SOCKETS 5\n"), "--cc", compiler)
    assert status == 2 and "WEIR_CFG_SOCKETS is set twice" in messages


@pytest.mark.parametrize("compiler", ["gcc", "clang", "arm-none-eabi-gcc"])
@pytest.mark.parametrize("line", ["#define WEIR_PROFILE_SMALL", "#define WEIR_PROFILE_SMALL 1", "#define WEIR_PROFILE small"])
def test_one_profile_may_be_said_twice(header, line, compiler):
    """By the header and beside it; words may stand before and behind --config."""
    status, values, messages = tell("--values", "small", "--config", header(line + "\n"), "SOCKETS=4", "--cc", compiler)
    assert (status, messages) == (0, "") and "SOCKETS=4" in values


def test_a_header_may_compute_and_choose_the_profile(header):
    path = header("#pragma once\n#include <limits.h>\n#define WEIR_PROFILE small\n#if CHAR_BIT == 8\n#define WEIR_CFG_SOCKETS (2u * 6)\n#endif\n#define WEIR_CFG_UDP 0x0\n")
    status, values, _ = tell("--values", "--config", path)
    assert status == 0 and {"SOCKETS=12", "UDP=0", "COMPACT=0", "TCP_SEND_BYTES=4096"} <= set(values)
    _, sources, _ = tell("--sources", "--config", path)
    assert "src/tcp/connect.c" in sources and "src/udp/udp.c" not in sources and "src/base/wheel.c" not in sources


@pytest.mark.parametrize("words", [["tiny"], ["small"], ["full"], ["small", "UDP=0"], ["tiny", "COMPACT_UDP=1", "FAST_PATH=1"], ["full", "CC_BBR=0"], ["full", "CC_BBR=0", "CC_BBR3=0"],
                                   ["small", "SELF_CHECK=1", "WIDE_DIVISION=1"], ["tiny", "IP4=0", "IP6=1"], ["small", "IP4=0", "IP6=1", "ADDRESSES=4"], ["full", "IP4=0", "IP6=1"],
                                   ["full", "IP6=1", "IGMP=0", "MULTICAST_SOURCES=0"]])
def test_both_lists_of_sources_agree(words):
    """What to compile, as the compiler tells it from packaging/sources.h, is what the table does not leave out."""
    _, sources, _ = tell("--sources", *words)
    _, without, _ = tell("--left-out", *words)
    everything = {str(path.relative_to(ROOT)) for path in (ROOT / "src").rglob("*.c")}
    assert len(sources) == len(set(sources)) and set(sources) == everything - set(without)


def test_a_part_is_built_where_it_can_work(tmp_path):
    """mDNS needs multicast: small has none unless it is asked for."""
    for words, there in ((["small"], False), (["small", "IGMP=1"], True), (["full"], True), (["full", "IGMP=0", "MULTICAST_SOURCES=0"], False)):
        folder = tmp_path / "-".join(words)
        assert tell("--stage", str(folder), *words)[0] == 0
        assert ("apps/mdns/" in (folder / "configuration.mk").read_text()) is there, words


ALONE = """#include "mdns/mdns.h"
static void entropy(void *context, void *out, size_t bytes) { (void)context; while (bytes--) ((uint8_t *)out)[bytes] = 7; }
static enum weir_tx_verdict tx(struct weir_netif *netif, const struct weir_tx *frame) { (void)netif, (void)frame; return WEIR_TX_DONE; }
static const struct weir_driver driver = {.name = "sink", .tx = tx};
static const struct weir_port port = {.entropy = entropy};
static uint64_t memory[16384];
static struct weir_netif netif;
static struct loop loop;
static struct mdns mdns;
int main(void)
{
    struct weir *weir = weir_create(memory, sizeof memory, &port, 0);
    if (!weir)
        return 1;
    loop_init(&loop, weir);
    weir_netif_init(&netif, "eth0", &driver, &weir_link_ethernet);
    netif.mac[0] = 2;
    if (weir_netif_add(weir, &netif) || weir_netif_set_address(&netif, weir_ip4(10, 0, 0, 2), 24, WEIR_ADDRESS_AT_ONCE))
        return 2;
    return mdns_start(&mdns, &loop, &netif, &(struct mdns_config){.host = "kitchen"}) == EXPECTED ? 0 : 3;
}
"""


@pytest.mark.parametrize("words,expected", [([], "WEIR_NOT_SUPPORTED"), (["IGMP=1"], "WEIR_OK")])
def test_a_build_without_multicast_says_so(tmp_path, words, expected):
    """Who compiles mDNS by hand over small, which receives no multicast, is told when it starts, and not by silence."""
    (tmp_path / "alone.c").write_text(ALONE)
    _, sources, _ = tell("--sources", "small", *words)
    (tmp_path / "stack.c").write_text(unit(sources))
    files = [tmp_path / "stack.c", *sorted((ROOT / "apps/mdns").glob("*.c")), *(ROOT / f"apps/{name}.c" for name in ("loop", "service", "text"))]
    subprocess.run(["cc", "-std=c11", "-w", "-DWEIR_PROFILE_SMALL", *(f"-DWEIR_CFG_{word}" for word in words), f"-DEXPECTED={expected}",
                    *(f"-I{ROOT}/{folder}" for folder in ("include", "src", "apps", ".")), tmp_path / "alone.c", *files, "-o", tmp_path / "alone"], check=True)
    assert subprocess.run([tmp_path / "alone"]).returncode == 0


LIBRARY = """#include <weir/instance.h>
struct weir *weir_create(void *memory, size_t bytes, const struct weir_port *port, const struct weir_config *config)
{
    (void)memory, (void)bytes, (void)port, (void)config;
    return 0;
}
"""
PROGRAM = """#include <weir/instance.h>
int main(void) { return weir_create(0, 0, 0, 0) ? 1 : 0; }
"""


def link(folder, library_flags, program_flags, compiler=("cc",)):
    (folder / "library.c").write_text(LIBRARY)
    (folder / "program.c").write_text(PROGRAM)
    for name, flags in (("library", library_flags), ("program", program_flags)):
        subprocess.run([*compiler, f"-I{ROOT}/include", *flags, "-c", folder / f"{name}.c", "-o", folder / f"{name}.o"], check=True)
    done = subprocess.run([*compiler, "-Wl,--gc-sections", folder / "program.o", folder / "library.o", "-o", folder / "program"], capture_output=True, text=True)
    return done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", [("cc",), ("cc", "-O2", "-flto"), ("clang",), ("arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb", "--specs=nosys.specs", "-s")])
def test_another_configuration_does_not_link(tmp_path, compiler):
    small = ["-DWEIR_PROFILE_SMALL"]
    assert link(tmp_path, small, small, compiler)[0]
    assert link(tmp_path, small, ["-DWEIR_PROFILE=small", "-DWEIR_CFG_SOCKETS=(4+4)"], compiler)[0]   # its default
    for other in (["-DWEIR_PROFILE=small", "-DWEIR_CFG_SOCKETS=9"], ["-DWEIR_PROFILE_TINY"], []):
        linked, messages = link(tmp_path, small, other, compiler)
        assert not linked and "weir_create_configuration_" in messages


def test_a_name_in_place_of_the_configuration(tmp_path):
    assert link(tmp_path, ["-DWEIR_CONFIGURATION=any", "-DWEIR_PROFILE=tiny"], ["-DWEIR_CONFIGURATION=any"])[0]


def test_each_option_changes_the_name():
    import tomllib
    names = {}
    for name, option in tomllib.loads((ROOT / "config/options.toml").read_text()).items():
        value = option["full"] + 1 if option["full"] < option["max"] else option["full"] - 1
        text = subprocess.run(["cc", "-E", "-P", "-Iinclude", "-x", "c", "-"], cwd=ROOT, capture_output=True, text=True, check=True, input=f'''
#include "weir/options.h"
#undef WEIR_CFG_{name}
#define WEIR_CFG_{name} {value}
#include "weir/configuration.h"
weir_create''').stdout.split()[-1]
        names.setdefault(text, []).append(name)
    assert all(len(options) == 1 for options in names.values())
