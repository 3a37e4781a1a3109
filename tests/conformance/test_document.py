from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from undersigned.conformance.document import Document, MalformedVector, read_json

VALUES = [None, True, 7, -1, 1.5, 10**15, "text", [], ["a"], ["a", 1], [{}], [[1, 2]], [["a", "b"]], {}, {"a": 1}]
READERS = {
    "text": [str],
    "integer": [int],
    "flag": [bool],
    "texts": [list],
    "document": [Document],
    "documents": [list],
    "pairs": [list],
}


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"{", "not JSON from character 2 on"),
        (b"\xff", "not UTF-8"),
        (b'{"a":1,"a":2}', "parsers interpret differently"),
        (b"[" * 100_000, "parsers interpret differently"),
        (b'{"a":NaN}', "parsers interpret differently"),
    ],
)
def test_file_is_rejected_with_its_fault_when_it_has_not_one_reading(data, fault):
    with pytest.raises(MalformedVector, match=fault):
        read_json(data)


def test_readers_return_members_of_their_type():
    document = Document(read_json(b'{"t":"x","i":7,"f":true,"l":["a"],"o":{"t":"y"},"d":[{"t":"z"}],"n":null}'))
    assert (document.text("t"), document.integer("i"), document.flag("f"), document.texts("l")) == ("x", 7, True, ["a"])
    assert document.document("o").text("t") == "y"
    assert [inner.text("t") for inner in document.documents("d")] == ["z"]
    assert "t" in document
    assert "n" not in document
    assert 7 not in document


def test_absent_member_has_its_default():
    empty = Document({"null": None})
    for name in ("absent", "null"):
        assert (empty.text(name, "x"), empty.integer(name, 7), empty.flag(name, default=False)) == ("x", 7, False)
        assert empty.optional(name) == Document({})


def test_optional_object_of_another_type_is_rejected():
    with pytest.raises(MalformedVector, match="o is not an object"):
        Document({"o": []}).optional("o")


@pytest.mark.parametrize("value", [{"a": "1", "b": "2"}, [["a", "1"], ["b", "2"]]])
def test_pairs_are_an_object_or_a_list(value):
    assert Document({"p": value}).pairs("p") == [("a", "1"), ("b", "2")]


@pytest.mark.parametrize("value", [{"a": 1}, [["a"]], [["a", "b", "c"]], [[1, "a"]], "ab", ["ab"], None, 7])
def test_pairs_are_rejected_unless_they_are_pairs_of_strings(value):
    with pytest.raises(MalformedVector, match=r"^p "):
        Document({"p": value}).pairs("p")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", VALUES)
def test_member_is_of_the_readers_type_or_rejected(value, reader):
    outcome = of(lambda: getattr(Document({"m": value}), reader)("m"))
    assert type(outcome) in READERS[reader] or str(outcome).startswith("m ")


@given(data=st.binary() | st.recursive(st.none() | st.text(), st.lists).map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_a_value_or_malformed(data):
    outcome = of(lambda: read_json(data))
    assert not isinstance(outcome, MalformedVector) or str(outcome).isprintable()


def of(read):
    """Return the value, or the error."""
    try:
        return read()
    except MalformedVector as malformed:
        return malformed
