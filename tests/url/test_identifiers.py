from __future__ import annotations

import pickle
import tracemalloc
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.url.spellings import hostile, outcome, respellings

from undersigned import UndersignedError
from undersigned.url import (
    CanonicalURL,
    Identifier,
    IdentifierSet,
    MalformedIdentifier,
    MalformedURL,
    canonicalize,
    same_url,
)

CODE = "seller_not_authorized"
AGENTS = [
    "https://Ads.pub.test/a",
    "https://b.test",
    "https://ads.pub.test:443/a#x",
    "ftp://c.test/",
    "https://Ads.pub.test/a",
    "https://b\u00fccher.example/",
]


@pytest.fixture
def agents():
    return IdentifierSet(AGENTS, code=CODE)


def test_identifier_is_found_by_any_spelling(agents):
    found = agents.find("HTTPS://ADS.pub.test./%61")
    assert found == Identifier(
        CanonicalURL("https://ads.pub.test/a", "ads.pub.test"),
        ("https://Ads.pub.test/a", "https://ads.pub.test:443/a#x"),
        (0, 2, 4),
    )
    assert "https://B.test/" in agents
    assert agents.find("https://b.test/p") is None
    assert "http://b.test/" not in agents


def test_set_has_each_identifier_once_in_order_of_registration(agents):
    assert [identifier.canonical.target_uri for identifier in agents] == ["https://ads.pub.test/a", "https://b.test/"]
    assert len(agents) == 2


def test_conflict_needs_two_spellings_not_two_registrations(agents):
    assert [identifier.canonical.authority for identifier in agents.conflicts] == ["ads.pub.test"]
    assert IdentifierSet(["https://a/", "https://a/"], code=CODE).conflicts == ()


def test_malformed_registration_is_left_out_and_listed_with_the_callers_code(agents):
    malformed, not_ascii = agents.malformed
    assert (malformed.code, malformed.rule, malformed.position) == (CODE, "web-scheme", 3)
    assert (not_ascii.rule, not_ascii.position) == ("as-received", 5)
    assert str(malformed) == "the scheme 'ftp' is neither http nor https"


@pytest.mark.parametrize(
    ("url", "rule"),
    [("https://user@/p", "authority"), ("b.test", "web-scheme"), ("https://b\u00fccher.example/", "as-received")],
)
def test_lookup_of_a_malformed_url_raises_the_callers_code(agents, url, rule):
    for ask in (lambda: agents.find(url), lambda: url in agents):
        with pytest.raises(MalformedIdentifier) as caught:
            ask()
        assert (caught.value.code, caught.value.rule, caught.value.position) == (CODE, rule, None)
        assert isinstance(caught.value, UndersignedError)
        assert isinstance(caught.value, ValueError)


def test_set_can_be_pickled_and_its_repr_names_no_identifier(agents):
    malformed, _ = pickle.loads(pickle.dumps(agents)).malformed  # noqa: S301 - our own bytes
    assert vars(malformed) == vars(agents.malformed[0])
    assert str(malformed) == str(agents.malformed[0])
    assert "pub.test" not in repr(agents)


@given(st.lists(respellings(), max_size=3))
def test_every_spelling_finds_the_identifier_of_any_other_spelling(pairs):
    found = IdentifierSet((spelled for _, spelled in pairs if spelled.isascii()), code=CODE)
    for canonical, spelled in pairs:
        if spelled.isascii():
            assert spelled in found
            assert found.find(canonical).canonical.target_uri == canonical


@given(st.lists(hostile, max_size=3), hostile)
def test_identifier_is_in_the_set_when_a_member_is_the_same_url(urls, url):
    found = IdentifierSet(urls, code=CODE)
    assert len(found.malformed) + sum(len(identifier.positions) for identifier in found) == len(urls)
    malformed = {error.position for error in found.malformed}
    kept = [other for position, other in enumerate(urls) if position not in malformed]
    if isinstance(outcome(lambda: canonicalize(url, received=True)), MalformedURL):
        with pytest.raises(MalformedIdentifier):
            found.find(url)
    else:
        assert (url in found) == any(same_url(url, other) for other in kept)


@pytest.mark.parametrize("value", [None, b"https://a/", 1])
def test_value_raises_a_type_error_when_it_is_not_text(agents, value):
    with pytest.raises(TypeError):
        IdentifierSet([value], code=CODE)
    with pytest.raises(TypeError):
        agents.find(value)


class Spelling(str):
    """A URL that counts how often it is compared."""

    __slots__ = ()
    __hash__ = str.__hash__
    compared = 0

    def __eq__(self, other: object) -> bool:
        Spelling.compared += 1
        return str.__eq__(self, other)


def test_spellings_of_one_identifier_are_not_all_compared_with_each_other():
    urls = [Spelling(f"https://a.example/#{at % 500}") for at in range(1000)]
    before = Spelling.compared
    [found] = IdentifierSet(urls, code=CODE)
    assert Spelling.compared - before < 10 * len(urls)
    assert (len(found.spellings), found.positions) == (500, tuple(range(1000)))


def test_registration_of_one_identifier_does_not_copy_those_before_it():
    taken = []

    def urls():
        for _ in range(4000):
            tracemalloc.reset_peak()
            before, _ = tracemalloc.get_traced_memory()
            yield "https://a.example/"
            taken.append(tracemalloc.get_traced_memory()[1] - before)

    tracemalloc.start()
    [found] = IdentifierSet(urls(), code=CODE)
    tracemalloc.stop()
    assert len(found.positions) == 4000
    assert median(taken[3000:]) < 8192
