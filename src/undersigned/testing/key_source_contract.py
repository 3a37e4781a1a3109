"""The contract of a key source, as a check to run against a source of your own.

def test_my_source_keeps_the_contract():
    check_key_source(MySource(...), keyid="buyer-2026")
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Final, cast

from undersigned.message.header_fields import HeaderFields
from undersigned.signature.key_source import KeyLookup
from undersigned.signature.verification_key import VerificationKey
from undersigned.testing.contract import finish, naming_exceptions, require
from undersigned.verification.blocking_calls import awaited

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.signature.key_source import AsyncKeySource, KeySource

_AWAITED: Final = "the source's answers have to be awaited: use check_async_key_source"

_AT_ONCE, _EACH = 8, 25

_NOBODY: Final = (
    *("", " ", "*", "%", "?", "_", "{}", "[a]", "'", '"', "\\", "a:b", "a,b", "..", "../../etc/passwd", "None", "0"),
    *("https://127.0.0.1:9/jwks.json", "data:application/json,{}", "did:web:localhost", "x" * 2000),
)
"""Texts that a sender may give as a keyid. They are only names, whatever they mean to a database or a file system."""


def check_key_source(source: KeySource, *, keyid: str, owner: str | None = None) -> None:
    """Check that `source` keeps the contract of `KeySource`, with some 300 lookups from up to eight threads.

    Args:
        source: the source; it must be able to tell now which keys it has.
        keyid: the `keyid` of a usable key that it has.
        owner: whose key that is. None: this is not checked.

    Raises:
        AssertionError: the source breaks the contract; the message says how.
    """
    require(not iscoroutinefunction(source.find), _AWAITED)
    require(isinstance(getattr(source, "blocking", None), bool), "blocking: must be True or False")
    contract = _Contract(source, source.find, keyid, owner)
    for check in _CHECKS:
        finish(check(contract), otherwise=_AWAITED)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        for racing in [pool.submit(finish, _race(contract), otherwise=_AWAITED) for _ in range(_AT_ONCE)]:
            racing.result()


async def check_async_key_source(source: AsyncKeySource, *, keyid: str, owner: str | None = None) -> None:
    """Check that `source` keeps the contract of `AsyncKeySource`: as `check_key_source`, with tasks instead of threads.

    Of a source that has `find` and `async_find`, `async_find` is asked.

    Raises:
        AssertionError: the source breaks the contract; the message says how.
    """
    contract = _Contract(source, getattr(source, "async_find", source.find), keyid, owner)
    for check in _CHECKS:
        await check(contract)
    await asyncio.gather(*(_race(contract) for _ in range(_AT_ONCE)))


@dataclass(frozen=True, slots=True)
class _Contract:
    """The source under check, its method that is asked, and a key that it has."""

    source: object
    ask: Callable[[KeyLookup], object]
    keyid: str
    owner: str | None

    async def find(
        self, keyid: str, *, is_second_try: bool = False, url: str = "https://seller.example.com/"
    ) -> list[object]:
        """Return what the source finds, after checking its type."""
        fields = HeaderFields([("Signature-Agent", '"https://127.0.0.1:9"')])
        lookup = KeyLookup(
            keyid, {"keyid": keyid, "alg": "ed25519"}, frozenset({"@method"}), "GET", url, fields, is_second_try
        )
        with naming_exceptions("find", "keys, or none"):
            answer: object = await awaited(self.ask(lookup))
        kind = type(answer).__name__
        require(
            isinstance(answer, Sequence) and not isinstance(answer, str),
            f"find: answered a {kind}; expected a sequence of keys, empty if there is none",
        )
        keys = list(cast("Sequence[object]", answer))
        require(
            all(isinstance(key, VerificationKey) for key in keys),
            "find: answered something else than VerificationKey objects",
        )
        return keys

    async def find_known(self, *, is_second_try: bool = False) -> list[VerificationKey]:
        return cast("list[VerificationKey]", await self.find(self.keyid, is_second_try=is_second_try))


async def _has_the_key_every_time(contract: _Contract) -> None:
    keys = await contract.find_known()
    require(keys, "find: has no key of the keyid that it has")
    require(any(not key.fault for key in keys), f"find: no usable key: {keys[0].fault if keys else ''}")
    require(
        all(key.keyid == contract.keyid for key in keys),
        "find: answered a key of another keyid: the log and the replay store would name that one",
    )
    require(
        contract.owner is None or contract.owner in {key.owner for key in keys},
        "find: no key has the owner that was expected",
    )
    first = {(key.keyid, key.owner, key.algorithm) for key in keys}
    for _ in range(3):
        again = {(key.keyid, key.owner, key.algorithm) for key in await contract.find_known()}
        require(again == first, "find: answers the same lookup in another way the next time")


async def _has_none_for_others(contract: _Contract) -> None:
    known = contract.keyid
    near = {f"{known}x", known[:-1], f" {known}", known.swapcase(), f"{known}/"}
    for keyid in (*_NOBODY, *sorted(near - {known})):
        keys = await contract.find(keyid)
        require(not keys, f"find: has a key for {keyid[:40]!r}, which is not the keyid of one")


async def _takes_any_request(contract: _Contract) -> None:
    for url in ("https://seller.example.com/", "https://127.0.0.1:9/", "http://[::1]/?keyid=x", ""):
        await contract.find(contract.keyid, url=url)
        await contract.find("nobody", url=url)


async def _takes_a_second_look(contract: _Contract) -> None:
    asks_again = getattr(contract.source, "asks_again", False)
    require(isinstance(asks_again, bool), "asks_again: must be True or False, or left out")
    if asks_again:
        await contract.find_known(is_second_try=True)
        require(
            not await contract.find("nobody", is_second_try=True),
            "find: has a key for an unknown keyid at a second look",
        )


_CHECKS: Final = (_has_the_key_every_time, _has_none_for_others, _takes_any_request, _takes_a_second_look)


async def _race(contract: _Contract) -> None:
    for number in range(_EACH):
        require(await contract.find_known(), f"find: {_AT_ONCE} at once do not all get the key")
        require(not await contract.find(f"nobody {number}"), f"find: {_AT_ONCE} at once get the key of another lookup")
