"""Reader differential: no lenient reader of JSON finds a registration with credentials that passed unsigned."""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import zlib
from typing import TYPE_CHECKING

import msgspec
import orjson
import ujson
from tests.attack import bodies
from tests.drive import Message, call_asgi, scope_of
from tests.keys import ORIGIN, verifier

from undersigned import Policy, asgi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CHARSET = re.compile(r"charset=\"?([\w-]+)")
DOCUMENTS = (
    {"account": "acme", **bodies.REGISTRATION},
    {"accounts": [{"pushNotificationConfig": bodies.CONFIG}], "note": "n"},
    {"request": {"push_notification_config": bodies.CONFIG}},
)


def registers(value: object, *, depth: int = 6) -> bool:
    """Return whether an application that looks for the usual names finds credentials, in strings of JSON too."""
    if depth == 0:
        return False
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            return False
        return not isinstance(inner, str) and registers(inner, depth=depth - 1)
    if isinstance(value, list):
        return any(registers(item, depth=depth - 1) for item in value)
    if not isinstance(value, dict):
        return False
    for name in ("push_notification_config", "pushNotificationConfig"):
        config = value.get(name)
        if isinstance(config, str):
            try:
                config = json.loads(config)
            except ValueError:
                continue
        if isinstance(config, dict) and config.get("authentication") is not None:
            return True
    return any(registers(member, depth=depth - 1) for member in value.values())


def decoded(fields: list[tuple[str, str]], content: bytes) -> Iterator[bytes]:
    """Yield the content, and JSON after the codings that the fields name."""
    yield content
    if "json" not in dict(fields).get("Content-Type", "").lower():
        return
    coding = dict(fields).get("Content-Encoding", "").lower()
    try:
        if "gzip" in coding:
            yield gzip.decompress(content)
        elif coding == "deflate":
            yield zlib.decompress(content)
    except (OSError, EOFError, zlib.error):
        return


def texts(fields: list[tuple[str, str]], content: bytes) -> Iterator[str]:
    """Yield the text that each way of decoding finds."""
    charset = _CHARSET.search(dict(fields).get("Content-Type", ""))
    named = charset[1] if charset else "utf-8"
    for encoding in dict.fromkeys((named, "utf-8", "utf-8-sig", "latin-1", "cp1252", json.detect_encoding(content))):
        for errors in ("strict", "ignore", "replace"):
            try:
                text = content.decode(encoding, errors)
            except (ValueError, LookupError):
                continue
            yield text
            yield text.replace("\0", "")


def values(text: str) -> Iterator[object]:
    """Yield the values that each parser finds, also those of Litestar (msgspec) and Sanic (ujson)."""
    yield from _tried(lambda: ujson.loads(text))
    yield from _tried(lambda: orjson.loads(text))
    yield from _tried(lambda: msgspec.json.decode(text))
    yield from _tried(lambda: json.loads(text, strict=False))
    yield from _tried(lambda: json.JSONDecoder(strict=False).raw_decode(text.lstrip())[0])


def _tried(parse: Callable[[], object]) -> Iterator[object]:
    try:
        yield parse()
    except (ValueError, RecursionError, msgspec.MsgspecError):
        return


def found_by_anybody(fields: list[tuple[str, str]], content: bytes) -> bool:
    return any(
        registers(value)
        for octets in decoded(fields, content)
        for text in texts(fields, octets)
        for value in values(text)
    )


class Passed:
    """An application that only knows whether it was called."""

    called = False

    async def __call__(self, _scope, _receive, send) -> None:
        self.called = True
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


def test_no_reader_finds_a_registration_that_passed_unsigned(search):
    passed = Passed()
    guarded = asgi.SignatureMiddleware(passed, verifier=verifier(), origins=[ORIGIN], policy=Policy())
    assert all(found_by_anybody(*bodies.plain(document)) for document in DOCUMENTS)

    async def run() -> None:
        first = (made for document in DOCUMENTS for made in bodies.first(document))
        for fields, content in search.of(first, lambda random: bodies.mutate(random, random.choice(DOCUMENTS))):
            message = Message("/adcp/sync_accounts", "POST", fields, content)
            passed.called = False
            await call_asgi(guarded, scope_of(message), content)
            if not passed.called:
                continue
            search.reach()
            if found_by_anybody(fields, content):
                search.find(str(fields), f"{fields} {content!r}")

    asyncio.run(run())
    search.finish(reached=search.tried // 50)
