from __future__ import annotations

from undersigned.url import ADCP, ADCP_RECEIVED, Rule

NAMES = [rule.name for rule in ADCP]


def test_rule_set_is_a_tuple_of_rules_with_distinct_names():
    assert isinstance(ADCP, tuple)
    assert all(isinstance(rule, Rule) for rule in ADCP_RECEIVED)
    assert len({rule.name for rule in ADCP_RECEIVED}) == len(ADCP_RECEIVED)


def test_received_rule_set_adds_one_rule_at_the_front():
    assert ADCP_RECEIVED[0].name == "as-received"
    assert ADCP_RECEIVED[1:] == ADCP


def test_names_are_mapped_before_they_become_lower_case():
    assert NAMES.index("a-labels") < NAMES.index("host-case")


def test_dot_segments_are_removed_before_percent_decoding():
    assert NAMES.index("dot-segments") < NAMES.index("unreserved") < NAMES.index("encoded-dots")
