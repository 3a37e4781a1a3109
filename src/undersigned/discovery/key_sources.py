"""Key sources by signer: each counterparty's keys, from where that counterparty publishes them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from inspect import isawaitable
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from undersigned.discovery.owned import AsyncOwner, Owned, Owner
from undersigned.errors import ConfigurationError
from undersigned.limits import MOST_HINTS
from undersigned.signature.key_source import is_awaited, is_key_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from undersigned.signature.key_source import AsyncKeySource, KeyLookup, KeySource
    from undersigned.signature.verification_key import VerificationKey

Source = TypeVar("Source", bound="AsyncKeySource")

_MOST_THREADS: Final = 16

_Keys = tuple["VerificationKey", ...]
_Answer = tuple[_Keys, Exception | None]


class _Sources(Generic[Source]):
    """The sources of several signers, and the order in which they are asked.

    If all sources were asked for every key, each would fetch for the keys of the other signers. So the first round asks
    the sources that had the key last time. If none has it, the second round asks the sources whose last copy has such a
    key, and those that cannot say. The last round asks all other sources.
    """

    __slots__ = ("_hints", "_owned", "_sources")

    def __init__(self, sources: Mapping[str, Source]) -> None:
        if not isinstance(sources, Mapping) or not sources:
            raise ConfigurationError(
                "sources: give a key source for each signer, such as {'buyer.example.com': source}"
            )
        for signer, source in sources.items():
            if not isinstance(signer, str) or not signer or not signer.isprintable():
                raise ConfigurationError("sources: name each signer by printable text, such as buyer.example.com")
            if not is_key_source(source):
                raise ConfigurationError(f"sources: {signer} has no key source; pass one such as RemoteJWKS(url)")
        self._sources = dict(sources)
        self._owned = Owned(tuple(sources.values()))
        self._hints: dict[str, tuple[str, ...]] = {}

    @property
    def asks_again(self) -> bool:
        """Always True: a signer's new key may have the keyid of another signer's key."""
        return True

    def _rounds(self, lookup: KeyLookup) -> Iterator[dict[str, Source]]:
        """Yield the sources to ask, round by round, until one has the key."""
        hinted = self._hints.get(lookup.keyid, ())
        if hinted and not lookup.again:
            yield {signer: self._sources[signer] for signer in hinted}
        likely: dict[str, Source] = {}
        others: dict[str, Source] = {}
        for signer, source in self._sources.items():
            if signer not in hinted:
                holds = getattr(source, "holds", None)
                (likely if holds is None or holds(lookup.keyid) else others)[signer] = source
        if lookup.again:
            # Any source may have the new key, also a source without another key of this name.
            yield likely | others
        else:
            yield likely
            yield others

    def _join(self, lookup: KeyLookup, answers: Sequence[_Answer]) -> _Keys:
        """Join the keys of all answers. If there are no keys, raise the first failure."""
        found = tuple(key for keys, _ in answers for key in keys)
        if found:
            if len(self._hints) >= MOST_HINTS:
                self._hints.clear()
            before = self._hints.get(lookup.keyid, ()) if lookup.again else ()
            self._hints[lookup.keyid] = tuple(dict.fromkeys([*before, *(key.owner for key in found)]))
            return found
        for _, failure in answers:
            if failure is not None:
                raise failure
        return ()


class KeySources(Owner, _Sources["KeySource"]):
    """A key source that combines the sources of several signers, for threads. It names the signer of each key.

    Two signers may have keys with the same keyid. Then both keys are tried, and the key that verifies names the signer.
    `with` (or `start` and `stop`) starts and stops the sources that fetch ahead of time.

    Args:
        sources: a key source for each signer, such as `{"buyer.example.com": RemoteJWKS(url)}`.

    Raises:
        ConfigurationError: a signer is not printable text, or a source is not a key source for threads.
    """

    __slots__ = ()

    def __init__(self, sources: Mapping[str, KeySource]) -> None:
        super().__init__(sources)
        for signer, source in sources.items():
            if is_awaited(source):
                raise ConfigurationError(f"sources: the answers of {signer} have to be awaited; use AsyncKeySources")

    @property
    def blocking(self) -> bool:
        """Whether one of the sources may block."""
        return any(getattr(source, "blocking", True) for source in self._sources.values())

    def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the keys that `lookup.keyid` names, each with its signer as owner.

        Raises:
            Exception: no source has such a key, and at least one failed. It is the exception of the first that failed.
        """
        answers: list[_Answer] = []
        for sources in self._rounds(lookup):
            answers += self._ask(lookup, sources)
            if any(keys for keys, _ in answers):
                break
        return self._join(lookup, answers)

    def _ask(self, lookup: KeyLookup, sources: Mapping[str, KeySource]) -> list[_Answer]:
        """Ask the sources. Those that have to fetch are asked at the same time, so that a slow server delays none."""
        waiting = [(signer, source) for signer, source in sources.items() if _waits(source, lookup)]
        if len(waiting) <= 1:
            return [_ask_source(lookup, signer, source) for signer, source in sources.items()]

        def ask(item: tuple[str, KeySource]) -> _Answer:
            return _ask_source(lookup, *item)

        prompt = [item for item in sources.items() if item not in waiting]
        with ThreadPoolExecutor(min(len(waiting), _MOST_THREADS), "undersigned-keys") as pool:
            return [*map(ask, prompt), *pool.map(ask, waiting)]


class AsyncKeySources(AsyncOwner, _Sources["AsyncKeySource"]):
    """`KeySources` for the tasks of an event loop. Its sources may be async, and `async with` starts and stops them."""

    __slots__ = ()

    async def find(self, lookup: KeyLookup) -> tuple[VerificationKey, ...]:
        """Return the keys as `KeySources.find` does."""
        answers: list[_Answer] = []
        for sources in self._rounds(lookup):
            answers += await asyncio.gather(*(_ask_async_source(lookup, *item) for item in sources.items()))
            if any(keys for keys, _ in answers):
                break
        return self._join(lookup, answers)


def _waits(source: KeySource, lookup: KeyLookup) -> bool:
    waits = getattr(source, "waits", None)
    return getattr(source, "blocking", True) if waits is None else bool(waits(lookup.keyid))


def _ask_source(lookup: KeyLookup, signer: str, source: KeySource) -> _Answer:
    try:
        return _with_owner(source.find(lookup), signer), None
    except Exception as failure:  # noqa: BLE001 - another source may have the key
        return (), failure


async def _ask_async_source(lookup: KeyLookup, signer: str, source: AsyncKeySource) -> _Answer:
    try:
        answer = source.find(lookup)
        return _with_owner(await answer if isawaitable(answer) else answer, signer), None
    except Exception as failure:  # noqa: BLE001 - another source may have the key
        return (), failure


def _with_owner(keys: Iterable[VerificationKey], signer: str) -> _Keys:
    return tuple(key if key.owner == signer else key.with_owner(signer) for key in keys)
