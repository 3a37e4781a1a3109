"""The values of a large document are found where the parser of the standard library has them, in as little memory."""

from __future__ import annotations

import json
import re
import tracemalloc
from random import Random

import pytest

from undersigned.limits import DEEPEST_JSON
from undersigned.message.json_slices import values, whole

SCALARS = (1, -2.5e3, 'a"é\\\n{[,]}', True, None, "", "\U0001f600")
MARKS = b'[]{},:"\\ 01e.-tn\x00\xff\n'


def some_value(random: Random, depth: int = 0) -> object:
    kind = random.randrange(9 if depth < 9 else 6)
    if kind < 6:
        return random.choice(SCALARS)
    if kind < 8:
        return [some_value(random, depth + 1) for _ in range(random.randrange(4))]
    return {random.choice('k"\\é') + str(n): some_value(random, depth + 1) for n in range(random.randrange(4))}


def standard(text: bytes) -> list[tuple[str, object]]:
    """What the standard library says of the values of a text."""
    value = json.loads(text.decode(), parse_constant=int)
    if isinstance(value, dict):
        return list(value.items())
    return [("", item) for item in value] if isinstance(value, list) else []


def test_any_text_has_the_values_of_the_standard_library_or_is_refused_as_by_it():
    random, valid = Random(44), 0  # noqa: S311 - not for security
    for _ in range(2000):
        separators = random.choice([None, (",", ":"), (" ,\t", "\n: ")])
        text = json.dumps(some_value(random), ensure_ascii=random.random() < 0.5, separators=separators).encode()
        if random.random() < 0.6:
            at = random.randrange(len(text))
            text = text[:at] + bytes(random.choices(MARKS, k=random.randrange(2))) + text[at + random.randrange(3) :]
        try:
            expected = standard(text)
        except ValueError:
            with pytest.raises(ValueError, match=r"JSON|codec"):
                whole(text)
        else:
            found = [(name, json.loads(text[start:end])) for name, start, end in values(text, whole(text))]
            assert found == expected or dict(found) == dict(expected)
            valid += 1
    assert 500 < valid < 1900


@pytest.mark.parametrize("text", [b"[" * 2 * DEEPEST_JSON + b"]" * 2 * DEEPEST_JSON, b"[" + b"[[[[[[]]]]]]," * 110_000])
def test_what_is_nested_deeper_than_it_may_be_is_refused(text):
    with pytest.raises(ValueError, match="nested too deeply"):
        whole(text)


def test_items_without_the_hint_are_left_out():
    items = [*({"url": f"https://{number}.example"} for number in range(1000)), [[[[[[["x"]]]]]]], "x", {}]
    text = json.dumps(items).encode()
    found = [json.loads(text[start:end]) for _, start, end in values(text, 0, hint=re.compile(b'/999|x"'))]
    assert found == [{"url": "https://999.example"}, [[[[[[["x"]]]]]]], "x"]


def test_text_is_not_looked_at_again_for_each_item_that_has_the_hint():
    looked = []

    class Hint:
        def search(self, text, at, end):
            looked.append(end - at)
            return text.find(b"a", at, end) >= 0

    text = b"[" + b",".join([b'{"a":1}'] * 2_000) + b"]"
    assert sum(1 for _ in values(text, 0, hint=Hint())) == 2_000
    assert sum(looked) < 3 * len(text)


@pytest.mark.parametrize("item", [b"[]", b'{"a":1}', b'"\xf0\x9f\x98\x80"', b"[[[[[[[[1]]]]]]]]", b"1"])
def test_finding_the_values_takes_no_memory(item):
    text = b"[" + b",".join([item] * 20_000) + b"]"
    whole(text)
    tracemalloc.start()
    try:
        assert sum(1 for _ in values(text, whole(text))) == 20_000
        assert tracemalloc.get_traced_memory()[1] < 400_000
    finally:
        tracemalloc.stop()
