"""Texts that a sender chooses, in every store: what a field may have is kept apart, and nothing else breaks a store."""

from __future__ import annotations

from random import Random

import pytest
from tests.stores.kinds import KINDS, kind_of

from undersigned import Caps, MemoryReplayStore

CAPS = Caps(per_key=1000, total=10_000)
NOW = 1_795_305_605.0
TEXTS = [
    "'; DROP TABLE undersigned_nonces; --",
    "%s %(now)s %%",
    "\\x00 \\' \\",
    "{tag}}{",
    "a\tb",
    "\xff\xfe\x80",
    "\u0430" * 40,
    "é",
    "e\u0301",
    "É",
    " a",
    "a ",
    "a",
    "",
    "x" * 33,
    "x" * 10_000,
    "NULL",
    "*:?[a]\r\n",
    "\x00",
    "a\x00b",
]


@pytest.mark.parametrize("name", KINDS)
def test_store_tells_every_two_texts_apart_as_memory_does(name, request):
    random = Random(0)  # noqa: S311 - it has to be repeatable
    memory = MemoryReplayStore()
    with kind_of(name, request).opened() as store:
        claims = [(text, other) for text in TEXTS for other in ("k", text)] * 2
        random.shuffle(claims)
        for key, nonce in claims:
            expected, answer = (one.claim(key, nonce, now=NOW, until=NOW + 300, caps=CAPS) for one in (memory, store))
            assert answer == expected, (key[:30], nonce[:30])
