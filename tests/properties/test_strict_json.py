from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from undersigned.message.strict_json import AmbiguousJSON, loads

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
documents = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
)


class Members(list):
    """An object as its members, so that it can repeat a key."""


trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(st.sampled_from("abcdé"), inner), max_size=4).map(Members)
    ),
)


def write_json(tree, *, ascii_only: bool) -> str:
    if isinstance(tree, Members):
        members = [
            f"{json.dumps(key, ensure_ascii=ascii_only)}:{write_json(v, ascii_only=ascii_only)}" for key, v in tree
        ]
        return f"{{{','.join(members)}}}"
    if isinstance(tree, list):
        return f"[{','.join(write_json(item, ascii_only=ascii_only) for item in tree)}]"
    return json.dumps(tree, ensure_ascii=ascii_only)


def repeats(tree) -> bool:
    if isinstance(tree, Members):
        names = [key for key, _ in tree]
        return len(set(names)) < len(names) or any(repeats(value) for _, value in tree)
    return isinstance(tree, list) and any(map(repeats, tree))


@given(documents, st.booleans())
def test_unambiguous_json_reads_as_the_standard_library_reads_it(document, ascii_only):
    text = json.dumps(document, ensure_ascii=ascii_only)
    assert loads(text) == json.loads(text) == document
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        return
    assert loads(encoded) == document


@given(trees, st.booleans(), st.sampled_from(["utf-8", "utf-16", "utf-32-be"]))
def test_repeated_key_is_found_at_any_depth_and_nothing_else_is(tree, ascii_only, encoding):
    text = write_json(tree, ascii_only=ascii_only)
    try:
        body = text.encode(encoding)
    except UnicodeEncodeError:
        return
    try:
        value = loads(body)
    except AmbiguousJSON:
        assert repeats(tree)
    else:
        assert not repeats(tree)
        assert value == json.loads(text)
