from __future__ import annotations

from tests.url.spellings import RULES

from undersigned import normalization, url
from undersigned.url import Change, explain

hex_case = RULES["hex-case"]
fragment = RULES["fragment"]
scheme_case = RULES["scheme-case"]


def test_each_change_has_its_rule_and_the_text_before_and_after():
    explanation = explain("HTTPS://ads.pub.test/%2f#f")
    assert explanation.changes == (
        Change(scheme_case, "HTTPS://ads.pub.test/%2f#f", "https://ads.pub.test/%2f#f"),
        Change(hex_case, "https://ads.pub.test/%2f#f", "https://ads.pub.test/%2F#f"),
        Change(fragment, "https://ads.pub.test/%2F#f", "https://ads.pub.test/%2F"),
    )
    assert explanation.url == "HTTPS://ads.pub.test/%2f#f"
    assert explanation.result == "https://ads.pub.test/%2F"
    assert explanation.error is None


def test_explanation_keeps_earlier_changes_when_a_rule_rejects_the_url():
    explanation = explain("HTTPS://ann@ads.pub.test:http/")
    assert [change.rule.name for change in explanation.changes] == ["scheme-case", "userinfo"]
    assert explanation.result is None
    assert explanation.error is not None
    assert explanation.error.rule == "port-number"


def test_any_rule_set_can_be_explained():
    assert explain("x:y#z", (fragment,)).result == "x:y"
    assert explain("x:y#z", ()).result == "x:y#z"


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
