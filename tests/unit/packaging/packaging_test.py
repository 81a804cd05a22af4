# SPDX-License-Identifier: BSD-2-Clause
"""Weir in builds of somebody else's (make packaging): from an installed copy, which is moved, by CMake and pkg-config in C and C++; out of tree by CMake
and Meson; cross-built; and as two files. What is built runs. CAMPAIGN=1 (make packaging): Conan, too; the recipes are in recipes_test.py."""
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import tomllib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "packaging/example"
RECIPES = sorted(path.stem for path in (ROOT / "config/recipes").glob("*.h"))
campaign = pytest.mark.skipif(not os.environ.get("CAMPAIGN"), reason="long: make packaging, or CAMPAIGN=1")
OURS = ("weir_", "bsd_", "WEIR_")
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "CONFIG", "PROFILE", "OPTIONS")}


def run(*words, cwd=ROOT, fails=False, **more):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, env={**ENVIRONMENT, **more})
    assert (done.returncode != 0) == fails, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def globals_of(path, nm="nm"):
    return {words[0] for line in run(nm, "--defined-only", "--extern-only", "--format=posix", path).split("\n") if len(words := line.split()) >= 3}


@pytest.fixture(scope="module")
def header(tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "my_config.h"
    path.write_text("#define WEIR_PROFILE_SMALL\n#define WEIR_CFG_SOCKETS 6\n#define WEIR_CFG_IGMP 1\n")
    return path


@pytest.fixture(scope="module")
def installed(tmp_path_factory, header):
    """The prefix of an installation by make that has been moved since."""
    folder = tmp_path_factory.mktemp("make")
    run("make", "-s", "install", f"CONFIG={header}", f"O={folder / 'build'}", f"DESTDIR={folder / 'root'}", "prefix=/opt/weir", "CFLAGS=-O0 -ffunction-sections -fdata-sections")
    shutil.move(folder / "root/opt/weir", folder / "moved")
    return folder / "moved"


@pytest.mark.parametrize("cross, flags", [("", "gcc -std=c11 -O2 -g "), ("arm-none-eabi-", "arm-none-eabi-gcc -std=c11 -Os -g ")])
def test_a_library_is_optimised_as_it_comes(cross, flags, tmp_path):
    """Where CFLAGS says nothing, as it does for `installed`, which is not optimised: that takes half the time."""
    said = run("make", "-n", "-f", "packaging/library.mk", "lib", "PROFILE=tiny", f"CROSS={cross}", f"O={tmp_path}")
    commands = [line for line in said.splitlines() if re.search(r" -c \S+\.c -o ", line)]
    assert len(commands) > 10 and all(line.startswith(flags) for line in commands)


def run_all(folder, names=("answer", "answer_cxx", "sockets")):
    for name in names:
        run(folder / name)


def configure(folder, *words, fails=False):
    return run("cmake", "-G", "Ninja", "-S", EXAMPLE, "-B", folder, *words, fails=fails)


def test_an_installed_copy_by_cmake(installed, tmp_path):
    configure(tmp_path, "-DWEIR_FROM=package", f"-DCMAKE_PREFIX_PATH={installed}", "-DWEIR_COMPONENTS=bsd;posix;superloop;apps")
    run("cmake", "--build", tmp_path)
    run("cmake", "--build", tmp_path, "--target", "memory")   # WEIR_MEMORY_BYTES is what the installed library says of itself
    run(tmp_path / "memory")
    run_all(tmp_path)


def test_a_part_that_is_not_installed_is_told(installed, tmp_path):
    assert "weir was installed without tls" in configure(tmp_path, "-DWEIR_FROM=package", f"-DCMAKE_PREFIX_PATH={installed}", "-DWEIR_COMPONENTS=tls", fails=True)


def test_an_installed_copy_by_pkg_config(installed, tmp_path):
    def ask(*words):
        return run("pkg-config", "--define-prefix", *words, PKG_CONFIG_PATH=str(installed / "lib/pkgconfig")).split()
    version = re.search(r'STRING "(.*)"', (ROOT / "include/weir/version.h").read_text()).group(1)
    assert ask("--modversion", "weir") == [version] and ask("--exists", "weir-apps") == []
    for compiler, language, package, source in (("cc", "c", "weir", "answer.c"), ("c++", "c++", "weir", "answer.c"), ("cc", "c", "weir-bsd weir-posix", "sockets.c"), ("cc", "c", "weir", "memory.c")):
        run(compiler, "-Wall", "-Wextra", "-Werror", "-x", language, EXAMPLE / source, "-x", "none", *ask("--cflags", "--libs", *package.split()), "-o", tmp_path / "program")
        run(tmp_path / "program")


def test_a_program_cannot_change_the_configuration(installed, tmp_path):
    words = ["cc", f"-I{installed}/include", EXAMPLE / "answer.c", "-fsyntax-only"]
    run(*words, "-DWEIR_PROFILE_SMALL", "-DWEIR_CFG_SOCKETS=6")
    assert "this library was built with WEIR_CFG_SOCKETS 6" in run(*words, "-DWEIR_CFG_SOCKETS=9", fails=True)
    assert "this library was built with the profile small" in run(*words, "-DWEIR_PROFILE_TINY", fails=True)


def test_a_program_of_another_configuration_does_not_link(installed, tmp_path):
    """Compiled with the headers of the sources, as it happens, in place of the installed ones."""
    messages = run("cc", "-Iinclude", "-DWEIR_PROFILE=small", EXAMPLE / "answer.c", installed / "lib/libweir.a", "-o", tmp_path / "program", fails=True)
    assert "weir_create_configuration_" in messages
    run("cc", "-Iinclude", "-DWEIR_PROFILE=small", "-DWEIR_CFG_SOCKETS=6", "-DWEIR_CFG_IGMP=1", EXAMPLE / "answer.c", installed / "lib/libweir.a", "-o", tmp_path / "program")


def test_nothing_of_it_meets_another_stack(installed, tmp_path):
    """All of the libraries beside functions that lwIP and others have, too: no name of theirs is without a prefix of ours."""
    libraries = sorted((installed / "lib").glob("*.a"))
    assert len(libraries) > 10
    for library in libraries:
        names = globals_of(library)
        assert names and all(name.startswith(OURS) for name in names), library
    taken = ("tcp_close", "tcp_input", "udp_bind", "ip4_input", "icmp_input", "igmp_input", "dhcp_start", "loop_init", "http_respond", "mqtt_start", "json_read", "port_init",
             "tap_open", "pcap_open", "trace_start", "text_put", "update_begin", "shell_add", "mdns_send", "posix_host_init", "core_init", "wrap_tx")
    (tmp_path / "other.c").write_text("".join(f"int {name}(void);\nint {name}(void) {{ return 0; }}\n" for name in taken))
    run("cc", "-c", tmp_path / "other.c", "-o", tmp_path / "other.o")
    run("cc", "-r", "-nostdlib", tmp_path / "other.o", "-Wl,--whole-archive", *libraries, "-o", tmp_path / "together.o")
    run("cc", f"-I{installed}/include", EXAMPLE / "answer.c", tmp_path / "other.o", "-Wl,--whole-archive", installed / "lib/libweir.a", "-Wl,--no-whole-archive", "-o", tmp_path / "program")
    run(tmp_path / "program")


@pytest.mark.parametrize("words", [("gcc", "-std=c11"), ("gcc", "-std=c2x"), ("clang", "-std=c2x"), ("g++", "-std=c++17", "-x", "c++"), ("clang++", "-std=c++17", "-x", "c++")])
def test_installed_headers_are_clean(words, installed, tmp_path):
    """All of them, those of the parts too, under the warnings that a user may have."""
    below = installed / "include"
    headers = sorted(path.relative_to(below) for path in below.rglob("*.h") if path.name != "posix_names.h")   # it gives the system's names to Weir
    assert len(headers) > 100
    (tmp_path / "all.c").write_text("".join(f'#include "{path}"\n' for path in headers))
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Wconversion", "-Werror", "-Wno-unused-const-variable"]
    folders = ["", "weir/parts", "weir/parts/api", "weir/parts/apps"]
    run(words[0], *strict, *(f"-I{below / folder}" for folder in folders), *words[1:], "-fsyntax-only", tmp_path / "all.c")


def test_a_part_has_the_names_of_its_headers(installed, tmp_path):
    """Every function that an installed header of a part declares is in its library, by the name that a call of it asks for."""
    below = installed / "include/weir"
    for part in (path.stem for path in (below / "linkage").glob("*.h")):
        names = re.findall(r"^#pragma redefine_extname (\w+) weir_\1$", (below / f"linkage/{part}.h").read_text(), re.M)
        names = [name for name in names if not name.startswith("dhcp6_")]   # which IPv6 has
        found = globals_of(installed / f"lib/libweir-{part}.a")
        assert {f"weir_{name}" for name in names} - found == set(), part
        headers = [path.relative_to(below / "parts") for path in sorted((below / "parts").rglob("*.h")) if f"linkage/{part}.h" in path.read_text()]
        calls = ", ".join(f"(const void *)&{name}" for name in names)
        (tmp_path / "calls.c").write_text("".join(f'#include "{path}"\n' for path in headers) + f"const void *const called[] = {{{calls}}};\n")
        run("cc", "-w", f"-I{installed}/include", f"-I{below}/parts", f"-I{below}/parts/apps", f"-I{below}/parts/api", "-c", tmp_path / "calls.c", "-o", tmp_path / "calls.o")
        asked = {line.split()[0] for line in run("nm", "--undefined-only", "--format=posix", tmp_path / "calls.o").splitlines()}
        assert {f"weir_{name}" for name in names} - asked == set(), part


# --- a guest in somebody else's build ------------------------------------------------------------------------------------------------

HOSTED = [name for name, part in tomllib.loads((ROOT / "config/parts.toml").read_text()).items() if part.get("only") == "hosted"]
PARENT = """\
cmake_minimum_required(VERSION 3.16)
project(parent VERSION 9.8 DESCRIPTION "the parent's" LANGUAGES C CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(BUILD_SHARED_LIBS ON)
set(BUILD_TESTING ON CACHE BOOL "the parent's")
set(CMAKE_INSTALL_LIBDIR elsewhere CACHE PATH "the parent's")
enable_testing()
add_test(NAME parents COMMAND true)
add_compile_options(-Wall -Wextra -Werror)
include_directories(own)
set(WEIR_PROFILE small)
foreach(name compiler flags header headers library name out part parts prefix profile source sources targets text version words)
    set(${name} "the parent's")
endforeach()
macro(write_down _seen_file)
    set(_seen_text "")
    get_cmake_property(_seen_names VARIABLES)
    foreach(_seen IN LISTS _seen_names)
        string(APPEND _seen_text "${_seen}\x01${${_seen}}\x02")
    endforeach()
    get_cmake_property(_seen_names CACHE_VARIABLES)
    foreach(_seen IN LISTS _seen_names)
        string(APPEND _seen_text "${_seen} (cache)\x01$CACHE{${_seen}}\x02")
    endforeach()
    foreach(_seen COMPILE_DEFINITIONS COMPILE_OPTIONS INCLUDE_DIRECTORIES LINK_DIRECTORIES LINK_OPTIONS TESTS)
        get_property(_seen_value DIRECTORY PROPERTY ${_seen})
        string(APPEND _seen_text "${_seen} (folder)\x01${_seen_value}\x02")
    endforeach()
    file(WRITE "${CMAKE_BINARY_DIR}/${_seen_file}" "${_seen_text}")
endmacro()
set(_seen_value "")
write_down(before)
if(FROM STREQUAL "package")
    find_package(weir REQUIRED COMPONENTS http bsd)
else()
    add_subdirectory("${FROM}" weir)
    get_property(_seen_value DIRECTORY "${FROM}" PROPERTY BUILDSYSTEM_TARGETS)
    file(WRITE "${CMAKE_BINARY_DIR}/targets" "${_seen_value}")
endif()
write_down(after)
add_executable(alone alone.c)
add_executable(guest guest.c)
target_link_libraries(guest PRIVATE weir::weir weir::http weir::bsd)
"""
GUEST = """\
#include <weir/instance.h>
#include "bsd/weir_bsd.h"
#include "http/server.h"
int main(int count, char **words)
{
    if (count > 1)
        http_resume((struct http_connection *)(void *)words);
    return count > 2 && weir_create(0, 0, 0, 0) && bsd_create(0, 0);
}
"""


def headers_of_others(folder, but=()):
    """Headers of somebody else's by the names that Weir's have, without weir/ before them: whoever includes one is told."""
    names = {path.relative_to(ROOT / top) for top in ("src", "api", "apps", "include/weir") for path in (ROOT / top).rglob("*.h")} - {pathlib.Path(name) for name in but}
    assert {"socket.h", "error.h", "loop.h", "http/message.h"} <= {str(name) for name in names}
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text('#error "this is no header of Weir"\n')
    return folder


def written_down(path):
    return dict(entry.split("\x01", 1) for entry in path.read_text().split("\x02") if entry)


@pytest.mark.parametrize("way", ["package", "subdirectory"])
def test_a_parent_project_keeps_what_is_its_own(way, request, tmp_path):
    """Its variables, cached or not, its flags, its tests and its headers; nothing of them changes how Weir is built, and all that Weir brings has its name."""
    headers_of_others(tmp_path / "own", but=("bsd/weir_bsd.h", "http/server.h"))
    (tmp_path / "CMakeLists.txt").write_text(PARENT)
    (tmp_path / "alone.c").write_text("int main(void) { return 0; }\n")
    (tmp_path / "guest.c").write_text(GUEST)
    whence = ["-DFROM=package", f"-DCMAKE_PREFIX_PATH={request.getfixturevalue('installed')}"] if way == "package" else [f"-DFROM={ROOT}"]
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b", *whence)
    before, after = (written_down(tmp_path / "b" / name) for name in ("before", "after"))
    assert before["BUILD_TESTING (cache)"] == "ON" and before["TESTS (folder)"] == "parents" and "version" in before
    changed = {name for name in before if name not in after or after[name] != before[name]}
    assert not {name for name in changed if not name.startswith("_seen")}
    assert not {name for name in after.keys() - before.keys() if not re.match("(?i)_?weir_|_seen", name)}
    if way == "subdirectory":
        assert all(name.startswith("weir") for name in (tmp_path / "b/targets").read_text().split(";"))
    run("cmake", "--build", tmp_path / "b", "--target", "guest")
    commands = {pathlib.Path(entry["file"]).name: entry["command"] for entry in json.loads((tmp_path / "b/compile_commands.json").read_text())}
    alone, guest = (set(commands[f"{name}.c"].replace(name, "").split()) for name in ("alone", "guest"))
    assert alone - guest == set() and all(word.startswith(("-I", "-isystem", "/")) for word in guest - alone), guest - alone
    if way == "subdirectory":
        assert "-Werror" in commands["instance.c"] and "-std=c11" in commands["instance.c"]
    assert re.search(r"Total Tests: 1\b", run("ctest", "-N", cwd=tmp_path / "b"))
    link = run("ninja", "-C", tmp_path / "b", "-t", "commands", "guest").strip().splitlines()[-1]
    assert "libweir-http.a" in link and "thread" not in link and "-lm" not in link.split()


def test_headers_have_one_way_to_them(installed, tmp_path):
    """One -I reaches every installed header, and what it includes is Weir's, whatever others have of the same name. Without weir/ before it none of the stack's
    is reached, and none of the parts' has a name that a header of the compiler's has."""
    own, below = headers_of_others(tmp_path / "own"), installed / "include"
    headers = sorted(path.relative_to(below) for path in below.rglob("*.h") if path.name != "posix_names.h")
    (tmp_path / "all.c").write_text("".join(f"#include <{header}>\n" for header in headers))
    run("cc", "-std=c11", f"-I{own}", f"-I{below}", "-fsyntax-only", tmp_path / "all.c")
    assert {path.name for path in below.iterdir()} == {"weir", "weir_memory.h"}
    folders = {word.removeprefix("-I") for path in (installed / "lib/pkgconfig").glob("*.pc")
               for word in run("pkg-config", "--define-prefix", "--cflags", path.stem, PKG_CONFIG_PATH=str(path.parent)).split()}
    assert folders == {str(below), *(str(below / f"weir/parts{folder}") for folder in ("", "/api", "/apps"))}
    names = {str(path.relative_to(folder)) for folder in folders - {str(below)} for path in pathlib.Path(folder).rglob("*.h")}
    assert "loop.h" in names and "socket.h" not in names
    for compiler in ("gcc", "g++", "clang", "arm-none-eabi-gcc", "arm-none-eabi-g++"):
        said = run(compiler, "-E", "-v", "-x", "c++" if "++" in compiler else "c", "/dev/null")
        theirs = re.findall(r"^ (/\S+)$", said.partition("#include <...>")[2].partition("End of search list")[0], re.M)
        assert theirs and not [name for name in names for folder in theirs if (pathlib.Path(folder) / name).exists()]


def test_the_system_is_asked_for_by_hosted_parts_alone(installed, tmp_path):
    """Neither threads nor mathematics are linked for the others; what their objects call are functions of memory and strings, no printf (newlib-nano's
    has no numbers of 64 bits), and the compiler's own. No part for boards formats by printf either."""
    for path in (installed / "lib/pkgconfig").glob("*.pc"):
        words = run("pkg-config", "--define-prefix", "--static", "--libs", path.stem, PKG_CONFIG_PATH=str(path.parent)).split()
        assert path.stem.removeprefix("weir-") in HOSTED or all(word.startswith(("-L", "-lweir")) for word in words), words
    parts = [path.stem.removeprefix("weir-") for path in (installed / "lib/pkgconfig").glob("weir-*.pc") if path.stem != "weir-posix"]
    flags = "-Os -mcpu=cortex-m3 -mthumb -ffunction-sections"
    run("make", "-s", "-j2", "lib", "PROFILE=full", "CROSS=arm-none-eabi-", f"CFLAGS={flags}", f"PARTS={' '.join(parts)}", f"O={tmp_path}")
    asked = {}
    for library in tmp_path.glob("*.a"):
        for line in run("arm-none-eabi-nm", "--undefined-only", "--extern-only", "--format=posix", library).splitlines():
            if len(words := line.split()) >= 2 and not words[0].startswith(("weir_", "bsd_", "__aeabi_")):
                asked.setdefault(library.stem.removeprefix("libweir-"), set()).add(words[0])
    plain = {"__errno", "memchr", "memcmp", "memcpy", "memmove", "memset", "strchr", "strcmp", "strcpy", "strlen", "strncmp", "strstr"}
    assert "libweir" in asked and set(asked) <= {"libweir", *parts}
    assert {name for part, names in asked.items() if part not in HOSTED for name in names} <= plain, asked
    assert not [name for names in asked.values() for name in names if re.search("printf|scanf|strto|pthread", name)], asked


@pytest.mark.parametrize("compiler", [["gcc"], ["clang"], ["g++", "-x", "c++"]])
@pytest.mark.parametrize("named, call", [("shell/shell.h", "shell_add_tcpdump(0, 0)"), ("status/capture.h", "status_server_offer_capture(0, 0, 0)")])
def test_a_capture_without_taps_stops_the_build(compiler, named, call, installed, tmp_path):
    """The small profile has none: a program that wants a capture is told which option it lacks, not by a linker."""
    (tmp_path / "program.c").write_text(f'#include "{named}"\nint main(void) {{ {call}; return 0; }}\n')
    flags = ["-c", tmp_path / "program.c", "-o", tmp_path / "program.o"]
    said = run(*compiler, f"-I{installed}/include", f"-I{installed}/include/weir/parts/apps", *flags, fails=True)
    assert "needs WEIR_CFG_HANDLERS" in said and len([line for line in said.splitlines() if " error: " in line]) == 1
    run(*compiler, "-DWEIR_CFG_HANDLERS=1", f"-I{ROOT}/include", f"-I{ROOT}/apps", *flags)


def test_no_path_of_the_build_is_installed(installed):
    for path in installed.rglob("*"):
        if path.is_file() and path.suffix != ".a":
            assert str(ROOT) not in path.read_text() and "/opt/weir" not in path.read_text().replace("prefix=/opt/weir", ""), path


def test_cmake_and_make_install_the_same(installed, header, tmp_path):
    run("cmake", "-G", "Ninja", "-S", ROOT, "-B", tmp_path / "b", f"-DWEIR_CONFIG_FILE={header}", "-DCMAKE_INSTALL_PREFIX=/opt/weir")
    run("cmake", "--build", tmp_path / "b")
    run("cmake", "--install", tmp_path / "b", DESTDIR=str(tmp_path / "root"))
    other = tmp_path / "root/opt/weir"
    files = {path.relative_to(installed) for path in installed.rglob("*") if path.is_file()}
    assert files == {path.relative_to(other) for path in other.rglob("*") if path.is_file()}
    for path in files:
        if path.suffix == ".a":
            assert globals_of(installed / path) == globals_of(other / path)
        else:
            assert (installed / path).read_text() == (other / path).read_text(), path


def test_the_sources_by_cmake(tmp_path):
    """What was fetched is built by the same commands as a folder."""
    commands = {}
    for way, folder in (("fetch", "_deps/weir-build"), ("subdirectory", "weir")):
        configure(tmp_path / way, f"-DWEIR_FROM={way}", f"-DWEIR_SOURCES={ROOT}", "-DWEIR_PROFILE=small", "-DWEIR_OPTIONS=SOCKETS=5;UDP=1")
        said = run("ninja", "-C", tmp_path / way, "-t", "commands", "answer", "answer_cxx", "sockets")
        commands[way] = sorted(re.sub(rf"(?<![\w/.-]){folder}(?=[/\s])", "FOLDER", said.replace(f"{tmp_path / way}/", "@")).splitlines())
        options = tmp_path / way / folder / "weir/include/weir/options.h"
        assert "#define WEIR_CFG_SOCKETS 5\n" in options.read_text()
    assert commands["fetch"] == commands["subdirectory"] and len(commands["fetch"]) > 50
    run("cmake", "--build", tmp_path / "subdirectory")
    run_all(tmp_path / "subdirectory")
    assert not (tmp_path / "subdirectory/weir/libweir-apps.a").exists()   # nobody asked for it


def test_memory_known_when_compiling_by_cmake(tmp_path):
    configure(tmp_path, "-DWEIR_FROM=subdirectory", f"-DWEIR_SOURCES={ROOT}", "-DWEIR_PROFILE=tiny", "-DWEIR_OPTIONS=SOCKETS=5")
    run("cmake", "--build", tmp_path, "--target", "memory")
    run(tmp_path / "memory")


def test_a_cross_build_by_cmake(tmp_path):
    configure(tmp_path, "-DWEIR_FROM=subdirectory", f"-DWEIR_SOURCES={ROOT}", "-DWEIR_PROFILE=tiny", f"-DCMAKE_TOOLCHAIN_FILE={EXAMPLE}/arm-none-eabi.cmake")
    run("cmake", "--build", tmp_path, "--target", "weir", "weir-superloop")
    assert all(name.startswith(OURS) for name in globals_of(tmp_path / "weir/libweir.a", "arm-none-eabi-nm"))


@pytest.mark.parametrize("words,sentence", [
    (["-DWEIR_PROFILE=medium"], "there is no profile medium"), (["-DWEIR_OPTIONS=SOKETS=4"], "there is no option WEIR_CFG_SOKETS"),
    (["-DWEIR_OPTIONS=SOCKETS=0"], "WEIR_CFG_SOCKETS must be 1 to"), (["-DWEIR_OPTIONS=TCP_KEEPALIVE=yes"], "it must be a whole number"),
    (["-DWEIR_OPTIONS=SOCKETS"], "`SOCKETS` is no option with a value"), (["-DWEIR_OPTIONS=SOCKETS=4 UDP=0"], "is no option with a value: they are written SOCKETS=4;UDP=0"),
    (["-DWEIR_OPTIONS=WEIR_CFG_SOCKETS=0"], "WEIR_CFG_SOCKETS must be 1 to"), (["-DCMAKE_C_FLAGS=-DWEIR_CFG_WEIR_CFG_SOCKETS=4"], "there is no option WEIR_CFG_WEIR_CFG_SOCKETS"),
    (["-DWEIR_OPTIONS=TCP_KEEPALIVE=false"], "WEIR_CFG_TCP_KEEPALIVE is `false`: it must be a whole number"), (["-DWEIR_CONFIG_FILE=/"], "there is no file /"),
    (["-DCMAKE_C_FLAGS=-DWEIR_CFG_SOKETS=4"], "there is no option WEIR_CFG_SOKETS"),
    (["-DCMAKE_C_FLAGS=-DWEIR_CONFIG_SOCKETS=4"], "there is no option WEIR_CONFIG_SOCKETS; did you mean WEIR_CFG_SOCKETS?"), (["-DWEIR_CONFIG_FILE=nowhere.h"], "there is no file")])
def test_cmake_stops_with_a_sentence(words, sentence, tmp_path):
    assert sentence in re.sub(r"\s+", " ", configure(tmp_path, "-DWEIR_FROM=subdirectory", f"-DWEIR_SOURCES={ROOT}", *words, fails=True))


@pytest.mark.parametrize("line,sentence", [
    ("WEIR_SOCKETS 4", "there is no option WEIR_SOCKETS; did you mean WEIR_CFG_SOCKETS? (docs/options.md lists them)"),
    ("WEIR_KONFIG_TCP_SACK 0", "there is no option WEIR_KONFIG_TCP_SACK; did you mean WEIR_CFG_TCP_SACK?"),
    ("WEIR_OPTION_SOKETS 4", "there is no option WEIR_OPTION_SOKETS (docs/options.md lists them)"),
    *((line, "") for line in ("WEIR_MYAPP_PRIORITY 3", "WEIR_CONFIG_H 1", "WEIR_OPTION_H", "WEIR_CONFIGS 2", "WEIR_TCP_ECN 7", "WEIR_OPTION_ECN 1"))])
def test_a_name_in_the_header_is_looked_at_by_cmake(line, sentence, tmp_path):
    (tmp_path / "my_config.h").write_text(f"#define {line}\n#define WEIR_CFG_SOCKETS 6\n")
    said = configure(tmp_path / "b", "-DWEIR_FROM=subdirectory", f"-DWEIR_SOURCES={ROOT}", f"-DWEIR_CONFIG_FILE={tmp_path / 'my_config.h'}", fails=bool(sentence))
    assert sentence in re.sub(r"\s+", " ", said)


@pytest.mark.parametrize("line,sentence", [
    ("target_compile_definitions(answer PRIVATE MINE=1 WEIR_CFG_SOKETS=4)", "there is no option WEIR_CFG_SOKETS (docs/options.md lists them); it is set for answer"),
    ("target_compile_options(answer_cxx PRIVATE -O1 -DWEIR_PROFILE_MEDIUM)", "there is no WEIR_PROFILE_MEDIUM: profiles are tiny, small, full; it is set for answer_cxx"),
    ("target_compile_definitions(answer PRIVATE MINE=1 WEIR_SOCKETS=4)", "there is no option WEIR_SOCKETS; did you mean WEIR_CFG_SOCKETS? (docs/options.md lists them); it is set for answer"),
    ("target_compile_definitions(answer PRIVATE MY_WEIR_CFG_X=1 WEIR_CFG_SOCKETS=4 WEIR_TCP_ECN=7 WEIR_MYAPP_PRIORITY=3)", "")])
def test_what_a_program_is_told_is_looked_at_by_cmake(line, sentence, tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "example")
    (tmp_path / "example/CMakeLists.txt").write_text((EXAMPLE / "CMakeLists.txt").read_text() + line + "\n")
    said = run("cmake", "-G", "Ninja", "-S", tmp_path / "example", "-B", tmp_path / "b", "-DWEIR_FROM=subdirectory", f"-DWEIR_SOURCES={ROOT}", fails=bool(sentence))
    assert sentence in re.sub(r"\s+", " ", said)


@pytest.mark.parametrize("words,sentence", [
    (["PROFILE=medium"], "there is no profile medium"), (["OPTIONS=SOKETS=4"], "there is no option WEIR_CFG_SOKETS; did you mean SOCKETS?"),
    (["OPTIONS=-DWEIR_CFG_SOKETS=4"], "an option is written NAME=VALUE here"),
    (["CFLAGS=-DWEIR_CFG_SOKETS=4"], "there is no option WEIR_CFG_SOKETS"), (["CPPFLAGS=-D WEIR_CFG_SOKETS=4"], "there is no option WEIR_CFG_SOKETS"), (["CONFIG=nowhere.h"], "there is no file nowhere.h"), (["PARTS=tls"], "there is no tls"),
    (["PROFILE=small", "SOCKETS=4"], 'SOCKETS is an option: OPTIONS="SOCKETS=4"'), (["WEIR_CFG_UDP=0"], 'WEIR_CFG_UDP is an option: OPTIONS="UDP=0"')])
def test_make_stops_with_a_sentence(words, sentence, tmp_path):
    assert sentence in run("make", "-s", "lib", f"O={tmp_path}", *words, fails=True)


def test_make_tells_of_a_name_that_means_nothing(tmp_path):
    said = run("make", "sources", f"O={tmp_path}", "PROFLE=tiny", "OPTION=UDP=0")
    assert "nothing here is called PROFLE" in said and "nothing here is called OPTION:" in said
    assert "nothing here" not in run("make", "sources", f"O={tmp_path}", "PROFILE=tiny", "OPTIONS=SOCKETS=3", "CFLAGS=-Os", "prefix=/usr")


def test_make_lists_nothing_but_sources(tmp_path):
    lines = run("make", "sources", f"O={tmp_path}", "PROFILE=tiny").split()
    assert lines and all((ROOT / line).is_file() for line in lines)


def test_make_lists_the_sources(header):
    listing = run("make", "-s", "sources", f"CONFIG={header}").split()
    assert "src/ip/igmp.c" in listing and "src/base/wheel.c" not in listing and all((ROOT / path).is_file() for path in listing)


def meson(folder, *words, fails=False):
    return re.sub(r"\s+", " ", run("meson", "setup", "b", *words, cwd=folder, fails=fails))


@pytest.fixture
def meson_build(tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "example")
    (tmp_path / "example/subprojects").mkdir()
    (tmp_path / "example/subprojects/weir").symlink_to(ROOT)
    return tmp_path / "example"


def test_the_sources_by_meson(meson_build):
    meson(meson_build, "-Dweir:profile=small")
    run("ninja", "-C", "b", cwd=meson_build)
    run("ninja", "-C", "b", "memory", cwd=meson_build)
    run_all(meson_build / "b", ("answer", "memory"))
    names = globals_of(meson_build / "b/subprojects/weir/libweir.a")
    assert names and all(name.startswith(OURS) for name in names)


@pytest.mark.parametrize("text,sentence", [
    ("#define WEIR_CFG_SOKETS 4", "there is no option WEIR_CFG_SOKETS; did you mean WEIR_CFG_SOCKETS?"), ("#define WEIR_PROFILE tiny", "two profiles are chosen"),
    ("#define WEIR_CFG_UDP false", "WEIR_CFG_UDP is `false`: it must be a whole number"), ("#define WEIR_CFG_SOCKETS", "WEIR_CFG_SOCKETS is ``: it must be a whole number"),
    ("#define WEIR_CFG_SOCKETS 0", "WEIR_CFG_SOCKETS is 0: it must be 1 to"), ("#define WEIR_CFG_UDP 0\n#define WEIR_CFG_RAW 1", "WEIR_CFG_RAW needs WEIR_CFG_UDP"),
    (None, "there is no file")])
def test_a_header_that_is_wrong_is_told_by_meson(text, sentence, meson_build):
    if text:
        (meson_build / "mine.h").write_text(text + "\n")
    assert sentence in meson(meson_build, "-Dweir:profile=small", "-Dweir:config_file=mine.h", fails=True)


def test_meson_reads_a_header_again_that_was_changed(meson_build):
    def has_udp():
        return "src/udp/udp.c" in run("meson", "introspect", "--targets", "b", cwd=meson_build)
    (meson_build / "mine.h").write_text("#define WEIR_PROFILE_SMALL\n")
    meson(meson_build, "-Dweir:config_file=mine.h", "-Dweir:profile=small")   # the same profile by both is no contradiction
    run("ninja", "-C", "b", "subprojects/weir/weir-commands", cwd=meson_build)
    assert has_udp()
    (meson_build / "mine.h").write_text("#define WEIR_PROFILE_SMALL\n#define WEIR_CFG_UDP 0\n")
    run("ninja", "-C", "b", "subprojects/weir/weir-commands", cwd=meson_build)
    assert not has_udp()


def test_the_commands_of_the_page_work_with_its_header(tmp_path):
    """Literally, as a stranger types them: those below docs/packaging.md's `my_config.h` that name it."""
    blocks = re.findall(r"(?:^    .*\n)+", (ROOT / "docs/packaging.md").read_text(), re.M)
    header = next(block for block in blocks if "#define WEIR_PROFILE" in block)
    (tmp_path / "my_config.h").write_text(re.sub(r"^    ", "", header, flags=re.M))
    commands = [line.strip() for block in blocks for line in block.replace("\\\n", " ").splitlines() if "my_config.h" in line]
    assert len(commands) == 5, commands
    for command in commands:
        command = command.partition(" #")[0].replace("my_config.h", str(tmp_path / "my_config.h")).replace("O=out", f"O={tmp_path / 'out'}")
        if command.startswith(("make lib", "make arduino")):   # whose library is not to be that of this tree
            command = command.replace("make ", f"make O={tmp_path / 'out'} B={tmp_path / 'b'} ") + " -j2"
        run("sh", "-c", command)


@pytest.mark.parametrize("before", ["add_global_arguments('-DWEIR_CFG_SOKETS=4', language: 'c')", "add_project_arguments('-D', 'WEIR_CFG_SOKETS', language: 'c')"])
def test_what_a_program_is_told_is_looked_at_by_meson(before, meson_build):
    (meson_build / "meson.build").write_text((EXAMPLE / "meson.build").read_text().replace("weir =", f"{before}\nweir =", 1))
    meson(meson_build, "-Dweir:profile=small")
    assert "there is no option WEIR_CFG_SOKETS; did you mean WEIR_CFG_SOCKETS?" in run("ninja", "-C", "b", cwd=meson_build, fails=True)


@pytest.mark.parametrize("profile, options", [("tiny", ""), ("small", ""), ("full", ""), ("small", "UDP=0"), ("small", "IP6=1 ADDRESSES=4 IGMP=1 MULTICAST_GROUPS=4"),
                                              ("small", "IP4=0 IP6=1 ADDRESSES=4"), ("full", "IP4=0 IP6=1")])
def test_two_files_by_hand(profile, options, tmp_path):
    run("make", "-s", "amalgamation", f"PROFILE={profile}", f"OPTIONS={options}", f"O={tmp_path}")
    assert str(ROOT) not in (tmp_path / "weir.c").read_text() + (tmp_path / "weir.h").read_text()
    strict = ["-Wall", "-Wextra", "-Wshadow", "-Wundef", "-Werror", "-DTWO_FILES", f"-I{tmp_path}"]
    run("gcc", "-std=c11", "-O0", "-flto", *strict, "-c", tmp_path / "weir.c", "-o", tmp_path / "whole.o")
    asked = set(run("gcc-nm", "-u", tmp_path / "whole.o").split()) - {"U", "memcpy", "memmove", "memset", "memcmp"}
    assert not {name for name in asked if not name.startswith("_")}   # all of it must be there
    run("cc", "-std=c11", "-O2", *strict, EXAMPLE / "answer.c", tmp_path / "weir.c", "-o", tmp_path / "answer")  # other warnings are told where more is known
    status = subprocess.run([tmp_path / "answer"]).returncode
    assert status == (3 if "IP4=0" in options else 0)  # IPv6 alone refuses an address of IPv4
    metal = ["-mcpu=cortex-m4", "-mthumb", "-O0" if options else "-Os", "-ffunction-sections", "-fdata-sections"]
    run("arm-none-eabi-gcc", "-std=c11", *metal, *strict, "-c", tmp_path / "weir.c", "-o", tmp_path / "weir.o")
    names = globals_of(tmp_path / "weir.o", "arm-none-eabi-nm")
    assert names and all(name.startswith("weir_") for name in names)
    run("arm-none-eabi-gcc", "-std=c11", *metal, *strict, EXAMPLE / "answer.c", tmp_path / "weir.o", "--specs=nosys.specs", "-Wl,--gc-sections", "-o", tmp_path / "answer.elf")
    run("g++", "-std=c++17", *strict, "-x", "c++", EXAMPLE / "answer.c", "-fsyntax-only")


def by_wrap(folder, archive):
    """A Meson build that has the release's tarball and its wrap, and no network."""
    shutil.copytree(EXAMPLE, folder)
    (folder / "subprojects/packagefiles").mkdir(parents=True)
    shutil.copy(archive, folder / "subprojects/packagefiles")
    shutil.copy(archive.parent / "weir.wrap", folder / "subprojects")
    run("meson", "setup", "b", "-Dweir:profile=tiny", cwd=folder)
    run("ninja", "-C", "b", cwd=folder)
    run(folder / "b/answer")


@pytest.mark.parametrize("profile", ["tiny", "small", pytest.param("full", marks=campaign)])
def test_memory_known_when_compiling(profile, tmp_path):
    """An instance in just so many bytes, none in one fewer, and the reason."""
    run("make", "-s", "memory", "amalgamation", f"PROFILE={profile}", f"O={tmp_path}")
    run("cc", "-std=c11", "-O0", "-Wall", "-Wextra", "-Werror", "-DTWO_FILES", f"-I{tmp_path}", EXAMPLE / "memory.c", tmp_path / "weir.c", "-o", tmp_path / "memory")
    run(tmp_path / "memory")


def test_the_page_of_recipes_has_their_options():
    page = (ROOT / "docs/recipes.md").read_text()
    for path in (ROOT / f"config/recipes/{recipe}.h" for recipe in RECIPES):
        _, _, section = page.partition(f"`config/recipes/{path.name}`")
        options = re.findall(r"^#define WEIR_CFG_(\w+ \d+)", path.read_text(), re.M)
        assert options and [option.replace(" ", "=") for option in options] == re.findall(r"\w+=\d+", section.partition("\n## ")[0]), path.name


def test_a_release(tmp_path):
    run("make", "-s", "dist")
    first = {path.name: path.read_bytes() for path in (ROOT / "build/dist").iterdir()}
    run("sha256sum", "--check", "SHA256SUMS", cwd=ROOT / "build/dist")
    archive = next(path for path in (ROOT / "build/dist").iterdir() if path.name.endswith(".tar.gz"))
    run("tar", "-xzf", archive, "-C", tmp_path)
    unpacked = next(tmp_path.iterdir())
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    spdx, cyclonedx = (json.loads(next(path for path in archive.parent.iterdir() if path.name.endswith(kind)).read_text()) for kind in (".spdx.json", ".cdx.json"))
    about = cyclonedx["metadata"]["component"]
    assert spdx["packages"][0]["checksums"][0]["checksumValue"] == about["hashes"][0]["content"] == digest
    assert archive.name == f"weir-{about['version']}.tar.gz" and about["purl"] == spdx["packages"][0]["externalRefs"][0]["referenceLocator"]
    address = run("git", "log", "-1", "--format=%ae", cwd=ROOT).strip()   # SECURITY.md says that it stands there
    assert about["supplier"]["contact"] == [{"email": address}] and f"({address})" in spdx["packages"][0]["supplier"]
    run("python3", "tools/options.py", "--check", cwd=unpacked)   # nothing that is made is missing
    assert (unpacked / "CMakeLists.txt").is_file() and "no such" not in run("make", "-s", "sources", "PROFILE=tiny", cwd=unpacked)
    by_wrap(tmp_path / "meson", archive)
    run("make", "-s", "dist")
    assert first == {path.name: path.read_bytes() for path in (ROOT / "build/dist").iterdir()}


def test_a_release_is_of_the_commit_alone(tmp_path):
    """A work tree with a change: neither the tarball nor the two files have it, nor has the version."""
    run("git", "clone", "-q", ROOT, tmp_path / "clone")
    run("make", "-s", "dist", cwd=tmp_path / "clone")
    clean = {path.name: path.read_bytes() for path in (tmp_path / "clone/build/dist").iterdir()}
    for name in ("src/base/version.c", "include/weir/version.h"):
        text = (tmp_path / "clone" / name).read_text()
        (tmp_path / "clone" / name).write_text(text.replace("VERSION_PATCH 0", "VERSION_PATCH 99").replace(".0\"", ".99\"") + "// not committed\n")
    run("make", "-s", "dist", cwd=tmp_path / "clone")
    assert clean == {path.name: path.read_bytes() for path in (tmp_path / "clone/build/dist").iterdir()}


@campaign
def test_a_package_of_conan():
    said = run("make", "-s", "conan")   # Conan itself comes from pip
    assert all(f"RUN: ./{program}" in said for program in ("answer", "answer_cxx"))


def test_two_files_are_the_same_each_time(header, tmp_path):
    texts = []
    for name in ("one", "two"):
        run("make", "-s", "amalgamation", f"CONFIG={header}", f"O={tmp_path / name}")
        texts.append([(tmp_path / name / f"weir.{kind}").read_text() for kind in "ch"])
    assert texts[0] == texts[1] and "#define WEIR_CFG_SOCKETS 6" in texts[0][1]
