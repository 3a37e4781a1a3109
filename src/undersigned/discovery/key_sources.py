"""Key sources by signer: each counterparty's keys, from where that counterparty publishes them."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from inspect import iscoroutine
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from undersigned.discovery.threads_and_tasks import in_thread, wait_in_task, wait_in_thread
from undersigned.errors import ConfigurationError, KeySourceError
from undersigned.fork_safety import ProcessLock
from undersigned.limits import DEFAULT_WAIT_TIMEOUT, LONGEST_IN_LINE, MOST_CANDIDATES, MOST_HINTS, MOST_LOGGED_HOSTS
from undersigned.signature.key_source import is_key_source
from undersigned.signature.verification_key import VerificationKey
from undersigned.verification.blocking_calls import (
    Several,
    awaited,
    finish,
    from_threads,
    may_block,
    needs_waiting,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Hashable
    from concurrent.futures import Future

    from undersigned.discovery.remote_jwks import FetchedKeys, FetchedQuestion
    from undersigned.discovery.threads_and_tasks import Wait
    from undersigned.signature.key_source import AsyncKeySource, KeyLookup

_MOST_AT_ONCE: Final = 16
"""Sources that are asked at once for one keyid."""

_TURNS: Final = 4
"""How many times as many are asked until the deadline, if each of them hangs."""

_SOON: Final = 30.0
"""Seconds until all sources are asked again for a key that was found while one of them could not be asked."""

_Keys = tuple["VerificationKey", ...]

_logger = logging.getLogger("undersigned.discovery")


class _Claim(NamedTuple):
    """Who may have a public key.

    Attributes:
        signers: those who had it when it was first found. If there are two, nobody can tell whose requests it signs.
        unasked: those who could not be asked since: they may have had it too.
    """

    signers: tuple[str, ...]
    unasked: frozenset[str]


@dataclass(slots=True)
class _Known:
    """What is known of a key ID.

    Attributes:
        claims: who may have each of its keys, in the order in which the keys were first found.
        until: when all sources are asked again.
        found: what the only signer's source found last.
        owned: the same keys, with the signer as owner.
    """

    claims: Mapping[Hashable, _Claim]
    until: float
    found: Sequence[VerificationKey] = ()
    owned: _Keys = ()

    def signers(self) -> dict[str, None]:
        """Return all who may have a key of this key ID, who was known first first."""
        return dict.fromkeys(signer for claim in self.claims.values() for signer in claim.signers)


_NOTHING: Final = _Known({}, math.inf)

_Answers = dict[str, "Sequence[VerificationKey]"]


class KeySources(Several["AsyncKeySource"]):
    """A key source that combines the sources of several signers. It names the signer of each key.

    Two signers may have keys with the same key ID. Then both are tried, and the key that verifies names the signer.
    The first request for a key ID asks all sources until one deadline, 16 at once without those that hang. Further
    requests ask only those that had it. A source that fails or hangs does not delay the keys of another.

    Two signers may also publish the same public key. It belongs to the signer who was known to have it first, until
    that signer's own source answers without it. A source that fails takes nothing from its signer: if it has kept
    nothing either, the key's requests cannot be verified now. If both had the key when it was first found, nobody can
    tell whose requests it signs. The log names both, and the requests are rejected until the source of one of both
    answers without the key; if that source fails, for as long as it fails. A source that could not be asked then is
    asked again after 30 seconds. If it was never fetched, a copy of its key may pass for the key until then.

    With `signer_of`, a message names its signer. Only that signer's source is asked, so what another one publishes, and
    whether its server answers, does not matter.

    Args:
        sources: a key source for each signer, such as `{"buyer.example.com": RemoteJWKS(url)}`.
        signer_of: returns the signer that a signature names, one of `sources`, or else "": then no key is found. It
            must read only what the signature covers, such as the key ID or `lookup.covered_value(...)`.
        clock: seconds that never go back.

    Raises:
        ConfigurationError: there is none, or one is not a key source.
    """

    __slots__ = ("_alone", "_clock", "_fetched", "_known", "_lock", "_logged", "_signer_of")

    asks_again = True

    def __init__(
        self,
        sources: Mapping[str, AsyncKeySource],
        *,
        signer_of: Callable[[KeyLookup], str] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not sources or not isinstance(cast("object", sources), Mapping):
            raise ConfigurationError(
                "sources: give a key source for each signer, such as {'buyer.example.com': source}"
            )
        for signer, source in sources.items():
            if not is_key_source(source):
                raise ConfigurationError(f"sources: {signer} has no key source; pass one such as RemoteJWKS(url)")
        super().__init__("find", sources)
        # No `isinstance`: files and fixed keys need no HTTP client.
        fetched = (signer for signer, source in sources.items() if hasattr(source, "fetched_question"))
        self._fetched = {signer: cast("FetchedKeys", sources[signer]) for signer in fetched}
        self._known: dict[str, _Known] = {}
        self._lock = ProcessLock()
        self._logged: set[tuple[str, ...]] = set()
        self._signer_of, self._clock = signer_of, clock
        self._alone = {signer: KeySources({signer: source}) for signer, source in sources.items()} if signer_of else {}

    def find(self, lookup: KeyLookup) -> _Keys:
        """Return the keys that `lookup.keyid` names, each with its signer as owner.

        Raises:
            Exception: no source has such a key, and at least one failed. It is the exception of the first that failed.
        """
        if self._signer_of is not None:
            alone = self._alone.get(self._signer_of(lookup))
            return () if alone is None else alone.find(lookup)
        return self._held(lookup) or finish(self._search(lookup, wait_in_thread))

    def async_find(self, lookup: KeyLookup) -> _Keys | Coroutine[object, None, _Keys]:
        """Return the keys as `find` does, or an awaitable of them if a source has to be asked."""
        if self._signer_of is not None:
            alone = self._alone.get(self._signer_of(lookup))
            return () if alone is None else alone.async_find(lookup)
        return self._held(lookup) or self._search(lookup, wait_in_task)

    def _held(self, lookup: KeyLookup) -> _Keys:
        """Return the keys of the only signer that has this key ID, if they may be used without waiting."""
        known = self._known.get(lookup.keyid)
        if known is None or lookup.is_second_try or self._clock() >= known.until:
            return ()
        signer, *others = known.signers()
        found = () if others else self._found_at_once(signer, lookup)
        if found != known.found:
            found = _checked(self._sources[signer], found)
            if any(_name(key, signer) not in known.claims for key in found):
                return ()
            known.found, known.owned = found, _with_owner(found, signer)
        return known.owned

    def _found_at_once(self, signer: str, lookup: KeyLookup) -> Sequence[VerificationKey]:
        """Return the keys that a signer's source finds without waiting."""
        if signer in self._fetched:
            return self._fetched[signer].held(lookup)
        source, found = self._sources[signer], cast("object", ())
        if not needs_waiting(source, "find"):
            with suppress(Exception):
                found = source.find(lookup)
        if iscoroutine(found):
            found.close()
        return cast("Sequence[VerificationKey]", found) if isinstance(found, Sequence) else ()

    async def _search(self, lookup: KeyLookup, wait: Wait) -> _Keys:
        known = self._known.get(lookup.keyid, _NOTHING)
        first: list[str] = []
        if not lookup.is_second_try and self._clock() < known.until:
            first = list(known.signers())
        answers, failures = await self._ask(lookup, first, wait)
        names = {_name(key, signer) for signer, keys in answers.items() for key in keys}
        if not names or not names <= known.claims.keys():
            # A key that nobody had may be a copy, and one that its owner withdrew may have moved: see who has it.
            rest = [signer for signer in self._sources if signer not in first]
            found, failed = await self._ask(lookup, rest, wait)
            answers, failures = answers | found, failures | failed
        return self._resolve(lookup, answers, failures)

    def _resolve(self, lookup: KeyLookup, answers: _Answers, failures: Mapping[str, Exception]) -> _Keys:
        """Return the keys of those who own them: who was known first comes first, with one key of each in turn.

        Raises:
            KeySourceError: nobody can tell whose the key is.
            Exception: a source that may have the key failed. It is the exception of the first such source.
        """
        with self._lock:
            before = self._known.get(lookup.keyid, _NOTHING).claims.keys()
            known = self._claim(lookup.keyid, answers)
        first = known.signers()
        owned = {signer: self._owned(lookup, known, signer, answers.get(signer, ())) for signer in (*first, *answers)}
        in_turn = tuple(key for turn in zip_longest(*owned.values()) for key in turn if key is not None)
        named = tuple(dict.fromkeys(key.owner for key in in_turn))
        if len(named) > MOST_CANDIDATES:
            self._log_once(
                named, lookup.keyid,
                f"have keys of this name, and only {MOST_CANDIDATES} are tried, so the others' requests are rejected. "
                "Ask for other keyids, or pass signer_of=",
            )  # fmt: skip
        lacking = [failures[signer] for signer in first if signer in failures]
        if in_turn and not (lookup.is_second_try and lacking and known.claims.keys() <= before):
            return in_turn
        if any(answers.values()) and not lacking:
            raise KeySourceError("signature_key_unknown", "sources: two signers publish this key: the log names them")
        for failure in (*lacking, *failures.values()):
            if not lookup.is_second_try or isinstance(failure, KeySourceError):
                raise failure
            raise KeySourceError("signature_jwks_unavailable", "sources: a key source raised an exception") from failure
        return ()

    def _claim(self, keyid: str, answers: _Answers) -> _Known:
        """Note who has which keys. Who has a key keeps it until the signer's own source answers without it."""
        holders: dict[Hashable, list[str]] = {}
        for signer in self._sources:
            for name in {_name(key, signer): None for key in answers.get(signer, ())}:
                holders.setdefault(name, []).append(signer)
        claims: dict[Hashable, _Claim] = {}
        for name, claim in self._known.get(keyid, _NOTHING).claims.items():
            having = holders.get(name, [])
            kept = [signer for signer in claim.signers if signer in having or signer not in answers]
            late = [signer for signer in having if signer in claim.unasked]
            if kept or late:
                claims[name] = _Claim((*kept, *late), claim.unasked.difference(answers))
        unasked = frozenset(self._sources.keys() - answers.keys())
        for name, having in holders.items():
            if name not in claims:
                # A source that fails now may have had the key before.
                had = [signer for signer in self._sources if signer in unasked and name in self._had(signer, keyid)]
                claims[name] = _Claim((*had, *having), unasked.difference(had))
        is_sure = not any(claim.unasked for claim in claims.values())
        known = _Known(claims, math.inf if is_sure else self._clock() + _SOON)
        self._known.pop(keyid, None)
        if claims:
            self._known[keyid] = known
        if len(self._known) > MOST_HINTS:
            # Who has the most keyids loses the older half of them, and nobody else loses any.
            counts = Counter(signer for one in self._known.values() for signer in one.signers())
            [(most, count)] = counts.most_common(1)
            theirs = (keyid for keyid, one in self._known.items() if most in one.signers())
            for one in list(islice(theirs, (count + 1) // 2)):
                del self._known[one]
        return known

    def _had(self, signer: str, keyid: str) -> set[Hashable]:
        """Return the names of the keys that a signer's source found last, if it keeps what it found."""
        fetched = self._fetched.get(signer)
        return set() if fetched is None else {_name(key, signer) for key in fetched.had(keyid)}

    def _owned(self, lookup: KeyLookup, known: _Known, signer: str, keys: Sequence[VerificationKey]) -> _Keys:
        """Return those of a signer's keys that no other signer had first."""
        mine: list[VerificationKey] = []
        for key in keys:
            name = _name(key, signer)
            signers = known.claims[name].signers
            if signers == (signer,):
                mine.append(key)
            elif signer in signers:
                self._log_once(
                    signers, lookup.keyid,
                    f"publish the same key (thumbprint {name}): nobody can tell whose requests it signs, so they are "
                    "rejected. Remove the source of the one who copied it, or pass signer_of=",
                )  # fmt: skip
            else:
                self._log_once(
                    (signer, *signers), lookup.keyid,
                    f"publish the same key (thumbprint {name}): it stays with the second, who had it first. Ask the "
                    "first why",
                )  # fmt: skip
        return _with_owner(mine, signer)

    async def _ask(
        self, lookup: KeyLookup, signers: Sequence[str], wait: Wait
    ) -> tuple[_Answers, dict[str, Exception]]:
        """Ask sources at the same time. Return the keys of each that answered in time, and why others did not.

        A source that hangs keeps its place for a quarter of the time, so it does not keep the next ones waiting.
        """
        turn_takes = DEFAULT_WAIT_TIMEOUT / _TURNS
        questions = {signer: self._question(signer, lookup, wait) for signer in signers}
        answers: _Answers = {}
        failures: dict[str, Exception] = {}
        # The deadline counts from when all have begun. Then a fetch that hangs is late, and expired keys are used.
        began = math.inf
        while questions:
            pending: list[Future[object]] = []
            turns = 1 + int(max(0.0, time.monotonic() - began) / turn_takes)
            for signer, question in list(questions.items()):
                if len(pending) >= _MOST_AT_ONCE * turns:
                    break
                future = None if turns > _TURNS else question.begin()
                if future is not None:
                    pending.append(future)
                    continue
                del questions[signer]
                try:
                    answers[signer] = question.end()
                except Exception as failure:  # noqa: BLE001 - another source may have the key
                    failures[signer] = failure
            if not pending:
                continue
            if any(answers.values()) and all(question.is_failing for question in questions.values()):
                again = KeySourceError("signature_jwks_unavailable", "a source that failed is asked again")
                return answers, failures | dict.fromkeys(questions, again)
            began = min(began, time.monotonic())
            await wait(pending, max(0.0, began + turns * turn_takes - time.monotonic()))
        return answers, failures

    def _question(self, signer: str, lookup: KeyLookup, wait: Wait) -> FetchedQuestion | _Question:
        if signer in self._fetched:
            return self._fetched[signer].fetched_question(lookup)
        return _Question(self._sources[signer], lookup, self._from_tasks[signer] if wait is wait_in_task else None)

    def _log_once(self, signers: tuple[str, ...], keyid: str, fault: str) -> None:
        if signers not in self._logged and len(self._logged) < MOST_LOGGED_HOSTS:
            self._logged.add(signers)
            _logger.error("sources: %s (keyid %s) %s", " and ".join(signers), ascii(keyid[:LONGEST_IN_LINE]), fault)


class _Question:
    """A question to any other source, by a function that a task calls, or in threads."""

    is_failing = False

    def __init__(self, source: AsyncKeySource, lookup: KeyLookup, from_task: Callable[..., object] | None) -> None:
        self._source, self._lookup, self._from_task = source, lookup, from_task
        self._future: Future[object] | None = None

    def begin(self) -> Future[object] | None:
        if self._future is None:
            self._future = self._ask()
        return None if self._future.done() else self._future

    def end(self) -> Sequence[VerificationKey]:
        # Only a task can be cancelled; a thread goes on.
        if self._future is None or self._future.cancel() or not self._future.done():
            raise KeySourceError("signature_jwks_unavailable", "the source did not return in time")
        return _checked(self._source, self._future.result())

    def _ask(self) -> Future[object]:
        source, lookup, from_task = self._source, self._lookup, self._from_task
        if from_task is not None:

            async def ask() -> object:
                return await awaited(from_task(lookup))

            task = asyncio.ensure_future(ask())
            # If nobody waits for it any more, its failure is no error of the loop.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            # It does what the future of a thread does, but it can be cancelled.
            return cast("Future[object]", task)
        find = from_threads(source, "find", option="sources")
        return in_thread(lambda: find(lookup), "undersigned-keys", may_block=may_block(source))


def _checked(source: object, found: object) -> Sequence[VerificationKey]:
    """Return what a source found, if these are keys. A source that returns anything else spoils no other's answer."""
    if isinstance(found, Sequence) and all(isinstance(key, VerificationKey) for key in cast("Sequence[object]", found)):
        return cast("Sequence[VerificationKey]", found)
    message = f"find of {type(source).__name__} returned something other than a sequence of keys: fix the source"
    raise KeySourceError("signature_jwks_unavailable", message)


def _name(key: VerificationKey, signer: str) -> Hashable:
    """Return the name of a key: two signers' keys have one name if they are the same key."""
    return key.thumbprint or (signer,)


def _with_owner(keys: Sequence[VerificationKey], signer: str) -> _Keys:
    return tuple(key if key.owner == signer else key.with_owner(signer) for key in keys)
