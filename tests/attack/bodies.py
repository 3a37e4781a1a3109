"""Contents that one reader may take for another one: a JSON document, mutated as a value and as octets."""

from __future__ import annotations

import copy
import gzip
import json
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

AUTHENTICATION = {"schemes": ["Bearer"], "credentials": "c" * 32}
CONFIG = {"url": "https://buyer.example.com/hook", "authentication": AUTHENTICATION}
REGISTRATION = {"push_notification_config": CONFIG}

_JSON, _TEXT = ("Content-Type", "application/json"), ("Content-Type", "text/plain")
_ENCODINGS = ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-7", "cp037", "utf-8")
_TYPES = (
    "application/json", "application/json; charset=utf-8", "application/json; charset=utf-16",
    "application/json; charset=utf-7",
    "text/plain", "text/plain; charset=utf-7", "text/plain; charset=utf-16le", "text/plain; charset=cp037", "text/json",
    "application/vnd.api+json", "application/octet-stream", "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=b",
    "application/x-ndjson", "application/yaml", "application/a2a+json", "", "application/json, text/plain",
    "APPLICATION/JSON",
)  # fmt: skip
_OCTETS = (
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\xaf", b"\x00", b"\xef\xbb\xbf", b"\x0b", b"\x0c", b"\x1e",
    b"\xe2\x80\xa8", b"\xc2\xa0",
    b" ", b"\n", b"\t", b",", b"/**/", b"//\n", b"#\n", b"NaN", b"\\u0000", b"\\ud800", b"'", b"\x7f", b"\xe2\x80\x8b",
    b"_", b"-",
)  # fmt: skip

Message = tuple[list[tuple[str, str]], bytes]
"""Header fields and content."""


def plain(document: object) -> Message:
    return [_JSON], json.dumps(document).encode()


def first(document: object) -> Iterator[Message]:
    """Yield the mutations that are always tried."""
    text = json.dumps(document)
    for kind in _TYPES:
        yield [("Content-Type", kind)], text.encode()
    for encoding in _ENCODINGS:
        for fields in ([_JSON], [_TEXT], [("Content-Type", f"text/plain; charset={encoding}")]):
            yield fields, text.encode(encoding)
    for coding, encode in _CODINGS.items():
        for fields in ([_JSON], [_TEXT], []):
            yield [*fields, ("Content-Encoding", coding)], encode(text.encode())
            yield [*fields, ("Content-Encoding", coding)], text.encode()
            yield fields, encode(text.encode())
    for octets in _OCTETS:
        named, config = text.find("authentication"), text.find("_config")
        for at in (0, 1, named, named + 4, config, len(text) - 1, len(text)):
            if at >= 0:
                for fields in ([_JSON], [_TEXT]):
                    yield fields, text[:at].encode() + octets + text[at:].encode()
    yield from _dropped_octets(text)
    for path in _paths(document):
        value = _at(document, path)
        if isinstance(value, (dict, list)) and path:
            written = json.dumps(value)
            for string in (written, f" {written}", json.dumps(written), _escape_letters(written)):
                yield plain(_with(document, path, string))
            dropped = json.dumps(_with(document, path, f"\ud800{written}"), ensure_ascii=False)
            yield [_TEXT], dropped.encode("utf-8", "surrogatepass")
            yield plain(_with(document, path, [value]))
            yield plain(_with(document, path, {"value": value}))
    yield plain([document])
    yield plain(text)


def _dropped_octets(text: str) -> Iterator[Message]:
    """Yield the text in UTF-16 with two octets that make a letter another character. A reader of UTF-8 drops both."""
    for encoding, octets in (("utf-16-le", b"\xaf\xc0"), ("utf-16-be", b"\xc0\xaf")):
        for at in (text.find("authentication"), text.find("onfig")):
            encoded, middle = text.encode(encoding), 2 * at + 1
            yield [_TEXT], encoded[:middle] + octets + encoded[middle:]


def mutate(random: Random, document: object) -> Message:
    """Return the document after some mutations of its value, of its text, and of the fields that say how to read it."""
    value = copy.deepcopy(document)
    for _ in range(random.choice((0, 1, 1, 2))):
        value = _value(random, value)
    text = json.dumps(value, ensure_ascii=random.random() < 0.7)
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        text = random.choice(_TEXTS)(random, text)
    content = text.encode("utf-8", "surrogatepass")
    if random.random() < 0.1:
        content = text.encode(random.choice(_ENCODINGS), "ignore")
    if random.random() < 0.3:
        at = random.randrange(len(content) + 1)
        content = content[:at] + random.choice(_OCTETS) + content[at:]
    fields = [("Content-Type", random.choice(_TYPES))] if random.random() < 0.5 else [_JSON]
    if random.random() < 0.1:
        coding = random.choice(list(_CODINGS))
        content = _CODINGS[coding](content)
        fields += [("Content-Encoding", coding)] * (random.random() < 0.8)
    return fields, content


