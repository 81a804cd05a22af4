# SPDX-License-Identifier: BSD-2-Clause
"""What other builds read of Weir: Kconfig gives each profile as the table has it; the files for Zephyr and ESP-IDF, with stubs for those builds' own
functions, build a program that runs; the library for Arduino and PlatformIO compiles as they would compile it; what Conan packs builds by itself."""
import ast
import json
import os
import pathlib
import shutil
import subprocess
import sys

import kconfiglib
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
from configuration import PROFILES, Configuration, version  # noqa: E402

ANSWER = ROOT / "packaging/example/answer.c"
ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CFLAGS", "CONFIG", "PROFILE", "OPTIONS")}
STUBS = """\
cmake_minimum_required(VERSION 3.16)
project(host LANGUAGES C)
file(STRINGS "{answers}/.config" lines REGEX "^CONFIG_")
foreach(line IN LISTS lines)
    string(REGEX MATCH "^([^=]*)=(.*)" line "${{line}}")
    set(${{CMAKE_MATCH_1}} "${{CMAKE_MATCH_2}}")
endforeach()
"""
ZEPHYR = STUBS + """\
set(AUTOCONF_H "{answers}/autoconf.h")
add_library(zephyr_interface INTERFACE)
set(libraries "")
macro(zephyr_append_cmake_library name)
    list(APPEND libraries ${{name}})
endmacro()
macro(zephyr_include_directories)
    target_include_directories(zephyr_interface INTERFACE ${{ARGN}})
endmacro()
set(ZEPHYR_BASE "{answers}")
macro(zephyr_library_named name)
    list(APPEND libraries ${{name}})
    set(current ${{name}})
endmacro()
macro(zephyr_library_sources)
    add_library(${{current}} STATIC ${{ARGN}})
    target_link_libraries(${{current}} PRIVATE zephyr_interface)
endmacro()
include("{root}/zephyr/CMakeLists.txt")
add_executable(answer "{answer}")
target_link_libraries(answer PRIVATE zephyr_interface ${{libraries}})
"""
ESP_IDF = STUBS + """\
set(ESP_PLATFORM 1)
macro(idf_component_register)
    cmake_parse_arguments(given "" "KCONFIG" "SRCS;REQUIRES" ${{ARGN}})
    if(NOT EXISTS "${{given_KCONFIG}}" OR NOT given_REQUIRES STREQUAL "freertos" OR given_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "idf_component_register(${{ARGN}})")
    endif()
    set(COMPONENT_LIB __idf_weir)
    add_library(__idf_weir INTERFACE)
endmacro()
function(idf_build_get_property result property)
    set(${{result}} "{answers}" PARENT_SCOPE)
endfunction()
add_library(__idf_freertos INTERFACE)
target_include_directories(__idf_freertos INTERFACE "{answers}" "{answers}/kernel")
function(idf_component_get_property result component property)
    if(NOT "${{component}}.${{property}}" STREQUAL "freertos.COMPONENT_LIB")
        message(FATAL_ERROR "idf_component_get_property(${{ARGV}})")
    endif()
    set(${{result}} __idf_freertos PARENT_SCOPE)
endfunction()
add_compile_options(-Wall -Wextra -Werror)
add_subdirectory("{root}" weir)
add_executable(answer "{answer}")
target_link_libraries(answer PRIVATE __idf_weir)
"""
# What the port asks of FreeRTOS, and nothing behind it: the tick's type is of 16 bits in small parts, of 64 where ESP-IDF runs on Linux.
FREERTOS = """\
#pragma once
#include <stdint.h>
typedef {ticks} TickType_t;
typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef void *SemaphoreHandle_t;
typedef void *TaskHandle_t;
#define portMAX_DELAY ((TickType_t)-1)
#define pdTRUE ((BaseType_t)1)
#define pdFALSE ((BaseType_t)0)
#define pdPASS pdTRUE
#define configTICK_RATE_HZ ((TickType_t)1000)
#define configSTACK_DEPTH_TYPE uint32_t
#define portYIELD_FROM_ISR(woken) ((void)(woken))
SemaphoreHandle_t xSemaphoreCreateMutex(void);
BaseType_t xSemaphoreTake(SemaphoreHandle_t mutex, TickType_t ticks), xSemaphoreGive(SemaphoreHandle_t mutex);
TaskHandle_t xTaskGetCurrentTaskHandle(void);
BaseType_t xTaskNotifyGiveIndexed(TaskHandle_t task, UBaseType_t index);
void vTaskNotifyGiveIndexedFromISR(TaskHandle_t task, UBaseType_t index, BaseType_t *woken);
uint32_t ulTaskNotifyTakeIndexed(UBaseType_t index, BaseType_t clear, TickType_t ticks);
void vTaskPrioritySet(TaskHandle_t task, UBaseType_t priority);
BaseType_t xTaskCreate(void (*function)(void *), const char *name, configSTACK_DEPTH_TYPE stack, void *argument, UBaseType_t priority, TaskHandle_t *task);
"""
# The first of the two times that ESP-IDF reads a component, a script without a compiler, where registering returns.
ESP_IDF_EARLY = """\
set(ESP_PLATFORM 1)
set(CMAKE_BUILD_EARLY_EXPANSION 1)
macro(idf_component_register)
    message(STATUS "registered ${{ARGN}}")
    return()
endmacro()
include("{root}/CMakeLists.txt")
"""
# What a sketch has of a board, and one whose counter of microseconds is about to begin anew.
ARDUINO = """\
#pragma once
#include <stdint.h>
#include <stddef.h>
long random(long);
unsigned long micros();
void setup();
void loop();
struct Serial_ { void begin(long), print(const char *), println(const char *), println(unsigned long); };
extern struct Serial_ Serial;
"""
ARDUINO_BOARD = """\
#include <Arduino.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <weir.h>
static uint32_t counter = UINT32_MAX - 9;
struct Serial_ Serial;
void Serial_::begin(long) {}
void Serial_::print(const char *text) { fputs(text, stdout); }
void Serial_::println(const char *text) { puts(text); }
void Serial_::println(unsigned long number) { printf("%lu\\n", number); }
long random(long below) { return rand() % below; }
unsigned long micros() { return counter; }
extern "C" uint64_t __real_weir_poll(struct weir *, uint64_t);
extern "C" uint64_t __wrap_weir_poll(struct weir *weir, uint64_t now_us)
{
    printf("%" PRIu64 "%c", now_us, counter < 1000 ? '\\n' : ' ');
    return __real_weir_poll(weir, now_us);
}
int main()
{
    setup();
    loop();
    counter += 5;
    loop();
    counter += 9;
    loop();
}
"""


