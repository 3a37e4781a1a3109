"""The rules of language that a pattern can hold, over the pages and the texts of the code; CONTRIBUTING.md has all."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "ARCHITECTURE.md"))]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|\"[^\"\n]*\"", re.DOTALL)
"""Code, the targets of links, and what is quoted."""

OURS = "profiles?|libsodium|OpenSSL|middleware|library|HTTP Message Signatures"
RULES = {
    "a sentence that begins with So": re.compile(r"(?:^|[.!?:|]\s+|^\s*- )So[ ,]", re.MULTILINE),
    "a clause without its subject": re.compile(r"[.!]\s+(?:Does|Is|Has|Can) [^.?!]*[.!]|[a-z]: (?:so that|A [a-z])"),
    "also for even": re.compile(r", also (?:for|if|to|after|when)\b"),
    "with, not by": re.compile(
        rf"\b(?:sign|verif)\w+\s+by\s+(?:(?:a|an|the|its|one|another|this|your)\s+)?(?:{OURS})\b"
    ),
    "a word of the specification": re.compile(r"\b(?:header fields?|octets?|keyids?)\b", re.IGNORECASE),
    "an old or vague word": re.compile(
        r"\b(?:for ever|(?:some|any)body|(?<!: )strangers?(?!:)|on the way)\b", re.IGNORECASE
    ),
}
WRONG = {
    "a sentence that begins with So": ["It is hot. So drink.", "- So drink", "So, drink"],
    "a clause without its subject": [
        "It is cold. Does the wind blow too.",
        "do it: so that it is done",
        "mount it: A way",
    ],
    "also for even": ["signed, also for preflights", "kept, also if it is old"],
    "with, not by": ["signed by a profile", "verified by libsodium", "verifies by the middleware"],
    "a word of the specification": ["a header field", "eight octets", "the keyid"],
    "an old or vague word": ["for ever", "Somebody", "on the way"],
}
RIGHT = [
    "It is. Does it end?",
    "one thing: a part",
    "So-called, and so on",
    "signed by acme",
    "signed by the sender's key",
    "`keyid`",
    '"header field"',
    "headers",
]


def prose(text: str) -> str:
    """Return a text with what is not prose as as many letters, so that a position is still one of the text."""
    return NOT_PROSE.sub(lambda found: re.sub(r"[^\n]", "x", found[0]), text)


@pytest.mark.parametrize("rule", RULES)
def test_rule_finds_what_is_wrong_and_nothing_else(rule):
    assert all(RULES[rule].search(prose(text)) for text in WRONG[rule])
    assert not any(RULES[rule].search(prose(text)) for text in RIGHT)


@pytest.mark.parametrize("rule", RULES)
def test_pages_follow_the_rule(rule):
    found = []
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in RULES[rule].finditer(prose(text)):
            number = text.count("\n", 0, match.end()) + 1
            found.append(f"{page.relative_to(ROOT)}:{number}: {match[0].strip()}")
    assert found == []


def test_comments_and_texts_of_the_code_follow_the_rules():
    rules = [RULES[rule] for rule in ("a sentence that begins with So", "with, not by", "an old or vague word")]
    found = []
    for path in (path for folder in ("src", "integrations") for path in sorted((ROOT / folder).rglob("*.py"))):
        for token in tokenize.generate_tokens(io.StringIO(path.read_text("utf-8")).readline):
            if token.type == tokenize.COMMENT or (token.type == tokenize.STRING and " " in token.string):
                text = re.sub("`[^`]*`", "x", token.string.strip("#fr\"' "))
                if any(rule.search(text) for rule in rules):
                    found.append(f"{path.relative_to(ROOT)}:{token.start[0]}: {token.string[:60]}")
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_sentences_are_short_and_none_comes_twice_in_a_paragraph(page):
    text = re.sub(r"```.*?```|^#.*?$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|^\s*(?:-|\d+\.) |^\s+(?=(?:See|Fix|The \w+):)|\|", text, flags=re.MULTILINE):
        shown = re.sub(r"`[^`]*`", lambda found: found[0].replace(" ", "_"), re.sub(r"\]\([^)]*\)", "", paragraph))
        sentences = [" ".join(one.split()) for one in re.split(r"(?<=[.!?:;])\W*?\s+", shown)]
        assert [one for one in sentences if len(one) > 25 and sentences.count(one) > 1] == []
        assert [one for one in sentences if len(re.findall(r"\S*\w\S*", one)) > 25] == []


def test_contributing_has_ten_rules():
    rules = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("### Language")[2].partition("\n#")[0]
    assert re.findall(r"^(\d+)\.", rules, re.MULTILINE) == [str(number) for number in range(1, 11)]
