# SPDX-License-Identifier: BSD-2-Clause
"""From link up to the first byte of HTTP over IPv6 on malta, in virtual time (bench/metal/startup6.py): within the limits of `make bench-metal T=startup6`, and
as long as RFC 4862 asks."""
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/metal"), str(ROOT / "tools")]
import startup6  # noqa: E402

DETECTION_MS, RANDOM_MS = 1000, 100   # RFC 4862 §5.1, WEIR_CFG_IP6_START_DELAY_MS


@pytest.fixture(scope="module")
def times():
    return startup6.measure()


def test_with_detection(times):
    """A random delay, another one each time, and a second for who objects."""
    assert all(DETECTION_MS <= ms <= DETECTION_MS + RANDOM_MS + 20 for ms in times["dad"]), times
    assert max(times["dad"]) - min(times["dad"]) > RANDOM_MS / 10
    assert max(times["dad"]) <= startup6.LIMITS_MS["dad"]


def test_for_who_starts_alone(times):
    assert all(DETECTION_MS <= ms <= DETECTION_MS + 20 for ms in times["alone"]), times


def test_optimistic(times):
    assert 0 < max(times["optimistic"]) <= startup6.LIMITS_MS["optimistic"], times
