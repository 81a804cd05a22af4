# SPDX-License-Identifier: BSD-2-Clause
"""What `make peers` makes of what it measured: frames sent again, medians and ranges, runs that failed, the plot. Without a network."""
import pathlib
import sys
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench/peers"), str(ROOT / "bench"), str(ROOT / "tests")]
import peers_page  # noqa: E402
import run  # noqa: E402


def trace(*segments):
    """Lines of weir-link's --frames: (end, what, sequence number, bytes)."""
    return "".join(f"0.1,{end},{what},19,4000,{seq},{size},1\n" for end, what, seq, size in segments)


def test_a_frame_counts_again_when_it_brings_nothing_new():
    top = 2**32
    seen = trace((0, "in", top - 1000, 1000), (0, "in", 0, 1000), (0, "in", top - 1000, 1000), (0, "in", 1000, 1000), (0, "in", 1000, 1000))
    assert run.frames_with_data(seen) == (5, 2)


def test_acknowledgements_and_the_other_ends_frames_do_not_count():
    seen = trace((0, "in", 1, 100), (0, "out", 1, 100), (1, "in", 1, 100), (0, "in", 101, 0))
    assert run.frames_with_data(seen) == (1, 0)


def test_cells_have_names_of_their_own_and_a_queue_of_ten_frames_at_least():
    assert len({cell.name for cell in run.CELLS}) == len(run.CELLS)
    words = run.Cell("sender", 10, 2).words(1)
    assert int(words[words.index("--queue") + 1]) == 15140


def measured():
    fast, slow = {"mbit": 10.0, "cpu_ns_per_kb": 2000, "frames": 100, "again": 1}, {"mbit": 8.0, "cpu_ns_per_kb": 4000, "frames": 100, "again": 3}
    cells = {f"sender, 100 Mbit/s, 20 ms{more}": {"weir": [fast, slow, fast], "lwip": [slow, {"failed": "stalled"}]} for more in ("", ", loss 1 %")}
    cells["object, 10 Mbit/s, 20 ms"] = {"weir": [{"ms": [1.0] * 19 + [100.0], "cpu_ns_per_kb": 1, "frames": 9, "again": 0}]}
    for stacks in cells.values():
        for stack, runs in stacks.items():
            stacks[stack] = [{**one, "date": f"2026-11-0{1 + (stack == 'lwip')}"} for one in runs]
    return cells


def test_tables_have_medians_ranges_and_failures():
    found = {title: body for title, _, body in peers_page.tables({"cells": measured()})}
    goodput = next(body for title, body in found.items() if title.startswith("Goodput as the sender"))
    assert goodput[0] == ["100 / 20", "10 (8–10)", "–", "–", "8 (8–8), 1 failed", "–"]
    again = next(body for title, body in found.items() if "sent before" in title)
    assert again[1][1] == "1.0"
    objects = next(body for title, body in found.items() if title.startswith("The first"))
    assert objects[0][1] == "1 / 1"   # the 95th of a hundred parts, not the worst
    days = {title.split(".")[0].split(",")[0].split(":")[0]: title.rpartition("Measured ")[2] for title in found}
    assert days["Goodput as the sender"] == "2026-11-01 to 2026-11-02"
    assert next(when for title, when in days.items() if title.startswith("The first")) == "2026-11-01"
    assert not any(title.startswith("Goodput as the receiver") for title in found)


def test_the_plot_is_a_picture_with_each_stack_that_was_measured():
    picture = tree.fromstring(peers_page.plot(measured()))
    words = [text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"Weir", "lwIP", "0 %", "1 %"} <= set(words)
