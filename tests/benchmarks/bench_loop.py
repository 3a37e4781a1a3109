"""The longest stretch for which one unsigned request holds the event loop, over targets, bodies and a search."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import time
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tests.benchmarks.bench_middleware import ORIGINS, application, scope_of
from tests.benchmarks.row import Row
from tests.keys import JSON_FIELD, signer, verifier

from undersigned import A2AResolver, JSONRPCResolver, PathResolver, Policy, Request, asgi
from undersigned.limits import (
    DEFAULT_MAX_UNSIGNED_BODY,
    LONGEST_ON_LOOP,
    LONGEST_TARGET,
    MOST_FIELDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.policy import OperationResolver

_REACH = 5000.0
"""Microseconds. CPython lets another thread run after as long a time, `sys.getswitchinterval`."""
_MOST_COST = 2.0
_SEED = 9421
_PATH = "/adcp/get_products"
"""Of an operation that needs no signature, so the body is read."""

RPC = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_products","arguments":%s}}'
A2A = (
    b'{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",'
    b'"parts":[{"data":{"skill":"get_products","input":%s}}]}}}'
)
INTERFACES: dict[str, tuple[OperationResolver, bytes]] = {
    "plain HTTP": (PathResolver(), b"%s"),
    "JSON-RPC": (JSONRPCResolver(), RPC),
    "JSON-RPC params": (JSONRPCResolver(), RPC.partition(b'{"name"')[0] + b"%s}"),
    "A2A": (A2AResolver(), A2A),
    "A2A parts": (A2AResolver(), A2A.partition(b"[")[0] + b"%s}}}"),
}


def rows(*, quick: bool) -> list[Row]:
    """Measure the longest content that is read on the event loop, and the longest that is read at all."""
    rounds = 1 if quick else 7
    return [
        asyncio.run(_targets(rounds)),
        asyncio.run(_costs(rounds)),
        *(
            row
            for size in (LONGEST_ON_LOOP, DEFAULT_MAX_UNSIGNED_BODY)
            for row in asyncio.run(_measure(size, rounds=rounds, tries=5 if quick else 200))
        ),
    ]


async def _targets(rounds: int) -> Row:
    """Measure the longest targets, with as many header fields as are read."""
    fields = [("Host", "seller.example.com"), *((f"x{at}", "") for at in range(MOST_FIELDS - 1))]
    measured = []
    for interface in INTERFACES:
        middle = _middleware(interface)
        for kind, target in targets().items():
            path, _, query = target.partition("?")
            scope = {
                **scope_of(fields),
                "method": "GET",
                "path": unquote(path),
                "raw_path": path.encode(),
                "query_string": query.encode(),
            }
            held = min([await _stretch(middle, scope, b"") for _ in range(rounds)])
            measured.append((held, kind, interface))
    worst, kind, interface = max(measured)
    name = f"hold the event loop with a target of {LONGEST_TARGET:,} characters, the worst: {kind} over {interface}"
    return Row(name, "", worst, _REACH, "us")


def targets() -> dict[str, str]:
    """The longest targets that are read, each the worst of its kind."""
    room = LONGEST_TARGET - len(ORIGINS[0])
    half = room // 5
    return {
        "slashes": "/" * room,
        "segments": "/a" * (room // 2),
        "dot segments": "/a/.." * half,
        "dot segments after the others": "/a" * half + "/.." * half,
        "escapes": "/" + "%c3%a9" * (room // 6 - 1),
        "escapes of unreserved characters": "/" + "%7e" * (room // 3 - 1),
        "a task": "/tasks/" + "a:cancel" * (room // 8 - 1),
        "a webhook": "/" + "webhoo-" * (room // 14) + "/" + "notificationconf-" * (room // 36),
        "escapes in the query": "/p?" + "%41" * (room // 3 - 1),
    }


def _middleware(interface: str) -> asgi.SignatureMiddleware:
    policy = Policy(required_for=["create_media_buy"], resolver=INTERFACES[interface][0])
    return asgi.SignatureMiddleware(application, verifier=verifier(), origins=ORIGINS, policy=policy)


async def _measure(size: int, *, rounds: int, tries: int) -> list[Row]:
    listed = [
        (await _time_held(interface, body, rounds), kind, interface)
        for interface, (_, around) in INTERFACES.items()
        for kind, body in bodies(size, around)
    ]
    worst, kind, interface = max(listed)
    name = f"hold the event loop with {size:,} unsigned bytes"
    found, fragment = await _search(size, rounds=rounds, tries=tries)
    return [
        Row(f"{name}, the worst: {kind} over {interface}", "", worst, _REACH, "us"),
        Row(f"{name}, the worst that a search finds: {fragment}", "", found, _REACH, "us"),
    ]


async def _time_held(interface: str, body: bytes, rounds: int) -> float:
    """Return the longest stretch, in microseconds: the least of some rounds, as other processes only add to it."""
    middle = _middleware(interface)
    fields = [("Host", "seller.example.com"), JSON_FIELD, ("Content-Length", str(len(body)))]
    if interface == "plain HTTP" and not _is_json(body):
        fields[1] = ("Content-Type", "text/plain")
    scope = {**scope_of(fields), "path": _PATH, "raw_path": _PATH.encode()}
    return min([await _stretch(middle, scope, body) for _ in range(rounds)])


async def _stretch(middle: asgi.SignatureMiddleware, scope: dict[str, object], body: bytes) -> float:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(_message: object) -> None:
        """Send it nowhere."""

    # Of the process: also while the event loop waits for a thread, and never while another process runs.
    clock, longest = time.process_time, 0.0
    gc.collect()
    gc.disable()
    try:
        request = asyncio.create_task(middle(scope, receive, send))
        before = clock()
        while not request.done():
            # Everything else that the loop serves has a turn as often as this has.
            await asyncio.sleep(0)
            now = clock()
            longest, before = max(longest, now - before), now
    finally:
        gc.enable()
    await request
    return longest * 1e6


async def _costs(rounds: int) -> Row:
    """Measure the most expensive unsigned content in accepted requests with ordinary JSON of the same length."""
    worst, where = 0.0, ""
    for interface in ("plain HTTP", "JSON-RPC", "A2A"):
        around = INTERFACES[interface][1]
        ordinary = around % _ordinary(DEFAULT_MAX_UNSIGNED_BODY - len(around))
        request = Request("POST", f"{ORIGINS[0]}{_PATH}", [JSON_FIELD], ordinary)
        accepted = min([await _time_spent(interface, ordinary, signer().sign(request)) for _ in range(rounds)])
        for kind, body in bodies(DEFAULT_MAX_UNSIGNED_BODY, around):
            unsigned = min([await _time_spent(interface, body) for _ in range(rounds)])
            worst, where = max((worst, where), (unsigned / accepted, f"{kind} over {interface}"))
    name = f"read {DEFAULT_MAX_UNSIGNED_BODY:,} unsigned bytes, the worst: {where}"
    return Row(name, "accept a signed request with as long JSON", worst, _MOST_COST)


def _ordinary(room: int) -> bytes:
    """Return a list of products, as a seller's."""
    product = {
        "product_id": "ctv_sports_premium",
        "name": "Sports, premium inventory",
        "formats": ["video_15s", "video_30s"],
        "price": {"currency": "USD", "cpm": 25.5},
        "guaranteed": True,
    }
    one = json.dumps(product)
    return f"[{', '.join([one] * ((room - 2) // (len(one) + 2)))}]".encode()


