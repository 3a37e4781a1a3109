"""The public names of the package, and the rule set that signing uses."""

from __future__ import annotations

from undersigned import normalization, url


def test_every_public_name_exists_and_is_listed():
    for package in (url, normalization):
        assert all(getattr(package, name) is not None for name in package.__all__)
        assert len(package.__all__) == len(set(package.__all__))


def test_rule_set_of_signing_is_pinned_and_received_urls_have_one_more_rule():
    assert ([rule.name for rule in url.ADCP_RECEIVED[:1]], url.ADCP_RECEIVED[1:]) == (["as-received"], url.ADCP)
    assert [rule.name for rule in url.ADCP] == [
        *("characters", "scheme-case", "web-scheme", "authority", "userinfo", "ip-literal", "a-labels", "host-case"),
        *("root-dot", "reg-name", "port-number", "default-port", "triplets", "dot-segments", "empty-path"),
        *("unreserved", "hex-case", "encoded-dots", "fragment"),
    ]
