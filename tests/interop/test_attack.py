# SPDX-License-Identifier: BSD-2-Clause
"""make attack in its short form: the attacks that need no other program than ours, two seconds of each, beside an honest
client. docs/security.md has what came out of all of them."""
# alone: it compares the honest client's goodput before and during an attack.
import pathlib

from attack import run
from attack.attacks import OWN
from patience import measured

ROOT = pathlib.Path(__file__).resolve().parents[2]


@measured
def test_the_honest_client_goes_on_beside_each_attack():
    told = {name: (faults, result) for name, result, faults in run.campaign(ROOT / "build/attack-short", OWN, 2, 100, 1.5, 1)}
    assert list(told) == list(OWN)
    assert {name: one for name, one in told.items() if one[0]} == {}
    for name, (_, result) in told.items():
        assert result["frames_s"] > 500, name   # the attacker was at work
        assert result["before"]["connects"] and result["during"]["connects"], name