async def _time_spent(interface: str, body: bytes, signature: Sequence[tuple[str, str]] = ()) -> float:
    """Return the processor time of a request."""
    kind = JSON_FIELD if interface != "plain HTTP" or _is_json(body) else ("Content-Type", "text/plain")
    fields = [("Host", "seller.example.com"), kind, ("Content-Length", str(len(body))), *signature]
    middle, scope = _middleware(interface), {**scope_of(fields), "path": _PATH, "raw_path": _PATH.encode()}

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(_message: object) -> None:
        """Send it nowhere."""

    gc.collect()
    gc.disable()
    try:
        began = time.process_time()
        await middle(scope, receive, send)
        return time.process_time() - began
    finally:
        gc.enable()


def bodies(size: int, around: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield content of at most `size` bytes inside of `around`, each the worst of its kind."""
    room = size - len(around) + 2
    for kind, fragment in (
        ("empty objects", "{}"),
        ("objects of one member", '{"":0}'),
        ("objects in objects", '{"a":{"a":{"a":{"a":{"a":{"a":0}}}}}}'),
        ("empty lists", "[]"),
        ("lists in lists", "[" * 100 + "]" * 100),
        ("short numbers", "0"),
        ("exponents", "1e9"),
        ("long integers", "9" * 4300),
        ("long fractions", "0." + "7" * 4000),
        ("empty strings", '""'),
        ("strings of escapes", '"' + "\\u0041" * 100 + '"'),
        ("strings of JSON", '"{aaaaaaaaaaaaaa"'),
        ("strings of JSON with escapes", '"{' + "\\\\x41" * 3 + '"'),
        ("strings of JSON with percent signs", '"{' + "%41" * 5 + '"'),
        ("a webhook's members", '{"webhook":{"authenticatio":0}}'),
        ("parts of text", '{"text":""}'),
        ("parts with another member", '{"text":0,"x":0}'),
    ):
        yield kind, around % _repeat(fragment, room)
    yield "deep lists", around % (b"[" * 450 + b"]" * 450)
    yield "short members", around % _members("{:x}", room)
    yield "long members", around % _members("webhook_{:x}", room)
    yield "duplicate members", around % (b"{" + _join(b'"aa":0', room) + b"}")
    for kind, text in (("separators", "-"), ("letters and separators", "-a"), ("other letters", "\u0130")):
        yield f"a name of {kind}", around % b'{"%s":[0]}' % (text * ((room - 7) // len(text.encode()))).encode()
    for kind, text in (("x escapes", "\\\\x41"), ("nested escapes", "\\\\x5cx41"), ("percent signs", "%41")):
        yield f"one string of {kind}", around % b'"{%s"' % _fill(text.encode(), room - 3)
    if around == b"%s":
        for kind, text in (("x escapes", "\\x41"), ("nested escapes", "\\x5cx41"), ("percent signs", "%41")):
            yield f"text of {kind}", _fill(text.encode(), size)
        yield "UTF-16", ('{"a":0},' * (size // 16)).encode("utf-16-le")
    else:
        yield "a batch", b"[" + _join(b'{"jsonrpc":"2.0"}', room) + b"]"


def _fill(text: bytes, room: int) -> bytes:
    """Return a text that repeats in the room, and then letters."""
    repeated = text * (room // len(text))
    return repeated + b"x" * (room - len(repeated))


def _join(octets: bytes, room: int) -> bytes:
    return _fill(octets + b",", room - len(octets) - 4).rstrip(b"x") + octets


def _repeat(fragment: str, room: int) -> bytes:
    """Return a list of fragments, and of a text in what is left of the room."""
    joined = _join(fragment.encode(), room - 2)
    return b'[%s,"%s"]' % (joined, b"x" * (room - len(joined) - 5))


def _members(name: str, room: int) -> bytes:
    longest = len(name.format(room)) + 5
    most = room // longest
    return json.dumps({name.format(at): 0 for at in range(most)}, separators=(",", ":")).encode()


_TEXTS = ('""', '"a"', '"{a:webhook1234567890"', '"[\\\\x41%41\\u0041"', '"\\ud800"')
_ATOMS = ("0", "-1e9", "1.5", "null", "[]", "{}", *_TEXTS)
_NAMES = ("", "a", "webhook", "authentication", "push_notification_config", "\u0130", "\\u0077ebhook", "text", "data")


def _fragment(chance: random.Random, depth: int) -> str:
    """Return a random piece of JSON."""
    kind = chance.randrange(3 if depth else 1)
    inner = [_fragment(chance, depth - 1) for _ in range(chance.randrange(4))] if kind else []
    if kind == 1:
        return f"[{','.join(inner)}]"
    if kind:
        names = chance.sample(_NAMES, len(inner))
        return "{" + ",".join(f'"{name}":{member}' for name, member in zip(names, inner, strict=True)) + "}"
    return chance.choice(_ATOMS)


async def _search(size: int, *, rounds: int, tries: int) -> tuple[float, str]:
    """Return the worst of random fragments that are repeated: a search that goes on from what was worst before."""
    chance, best, where, worst = random.Random(_SEED), "0", "", 0.0  # noqa: S311 - a search, no secret
    for _ in range(tries):
        fragment = _fragment(chance, 3)
        if chance.random() < 0.5:
            fragment = f"[{best},{fragment}]" if len(best) < 200 else best[1:-1] or best
        interface = chance.choice(list(INTERFACES))
        around = INTERFACES[interface][1]
        body = around % _repeat(fragment, size - len(around) + 2)
        if len(body) > size or not _is_json(body):
            continue
        held = await _time_held(interface, body, 1)
        if held > worst and (held := await _time_held(interface, body, rounds)) > worst:
            best, worst, where = fragment, held, interface
    return worst, f"{best} over {where}"


def _is_json(body: bytes) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True
