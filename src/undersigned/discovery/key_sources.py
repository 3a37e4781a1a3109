"""Key sources by signer: each counterparty's keys, from where that counterparty publishes them."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from concurrent.futures import Future
from dataclasses import dataclass
from inspect import isawaitable
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, cast

from undersigned.discovery.threads_and_tasks import in_thread, wait_in_task, wait_in_thread
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.limits import DEFAULT_WAIT_TIMEOUT, LONGEST_IN_LINE, MOST_CANDIDATES, MOST_HINTS, MOST_LOGGED_HOSTS
from undersigned.signature.key_source import is_key_source
from undersigned.verification.asking import finish, from_tasks, is_ready, may_block

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping, Sequence

    from undersigned.discovery.remote_jwks import FetchedKeys, FetchedQuestion
    from undersigned.discovery.threads_and_tasks import Wait
    from undersigned.signature.key_source import AsyncKeySource, KeyLookup
    from undersigned.signature.verification_key import VerificationKey

_MOST_AT_ONCE: Final = 16
"""Sources that are asked at once for one keyid."""

_SOON: Final = 30.0
"""Seconds until all sources are asked again for a key that was found while one of them could not be asked."""

_Keys = tuple["VerificationKey", ...]

_logger = logging.getLogger("undersigned.discovery")


@dataclass(slots=True)
class _Hint:
    """Who had the keys of one keyid when all sources were asked.

    Attributes:
        signers: the signers.
        until: when all sources are asked again.
        found: what the only signer's source found last.
        owned: the same keys, with the signer as owner.
    """

    signers: tuple[str, ...]
    until: float
    found: Sequence[VerificationKey] = ()
    owned: _Keys = ()


class KeySources:
    """A key source that combines the sources of several signers. It names the signer of each key.

    Two signers may have keys with the same keyid. Then both keys are tried, and the key that verifies names the signer.
    The first request for a keyid asks all sources, at most 16 at once, until one deadline. Further requests ask only
    those that had it. A source that fails or hangs does not delay the keys of another.

    Two signers may also publish the same public key. It belongs to the signer whose key it was when all sources were
    asked. If both had it then, nobody can tell whose requests it signs: it is rejected, and the log names both. A
    source that could not be asked is asked again after 30 seconds. Until then, a copy of its key may pass for the key.

    With `signer_of`, a message names its signer. Only that signer's source is asked, so what another one publishes, and
    whether its server answers, does not matter.

    Args:
        sources: a key source for each signer, such as `{"buyer.example.com": RemoteJWKS(url)}`.
        signer_of: returns the signer that a signature names, one of `sources`, or else "": then no key is found. It
            must read only what the signature covers, such as the keyid or `lookup.covered_value(...)`.

    Raises:
        ConfigurationError: there is none, or one is not a key source.
    """

    __slots__ = ("_alone", "_hints", "_logged", "_signer_of", "_sources")

    asks_again = True

    def __init__(
        self, sources: Mapping[str, AsyncKeySource], *, signer_of: Callable[[KeyLookup], str] | None = None
    ) -> None:
        if not sources:
            raise ConfigurationError(
                "sources: give a key source for each signer, such as {'buyer.example.com': source}"
            )
        for signer, source in sources.items():
            if not is_key_source(source):
                raise ConfigurationError(f"sources: {signer} has no key source; pass one such as RemoteJWKS(url)")
        self._sources = dict(sources)
        self._hints: dict[str, _Hint] = {}
        self._logged: set[tuple[str, ...]] = set()
        self._signer_of = signer_of
        self._alone = {signer: KeySources({signer: source}) for signer, source in sources.items()} if signer_of else {}

    @property
    def blocking(self) -> bool:
        """Whether one of the sources may block."""
        return may_block(*self._sources.values())

    def is_ready(self) -> bool:
        """Return whether one of the sources can answer. Fetches that are due begin; none is waited for."""
        ready = [is_ready(source) for source in self._sources.values()]
        return any(ready)

    def find(self, lookup: KeyLookup) -> _Keys:
        """Return the keys that `lookup.keyid` names, each with its signer as owner.

        Raises:
            Exception: no source has such a key, and at least one failed. It is the exception of the first that failed.
        """
        if self._signer_of is not None:
            alone = self._alone.get(self._signer_of(lookup))
            return () if alone is None else alone.find(lookup)
        return self._hinted(lookup) or finish(self._search(lookup, wait_in_thread))

    def async_find(self, lookup: KeyLookup) -> _Keys | Coroutine[object, None, _Keys]:
        """Return the keys as `find` does, or an awaitable of them if a source has to be asked."""
        if self._signer_of is not None:
            alone = self._alone.get(self._signer_of(lookup))
            return () if alone is None else alone.async_find(lookup)
        return self._hinted(lookup) or self._search(lookup, wait_in_task)

    def _hinted(self, lookup: KeyLookup) -> _Keys:
        """Return the keys of the only signer that had this keyid, if they may be used without waiting."""
        hint = self._hints.get(lookup.keyid)
        if hint is None or lookup.again or len(hint.signers) != 1 or time.monotonic() >= hint.until:
            return ()
        found = self._held(hint.signers[0], lookup)
        if found != hint.found:
            hint.found, hint.owned = found, _with_owner(found, hint.signers[0])
        return hint.owned

    async def _search(self, lookup: KeyLookup, wait: Wait) -> _Keys:
        hint = self._hints.get(lookup.keyid)
        known: tuple[str, ...] = ()
        if hint is not None and (lookup.again or time.monotonic() < hint.until):
            known = hint.signers
        if known and not lookup.again:
            answers, _ = await self._ask(lookup, known, wait)
            if found := self._join(lookup.keyid, answers):
                return found
        # At a second look, any other source may have a new key of this name.
        asked = [signer for signer in self._sources if not lookup.again or signer not in known]
        answers, failures = await self._ask(lookup, asked, wait)
        if lookup.again:
            # Who copies a key that another signer had before does not get it.
            held = {key.thumbprint for signer in known for key in self._held(signer, lookup)} - {""}
            answers = {signer: [key for key in keys if key.thumbprint not in held] for signer, keys in answers.items()}
        found = self._join(lookup.keyid, answers)
        if found:
            signers = (*(known if lookup.again else ()), *(signer for signer, keys in answers.items() if keys))
            if len(self._hints) >= MOST_HINTS:
                self._hints.clear()
            self._hints[lookup.keyid] = _Hint(signers, time.monotonic() + _SOON if failures else math.inf)
        elif failures:
            raise failures[0]
        return found

    def _held(self, signer: str, lookup: KeyLookup) -> Sequence[VerificationKey]:
        source = self._sources[signer]
        if hasattr(source, "fetched_question"):
            return cast("FetchedKeys", source).held(lookup.keyid)
        return () if may_block(source) else cast("Sequence[VerificationKey]", source.find(lookup))

    async def _ask(
        self, lookup: KeyLookup, signers: Sequence[str], wait: Wait
    ) -> tuple[dict[str, Sequence[VerificationKey]], list[Exception]]:
        """Ask sources at the same time. Return the keys of each that answered in time, and why others did not."""
        ends = time.monotonic() + DEFAULT_WAIT_TIMEOUT
        questions = {signer: _question(self._sources[signer], lookup, wait) for signer in signers}
        answers: dict[str, Sequence[VerificationKey]] = {}
        failures: list[Exception] = []
        while questions:
            pending: list[Future[object]] = []
            for signer, question in list(questions.items()):
                if len(pending) >= _MOST_AT_ONCE:
                    break
                is_over = time.monotonic() >= ends
                future = None if is_over else question.begin()
                if future is not None:
                    pending.append(future)
                    continue
                del questions[signer]
                try:
                    answers[signer] = question.end()
                except Exception as failure:  # noqa: BLE001 - another source may have the key
                    failures.append(failure)
            if not pending:
                continue
            if any(answers.values()) and all(question.is_failing for question in questions.values()):
                failures.append(KeySourceError("signature_jwks_unavailable", "a source that failed is asked again"))
                break
            await wait(pending, max(0.0, ends - time.monotonic()))
        # In the operator's order, whoever answered first.
        return {signer: answers[signer] for signer in signers if signer in answers}, failures

    def _join(self, keyid: str, answers: Mapping[str, Sequence[VerificationKey]]) -> _Keys:
        """Return the keys of all signers, one of each signer in turn, without those that two signers publish.

        Raises:
            KeySourceError: all keys are such keys.
        """
        owned = [_with_owner(keys, signer) for signer, keys in answers.items()]
        in_turn = [key for turn in zip_longest(*owned) for key in turn if key is not None]
        owners: dict[str, dict[str, None]] = {}
        for key in in_turn:
            owners.setdefault(key.thumbprint, {})[key.owner] = None
        shared = {name for name, signers in owners.items() if name and len(signers) > 1}
        for name in shared:
            self._log_once(
                tuple(owners[name]), keyid,
                f"publish the same key (thumbprint {name}): nobody can tell whose requests it signs, so they are "
                "rejected. Remove the source of the one who copied it, or pass signer_of=",
            )  # fmt: skip
        found = tuple(key for key in in_turn if key.thumbprint not in shared)
        named = tuple(dict.fromkeys(key.owner for key in found))
        if len(named) > MOST_CANDIDATES:
            self._log_once(
                named, keyid,
                f"have keys of this name, and only {MOST_CANDIDATES} are tried, so the others' requests are rejected. "
                "Ask for other keyids, or pass signer_of=",
            )  # fmt: skip
        if in_turn and not found:
            raise KeySourceError("signature_key_unknown", "sources: two signers publish this key: the log names them")
        return found

    def _log_once(self, signers: tuple[str, ...], keyid: str, fault: str) -> None:
        if signers not in self._logged and len(self._logged) < MOST_LOGGED_HOSTS:
            self._logged.add(signers)
            _logger.error("sources: %s (keyid %s) %s", " and ".join(signers), ascii(keyid[:LONGEST_IN_LINE]), fault)


class _Question:
    """A question to any other source."""

    is_failing = False

    def __init__(self, source: AsyncKeySource, lookup: KeyLookup, wait: Wait) -> None:
        self._source, self._lookup, self._wait = source, lookup, wait
        self._future: Future[object] | None = None

    def begin(self) -> Future[object] | None:
        if self._future is None:
            self._future = self._ask()
        return None if self._future.done() else self._future

    def end(self) -> Sequence[VerificationKey]:
        if self._future is None or not self._future.done():
            raise KeySourceError("signature_jwks_unavailable", "the source takes too long")
        return cast("Sequence[VerificationKey]", self._future.result())

    def _ask(self) -> Future[object]:
        source, future = self._source, Future[object]()
        if self._wait is wait_in_task:
            return _settle(future, from_tasks(source, "find"), self._lookup)
        if may_block(source):
            return in_thread(lambda: source.find(self._lookup), "undersigned-keys")
        return _settle(future, source.find, self._lookup)


def _settle(future: Future[object], find: Callable[[KeyLookup], object], lookup: KeyLookup) -> Future[object]:
    """Set the result of a future to what a source finds, which may have to be awaited."""
    try:
        answer = find(lookup)
    except Exception as failure:  # noqa: BLE001 - raised where the result is read
        future.set_exception(failure)
        return future
    if not isawaitable(answer):
        future.set_result(answer)
        return future

    async def settle() -> None:
        try:
            future.set_result(await answer)
        except Exception as failure:  # noqa: BLE001 - raised where the result is read
            future.set_exception(failure)

    task = asyncio.ensure_future(settle())
    future.add_done_callback(lambda _future: task)  # the loop holds tasks weakly
    return future


def _question(source: AsyncKeySource, lookup: KeyLookup, wait: Wait) -> FetchedQuestion | _Question:
    # No `isinstance`: files and fixed keys need no HTTP client.
    if hasattr(source, "fetched_question"):
        return cast("FetchedKeys", source).fetched_question(lookup.keyid)
    return _Question(source, lookup, wait)


def _with_owner(keys: Sequence[VerificationKey], signer: str) -> _Keys:
    return tuple(key if key.owner == signer else key.with_owner(signer) for key in keys)
