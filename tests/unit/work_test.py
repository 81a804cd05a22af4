# SPDX-License-Identifier: BSD-2-Clause
"""tools/work.py: a work's tables are made anew in seconds, and docs/results.md has every table that it makes."""
import pathlib
import subprocess
import sys
import xml.etree.ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = ROOT / "tools/work.py"
sys.path.insert(0, str(PROGRAM.parent))
import svg_plot  # noqa: E402
import work  # noqa: E402


def run(*words):
    return subprocess.run([sys.executable, PROGRAM, *words], cwd=ROOT, capture_output=True, text=True, timeout=200)


def rows(text):
    return [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.split("\n") if line.startswith("|")]


def number(cell):
    try:
        return float(cell.replace(",", ""))
    except ValueError:
        return None


def stands_on_the_page(made, within):
    """Each row of numbers of a table that was made stands on the page under its name, each number as it was when somebody made it last: within(made)
    is how far it may have moved since."""
    page = {}
    for row in rows((ROOT / "docs/results.md").read_text()):
        page.setdefault(row[0], []).append(row)
    for row in made:
        found = [there for there in page.get(row[0], []) if len(there) == len(row)]
        assert found or not any(number(cell) is not None for cell in row[1:]), f"docs/results.md has no row {row[0]} of so many columns"
        assert not found or any(all(number(now) is None or number(then) is not None and abs(number(now) - number(then)) <= within(number(now))
                                    for now, then in zip(row[1:], there[1:])) for there in found), f"docs/results.md: {row} was {found}"


def test_a_page_of_yesterday_is_seen():
    skip, = [row for row in rows((ROOT / "docs/results.md").read_text()) if row[0] == "skip"]
    stands_on_the_page([skip], lambda _: 0)
    for made, complaint in (([skip[0], "12.5", *skip[2:]], "was"), (["skip twice", *skip[1:]], "no row")):
        with pytest.raises(AssertionError, match=complaint):
            stands_on_the_page([made], lambda _: 1)


def test_xinus_figure_is_made_anew():
    done = run("xinu")
    assert done.returncode == 0, done.stderr
    head, _, regular, skip, update, weir = rows(done.stdout)[:6]
    assert head[0] == "% of deadlines met" and len(head) == 8
    assert all(float(cell) <= 2 for cell in regular[1:7]) and all(62 <= float(cell) <= 68 for cell in skip[1:7])
    assert all(float(own) >= float(theirs) for own, theirs in zip(weir[1:7], update[1:7]))
    assert (ROOT / "build/work/xinu.md").read_text() in done.stdout
    stands_on_the_page(rows(done.stdout), lambda percent: 1)


def test_lyraos_table_has_the_papers_files():
    done = run("lyraos")
    assert done.returncode == 0, done.stderr
    assert [row[0] for row in rows(done.stdout)[2:]] == ["tcp.c", "tcp_input.c", "tcp_output.c", "tcp_timer.c"]
    assert all(int(row[4].replace(",", "")) > 0 for row in rows(done.stdout)[2:])
    stands_on_the_page(rows(done.stdout), lambda bytes_now: bytes_now / 20)


def test_a_plot_has_every_value_at_its_height():
    drawn = svg_plot.plot("title", ("a", "b", "c"), {"one & two": [1, None, 1000], "none": [None] * 3}, "unit", logarithmic=True)
    tree = xml.etree.ElementTree.fromstring(drawn)
    low, high, *legend = [float(circle.get("cy")) for circle in tree.iter("{http://www.w3.org/2000/svg}circle")]
    assert high == svg_plot.TOP and low == svg_plot.HEIGHT - svg_plot.BOTTOM and len(legend) == 2
    assert "one & two" in [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert svg_plot.marks(0, 97, False)[-1] >= 97 and svg_plot.marks(0.02, 30, True) == [0.01, 0.1, 1, 10, 100]


def test_what_is_no_work_is_an_error():
    for words in ((), ("bsd",), ("xinu", "linux")):
        done = run(*words)
        assert done.returncode == 1 and done.stdout == "" and "usage: tools/work.py" in done.stderr


def test_the_page_tells_of_every_work():
    text = (ROOT / "docs/results.md").read_text()
    for name in work.WORKS:
        assert f"make work W={name}" in text
