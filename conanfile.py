# SPDX-License-Identifier: BSD-2-Clause
"""A recipe for Conan 2: docs/packaging.md. `find_package(weir)` finds what it packs, by Weir's own file for CMake."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import collect_libs, copy, load

SETS_AN_OPTION = r"[A-Z0-9_]+=\d+(;[A-Z0-9_]+=\d+)*"


class Weir(ConanFile):
    name = "weir"
    description = "TCP/IP stack for embedded systems"
    license = "BSD-2-Clause"
    topics = ("tcp", "ip", "embedded")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"profile": ["tiny", "small", "full"], "set": ["ANY"]}   # set: as "SOCKETS=4;UDP=0"
    default_options = {"profile": "full", "set": ""}
    exports_sources = "CMakeLists.txt", "LICENSE", "include/*", "src/*", "api/*", "apps/*", "drivers/*", "ports/*", "packaging/*", "tools/*"
    test_package_folder = "packaging/conan"

    def set_version(self):
        header = load(self, os.path.join(self.recipe_folder, "include/weir/version.h"))
        self.version = re.search(r'WEIR_VERSION_STRING "(.*)"', header).group(1)

    def configure(self):
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def validate(self):
        if self.options.set and not re.fullmatch(SETS_AN_OPTION, str(self.options.set)):
            raise ConanInvalidConfiguration("set is NAME=NUMBER;NAME=NUMBER… (docs/options.md)")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["WEIR_PROFILE"] = str(self.options.profile)
        toolchain.cache_variables["WEIR_OPTIONS"] = str(self.options.set)
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()

    def package_info(self):
        self.cpp_info.libs = collect_libs(self)
        self.cpp_info.builddirs = ["lib/cmake/weir"]
        self.cpp_info.set_property("cmake_find_mode", "none")
