# SPDX-License-Identifier: BSD-2-Clause
"""What `conan create` tries the package with: the programs of packaging/example."""
import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout


class Example(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    programs = "answer", "answer_cxx"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False
        toolchain.cache_variables["WEIR_FROM"] = "package"
        toolchain.cache_variables["CMAKE_PREFIX_PATH"] = self.dependencies["weir"].package_folder
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(build_script_folder="../example")
        cmake.build()

    def test(self):
        for program in self.programs if can_run(self) else ():
            self.run(os.path.join(self.cpp.build.bindir, program))