def graft(random: Random, harmless: object, forbidden: object) -> Message:
    """Return a harmless document with pieces of a forbidden one, under the names that either has."""
    value = copy.deepcopy(harmless)
    pieces = [_at(forbidden, path) for path in _paths(forbidden)]
    paths = [*_paths(harmless), *_paths(forbidden)]
    names = [path[-1] for path in paths if path and isinstance(path[-1], str)]
    for _ in range(random.choice((1, 1, 2))):
        path = random.choice(_paths(value))
        place, piece = _at(value, path), copy.deepcopy(random.choice(pieces))
        if isinstance(place, dict):
            name = random.choice(names)
            members = [*place.items(), (name if random.random() < 0.7 else _rename(random, name), piece)]
            random.shuffle(members)
            value = _with(value, path, dict(members))
        elif isinstance(place, list):
            at = random.randrange(len(place) + 1)
            value = _with(value, path, [*place[:at], piece, *place[at:]])
    return mutate(random, value) if random.random() < 0.3 else plain(value)


_CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "deflate": zlib.compress,
    "identity": bytes,
    "GZIP": lambda content: gzip.compress(content, mtime=0),
    "x-gzip": lambda content: gzip.compress(content, mtime=0),
}


def _paths(value: object, at: tuple = ()) -> list[tuple]:
    found = [at]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in items:
        found += _paths(member, (*at, key))
    return found


def _at(document, path: tuple):
    for key in path:
        document = document[key]
    return document


def _with(document, path: tuple, value):
    if not path:
        return value
    changed = copy.deepcopy(document)
    _at(changed, path[:-1])[path[-1]] = value
    return changed


def _value(random: Random, document: object) -> object:
    """Change one place of the value."""
    path = random.choice(_paths(document))
    value = _at(document, path)
    written = json.dumps(value)
    changes = [written, [value], {"value": value}, None, f"[{written}]", _escape_letters(written)]
    if isinstance(value, dict) and value:
        name = random.choice(list(value))
        others = {key: member for key, member in value.items() if key != name}
        changes += [{**others, _rename(random, name): value[name]}] * 4
        changes.append({**value, _rename(random, name): random.choice((None, {}, "get_products", value[name]))})
    return _with(document, path, random.choice(changes))


def _rename(random: Random, name: str) -> str:
    camel = "".join(part.title() if at else part for at, part in enumerate(name.split("_")))
    spaced = (f"{name} ", f" {name}", f"{name}\0", f"{name}\u200b", name[:3] + "\ufeff" + name[3:])
    alike = name.replace("k", "\u212a").replace("s", "\u017f")
    return random.choice((name.upper(), name.title(), camel, name.replace("_", "-"), alike, *spaced))


def _escape_letters(text: str) -> str:
    """Write every letter of `text` as an escape."""
    return "".join(f"\\u{ord(character):04x}" if character.isalpha() else character for character in text)


def _escape(random: Random, text: str) -> str:
    at = random.randrange(len(text) or 1)
    return text[:at] + _escape_letters(text[at : at + 1]) + text[at + 1 :]


def _double(random: Random, text: str) -> str:
    """Give an object a member again, first or last."""
    at = random.choice([place for place, character in enumerate(text) if character == "{"] or [0])
    member = random.choice(
        ('"authentication":null', '"name":"get_products"', '"method":"ping"', '"params":{}', '"skill":"get_products"')
    )
    return text[: at + 1] + member + "," + text[at + 1 :]


def _trailing(random: Random, text: str) -> str:
    return text + random.choice(("\n{}", "{}", "]", "}", ",", "\0", "\x1a", "\n# x", " garbage", "\n" + text, ";"))


def _leading(random: Random, text: str) -> str:
    start = ("\ufeff", "{}\n", ")]}',\n", "\n\n", "// x\n", "/* x */", "\x1e", "\0", "x=", "[", "a: b\n")
    return random.choice(start) + text


def _loose(random: Random, text: str) -> str:
    """Write what only lenient parsers read."""
    written = (('"', "'"), ("}", ",}"), ("]", ",]"), ("null", "NaN"), (":", "="), ("{", "{x:1,"))
    old, new = random.choice((*written, ('"authentication"', "authentication")))
    return text.replace(old, new) if random.random() < 0.5 else text.replace(old, new, 1)


_TEXTS: tuple[Callable[[Random, str], str], ...] = (_escape, _escape, _double, _double, _trailing, _leading, _loose)
