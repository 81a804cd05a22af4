# SPDX-License-Identifier: BSD-2-Clause
# A toolchain file for a Cortex-M4.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_C_FLAGS_INIT "-mcpu=cortex-m4 -mthumb -Os")
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
