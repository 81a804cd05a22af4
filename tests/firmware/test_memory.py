# SPDX-License-Identifier: BSD-2-Clause
"""memcpy and the sum of boards/armv4t as the firmware has them, in the processor's model: every alignment, and nothing beyond the ends."""
import pathlib
import random
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools/machines")]
from boards import elf  # noqa: E402
from unicorn import UC_ARCH_ARM, UC_MODE_ARM, Uc  # noqa: E402
from unicorn.arm_const import UC_ARM_REG_LR, UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2, UC_ARM_REG_SP, UC_CPU_ARM_TI925T  # noqa: E402

CODE, CODE_BYTES, DATA, STACK, RETURN = 0x20000000, 1 << 20, 0x40000000, 0x50000000, 0x60000000
LENGTHS = (*range(70), 536, 1459, 1460, 1461)


@pytest.fixture(scope="module")
def processor(tmp_path_factory):
    """With the image in memory, and where what is in it."""
    image = elf("portux920t")
    flat = tmp_path_factory.mktemp("image") / "image.bin"
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", image, flat], check=True)
    names = subprocess.run(["arm-none-eabi-nm", image], capture_output=True, text=True, check=True).stdout
    uc = Uc(UC_ARCH_ARM, UC_MODE_ARM)
    uc.ctl_set_cpu_model(UC_CPU_ARM_TI925T)
    for base, size in ((CODE, CODE_BYTES), (DATA, 8192), (STACK, 4096), (RETURN, 4096)):
        uc.mem_map(base, size)
    uc.mem_write(CODE, flat.read_bytes())
    return uc, {line.split()[2]: int(line.split()[0], 16) for line in names.splitlines() if " T " in line}


def call(processor, name, *arguments):
    uc, functions = processor
    registers = dict(zip((UC_ARM_REG_R0, UC_ARM_REG_R1, UC_ARM_REG_R2), arguments))
    for register, value in {**registers, UC_ARM_REG_LR: RETURN, UC_ARM_REG_SP: STACK + 4096}.items():
        uc.reg_write(register, value)
    uc.emu_start(functions[name], RETURN, count=100_000)
    return uc.reg_read(UC_ARM_REG_R0)


@pytest.mark.parametrize("out", range(4))
@pytest.mark.parametrize("at", range(4))
def test_every_byte_is_copied_and_none_beyond(processor, at, out):
    uc = processor[0]
    dice = random.Random(4 * at + out)
    for length in LENGTHS:
        before = dice.randbytes(8192)
        uc.mem_write(DATA, before)
        to, source = 4096 + 16 + out, 16 + at
        assert call(processor, "memcpy", DATA + to, DATA + source, length) == DATA + to
        assert bytes(uc.mem_read(DATA, 8192)) == before[:to] + before[source:source + length] + before[to + length:], length


def ones_complement_sum(data):
    """RFC 1071's, of little-endian halves."""
    total = sum(int.from_bytes(data[i:i + 2], "little") for i in range(0, len(data), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("fill", (None, 0, 0xFF))
def test_the_sum_is_of_these_bytes_wherever_they_lie(processor, at, fill):
    dice = random.Random(at)
    for length in LENGTHS:
        around = dice.randbytes(2048)
        data = dice.randbytes(length) if fill is None else bytes([fill]) * length
        processor[0].mem_write(DATA, around[:16 + at] + data + around[16 + at + length:])
        assert call(processor, "armv4t_sum", DATA + 16 + at, length) == ones_complement_sum(data), length
