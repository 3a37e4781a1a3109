from __future__ import annotations

from undersigned.url import ADCP, ADCP_RECEIVED, Rule

NAMES = [rule.name for rule in ADCP]


def test_policy_is_a_tuple_of_rules_with_names_of_their_own():
    assert isinstance(ADCP, tuple)
    assert all(isinstance(rule, Rule) for rule in ADCP_RECEIVED)
    assert len({rule.name for rule in ADCP_RECEIVED}) == len(ADCP_RECEIVED)


def test_receiver_runs_the_same_rules_behind_one_refusal():
    assert ADCP_RECEIVED[0].name == "as-received"
    assert ADCP_RECEIVED[1:] == ADCP


def test_names_are_mapped_before_they_are_lowered():
    assert NAMES.index("a-labels") < NAMES.index("host-case")


def test_dot_segments_are_removed_before_percent_decoding():
    assert NAMES.index("dot-segments") < NAMES.index("unreserved") < NAMES.index("encoded-dots")