def run(*words, cwd=ROOT):
    done = subprocess.run([str(word) for word in words], cwd=cwd, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout + done.stderr


def ask(file, folder, **answers):
    """Kconfig's answers to `file`, with these changed, as FOLDER/.config and FOLDER/autoconf.h."""
    kconfig = kconfiglib.Kconfig(str(ROOT / file), warn_to_stderr=False)
    for name, value in answers.items():
        assert kconfig.syms[name].set_value(value) and kconfig.syms[name].str_value == value, name
    kconfig.write_autoconf(str(folder / "autoconf.h"))
    kconfig.write_config(str(folder / ".config"))
    assert kconfig.warnings == []
    return folder


def kernel(folder, ticks):
    """The headers of FreeRTOS as ESP-IDF has them."""
    (folder / "kernel/freertos").mkdir(parents=True)
    for name in ("FreeRTOS.h", "semphr.h", "task.h"):
        (folder / "kernel/freertos" / name).write_text(FREERTOS.format(ticks=ticks) if name == "FreeRTOS.h" else '#include "FreeRTOS.h"\n')


def told(folder):
    """The configuration that a build finds in the answers."""
    header = folder / "weir_config.h"
    header.write_text(f'#include "{folder}/autoconf.h"\n#include "{ROOT}/packaging/kconfig.h"\n')
    return Configuration(header=str(header))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("file, more", [("zephyr/Kconfig", {"WEIR": "y"}), ("packaging/esp-idf/Kconfig", {})])
def test_kconfig_has_each_profile(file, more, profile, tmp_path):
    found, meant = told(ask(file, tmp_path, **more, **{f"WEIR_PROFILE_{profile.upper()}": "y"})), Configuration(profile)
    assert (found.profile, found.values, found.sources) == (profile, meant.values, meant.sources)


def test_kconfig_knows_what_an_option_needs(tmp_path):
    found = told(ask("packaging/esp-idf/Kconfig", tmp_path, WEIR_PROFILE_FULL="y", WEIR_CFG_TCP_SACK="n", WEIR_CFG_ROUTES="9"))
    assert found.values["TCP_LOSS_RECOVERY"] == found.values["TCP_SACK"] == 0 and found.values["ROUTES"] == 9
    assert "src/tcp/sack.c" not in found.sources


@pytest.mark.parametrize("file, script, more", [("zephyr/Kconfig", ZEPHYR, {"WEIR": "y"}), ("packaging/esp-idf/Kconfig", ESP_IDF, {})], ids=["zephyr", "esp-idf"])
def test_a_program_is_built_by_kconfig_and_cmake(file, script, more, tmp_path):
    kernel(tmp_path, "uint32_t")
    answers = ask(file, tmp_path, **more, WEIR_PROFILE_TINY="y", WEIR_CFG_SOCKETS="5", WEIR_PART_SUPERLOOP="y")
    (tmp_path / "sdkconfig.h").write_text((tmp_path / "autoconf.h").read_text())
    (tmp_path / "CMakeLists.txt").write_text(script.format(answers=answers, root=ROOT, answer=ANSWER))
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b")
    run("cmake", "--build", tmp_path / "b", "--target", "answer")
    run(tmp_path / "b/answer")
    assert "#define WEIR_CFG_SOCKETS 5" in next((tmp_path / "b").rglob("options.h")).read_text()
    assert list((tmp_path / "b").rglob("libweir-superloop.a")) and not list((tmp_path / "b").rglob("libweir-update.a"))


def test_zephyr_has_the_port_to_its_threads_where_it_has_cmsis_rtos2(tmp_path):
    """Its header of that interface is where Zephyr has it, and in nobody's path; the symbol is Zephyr's."""
    kconfig, base = tmp_path / "Kconfig", tmp_path / "include/zephyr/portability"
    base.mkdir(parents=True)
    (base / "cmsis_os2.h").write_text(f'#include "{ROOT}/api/cmsis_rtos2/cmsis_os2.h"\n')
    kconfig.write_text(f'config CMSIS_RTOS_V2\n\tbool "an answer of Zephyr"\n\nsource "{ROOT}/zephyr/Kconfig"\n')
    ask(kconfig, tmp_path, WEIR="y")
    assert "WEIR_PORT_CMSIS_RTOS2" not in (tmp_path / "autoconf.h").read_text()
    answers = ask(kconfig, tmp_path, WEIR="y", CMSIS_RTOS_V2="y", WEIR_PROFILE_TINY="y")
    (tmp_path / "CMakeLists.txt").write_text(ZEPHYR.format(answers=answers, root=ROOT, answer=ANSWER))
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b")
    run("cmake", "--build", tmp_path / "b", "--target", "weir-port")
    assert " T rtos2_port_start\n" in run("nm", next((tmp_path / "b").rglob("libweir-port.a")))


@pytest.mark.parametrize("ticks", ["uint16_t", "uint32_t", "uint64_t"])
def test_esp_idf_has_the_port_to_freertos(ticks, tmp_path):
    """Its headers are below freertos/, in one of that component's folders; ESP-IDF's warnings are errors."""
    kernel(tmp_path, ticks)
    answers = ask("packaging/esp-idf/Kconfig", tmp_path, WEIR_PROFILE_TINY="y")
    (tmp_path / "sdkconfig.h").write_text((tmp_path / "autoconf.h").read_text())
    (tmp_path / "CMakeLists.txt").write_text(ESP_IDF.format(answers=answers, root=ROOT, answer=ANSWER))
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b")
    run("cmake", "--build", tmp_path / "b", "--target", "weir-port")
    assert " T freertos_port_start\n" in run("nm", next((tmp_path / "b").rglob("libweir-port.a")))


def test_esp_idf_says_where_it_has_no_freertos(tmp_path):
    answers = ask("packaging/esp-idf/Kconfig", tmp_path, WEIR_PROFILE_TINY="y")
    (tmp_path / "sdkconfig.h").write_text((tmp_path / "autoconf.h").read_text())
    (tmp_path / "CMakeLists.txt").write_text(ESP_IDF.format(answers=answers, root=ROOT, answer=ANSWER))
    done = subprocess.run(["cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b"], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode and "Weir: there is no freertos/FreeRTOS.h" in done.stderr


def test_esp_idf_may_ask_before_it_has_a_compiler(tmp_path):
    (tmp_path / "early.cmake").write_text(ESP_IDF_EARLY.format(root=ROOT))
    assert "registered KCONFIG" in run("cmake", "-P", tmp_path / "early.cmake")


def test_what_the_component_registry_packs_builds_by_itself(tmp_path):
    line = next(line for line in (ROOT / "idf_component.yml").read_text().splitlines() if line.startswith("  include: "))
    for path in {path for pattern in json.loads(line.removeprefix("  include: ")) for path in ROOT.glob(pattern) if path.is_file()}:
        copy = tmp_path / "weir" / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    kernel(tmp_path, "uint32_t")
    answers = ask(tmp_path / "weir/packaging/esp-idf/Kconfig", tmp_path, WEIR_PROFILE_TINY="y")
    (tmp_path / "sdkconfig.h").write_text((tmp_path / "autoconf.h").read_text())
    (tmp_path / "CMakeLists.txt").write_text(ESP_IDF.format(answers=answers, root=tmp_path / "weir", answer=ANSWER))
    run("cmake", "-G", "Ninja", "-S", tmp_path, "-B", tmp_path / "b")
    run("cmake", "--build", tmp_path / "b", "--target", "weir-port", "weir-memory-header")
    assert not (tmp_path / "weir/tests").exists()


def test_the_manifests_name_what_is_there():
    lines = (ROOT / "zephyr/module.yml").read_text().split("\n")
    named = dict(line.strip().split(": ") for line in lines if ": " in line and not line.startswith("#"))
    assert named["name"] == "weir" and (ROOT / named["cmake"] / "CMakeLists.txt").is_file() and (ROOT / named["kconfig"]).is_file()
    assert f'version: "{version()}"' in (ROOT / "idf_component.yml").read_text()


def test_what_conan_packs_builds_by_itself(tmp_path):
    """Of each profile every source is there; of the least all is built and installed, as the recipe does it."""
    recipe = next(node for node in ast.parse((ROOT / "conanfile.py").read_text()).body if isinstance(node, ast.ClassDef))
    packed = next(ast.literal_eval(node.value) for node in recipe.body if isinstance(node, ast.Assign) and node.targets[0].id == "exports_sources")
    (tmp_path / "weir").mkdir()
    for path in packed:
        if path.endswith("/*"):
            shutil.copytree(ROOT / path[:-2], tmp_path / "weir" / path[:-2], ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / path, tmp_path / "weir" / path)
    for profile in reversed(PROFILES):
        run("cmake", "-G", "Ninja", "-S", tmp_path / "weir", "-B", tmp_path / "b", f"-DWEIR_PROFILE={profile}")
    run("cmake", "--build", tmp_path / "b")
    run("cmake", "--install", tmp_path / "b", "--prefix", tmp_path / "root")
    assert (tmp_path / "root/lib/libweir.a").is_file() and (tmp_path / "root/include/weir_memory.h").is_file()


def test_the_library_for_arduino(tmp_path):
    run("make", "-s", "arduino", "PROFILE=tiny", f"B={tmp_path}", "URL=https://example.org/weir")
    library = tmp_path / "arduino/Weir"
    fields = dict(line.split("=", 1) for line in (library / "library.properties").read_text().splitlines())
    manifest = json.loads((library / "library.json").read_text())
    assert fields["version"] == manifest["version"] == version() and (library / "src" / fields["includes"]).is_file()
    assert fields["url"] == manifest["homepage"] == "https://example.org/weir" and (library / "README.md").is_file()
    assert {"name", "author", "maintainer", "sentence", "paragraph", "category", "architectures"} <= fields.keys()
    wrong = subprocess.run([sys.executable, ROOT / "packaging/arduino/folder.py", tmp_path / "arduino/two", tmp_path / "w", "example.org"], capture_output=True, text=True)
    assert wrong.returncode and wrong.stderr.startswith("URL: `example.org` is none")
    (tmp_path / "Arduino.h").write_text(ARDUINO)
    flags = ["-Os", "-Wall", "-Wextra", "-Werror", f"-I{library}/src", f"-I{tmp_path}", "-c"]
    board = ["-mcpu=cortex-m4", "-mthumb"]
    (source,), (sketch,) = (list((library / folder).rglob(pattern)) for folder, pattern in (("src", "*.c"), ("examples", "*.ino")))
    run("arm-none-eabi-gcc", "-std=gnu11", *board, *flags, source, "-o", tmp_path / "source.o")
    run("arm-none-eabi-g++", "-std=gnu++17", *board, *flags, "-x", "c++", "-include", "Arduino.h", sketch, "-o", tmp_path / "sketch.o")
    sections = run("arm-none-eabi-size", "-A", tmp_path / "sketch.o").splitlines()
    # no profile's memory is fixed in it: it would not fit the RAM of one board, or not hold what another profile wants
    assert sum(int(line.split()[1]) for line in sections if line.startswith((".bss", ".data"))) < 2048
    # here it runs: the counter of a board begins anew after 71 minutes, the stack's clock goes on
    (tmp_path / "board.cpp").write_text(ARDUINO_BOARD)
    run("gcc", "-std=gnu11", *flags, source, "-o", tmp_path / "source.o")
    run("g++", "-std=gnu++17", *flags, "-x", "c++", "-include", "Arduino.h", sketch, "-o", tmp_path / "sketch.o")
    run("g++", f"-I{library}/src", f"-I{tmp_path}", tmp_path / "board.cpp", tmp_path / "sketch.o", tmp_path / "source.o", "-Wl,--wrap=weir_poll", "-o", tmp_path / "board")
    assert run(tmp_path / "board") == "4294967286 4294967291 4294967300\n"
