# SPDX-License-Identifier: BSD-2-Clause
"""What bench/metal/latency.py makes of a record of frames: from a request's last byte in to its answer's last byte out."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/metal"), str(ROOT / "tools"), str(ROOT / "tests")]
import latency  # noqa: E402


def times(segments, size):
    return [round(us) for us in latency.times_us([(at / 1e6, length, out) for at, length, out in segments], size)]


def test_a_request_and_its_answer_in_one_segment_each():
    assert times([(100, 64, False), (150, 64, True), (900, 64, False), (970, 64, True)], 64) == [50, 70]


def test_what_comes_in_pieces_is_there_with_the_last_and_gone_with_the_last():
    assert times([(0, 400, False), (10, 112, False), (30, 100, True), (45, 412, True)], 512) == [35]


def test_an_answer_that_is_not_whole_counts_for_nothing():
    assert times([(0, 512, False), (30, 100, True)], 512) == []


def test_requests_and_answers_that_share_a_segment():
    assert times([(0, 4, False), (10, 2, False), (20, 5, True), (25, 1, True)], 3) == [20, 15]
