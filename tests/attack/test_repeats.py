"""What counts as repeated, over a long walk of signers, rotations, operations and clocks: what a model says (UCP)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from tests.keys import hostile_request

from undersigned import KeyPair, KeySet, MemoryReplayStore, Request, SignatureError, Verifier
from undersigned.message.content_digest import content_digest
from undersigned.profiles import UCP, UCP_MCP

if TYPE_CHECKING:
    from random import Random

HOUR, DAY = 3600, 86_400
ORIGIN = "https://shop.example"
STEPS = 1500


@dataclass(frozen=True)
class Sent:
    """A request that somebody signs. Without `created`, nothing ends it."""

    signer: str
    key: int
    method: str
    path: str
    query: str
    body: bytes
    idempotency_key: str | None
    created: int | None

    def request(self, signing) -> Request:
        fields = {"Idempotency-Key": self.idempotency_key} if self.idempotency_key is not None else {}
        if self.body:
            fields |= {"Content-Type": "application/json", "Content-Digest": content_digest(self.body, "base64")}
        names = ["@method", "@authority", "@path", *["@query"] * bool(self.query), *map(str.lower, fields)]
        date = f";created={self.created}" if self.created is not None else ""
        listed = " ".join(f'"{name}"' for name in names)
        written = f'sig1=({listed}){date};keyid="{self.signer}{self.key}"'
        request = Request(self.method, ORIGIN + self.path + self.query, fields, self.body)
        return hostile_request(request, written, key=signing[self.signer, self.key])


class Shop:
    """What was first asked for under each name, until it is forgotten."""

    def __init__(self) -> None:
        self.known: dict[object, tuple[object, int]] = {}

    def expected(self, sent: Sent, now: int) -> set[object]:
        """Whether a request is `repeated`, or why it is rejected. A store may forget later than it must."""
        if sent.created is not None and not sent.created - 60 <= now <= sent.created + 2 * DAY + 60:
            return {"signature_window_invalid"}
        if sent.idempotency_key is None and sent.method == "GET":
            return {False}
        name, content = self._parts(sent)
        if name not in self.known:
            return {False}
        first, until = self.known[name]
        return {True if first == content else "signature_replayed"} | ({False} if now > until else set())

    def note(self, sent: Sent, now: int) -> None:
        """Note a request that was new or came again: it can be repeated for as long from now on."""
        name, content = self._parts(sent)
        self.known[name] = content, now + 4 * DAY

    @staticmethod
    def _parts(sent: Sent) -> tuple[object, object]:
        if sent.idempotency_key is None:
            return sent, sent
        return (sent.signer, sent.method, sent.path, sent.idempotency_key), (sent.query, sent.body)


def walk(random: Random, now: int, before: list[Sent]) -> Sent:
    """A new request, or an earlier one: as it was, signed again, by another key or signer, or changed."""
    if not before or random.random() < 0.3:
        method = random.choice(["POST", "PUT", "GET", "DELETE"])
        return Sent(
            signer=random.choice("ab"),
            key=random.randrange(3),
            method=method,
            path=random.choice(["/checkouts", "/checkouts/1", "/orders"]),
            query=random.choice(["", "", "?a=1", "?a=2"]),
            body=b"" if method in {"GET", "DELETE"} else random.choice([b"{}", b'{"a":1}']),
            idempotency_key=random.choice([None, "k-1", "k-2", "k 1", "K-1"]),
            created=random.choice([now, now, now - HOUR, None]),
        )
    sent = random.choice(before[-60:])
    change = random.choice(
        [
            {},
            {},
            {"created": now},
            {"key": random.randrange(3), "created": now},
            {"key": random.randrange(3)},
            {"signer": random.choice("ab")},
            {"body": b'{"b":2}' if sent.body else b""},
            {"query": random.choice(["", "?a=1", "?a=%31"])},
            {"path": "/orders"},
            {"method": "PATCH" if sent.body else sent.method},
            {"created": None},
        ]
    )
    return replace(sent, **change)


@pytest.mark.parametrize("profile", [UCP, UCP_MCP], ids=lambda profile: profile.name)
def test_repeated_is_what_the_signer_asked_for_already_whichever_key_signs(search, profile):
    pairs = {(signer, key): KeyPair.generate(keyid=f"{signer}{key}") for signer in "ab" for key in range(3)}
    keys = KeySet.of(*[key.with_owner(signer) for (signer, _), pair in pairs.items() for key in pair.key_set()])
    signing = {name: pair.signing_key() for name, pair in pairs.items()}
    now, shop, before = [1_795_305_605], Shop(), []
    verifier = Verifier(profile, keys=keys, replay=MemoryReplayStore(), clock=lambda: now[0])
    outcomes = set()
    for _ in range(STEPS):
        now[0] += search.random.choice(
            [0, 0, 1, 61, 7 * HOUR, 2 * DAY + 61] if search.random.random() < 0.3 else [0, 7]
        )
        sent = walk(search.random, now[0], before)
        before.append(sent)
        try:
            got: object = verifier.verify(sent.request(signing)).repeated
        except SignatureError as error:
            got = error.reason
        assert got in shop.expected(sent, now[0]), (sent, now[0])
        if got in {False, True}:
            shop.note(sent, now[0])
        outcomes.add(got)
    assert outcomes == {False, True, "signature_replayed", "signature_window_invalid"}
