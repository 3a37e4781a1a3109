"""The cache of documents: the last copy of each, when it is fetched again, and whether a new one is believed.

Every fetch runs in a thread of its own, and there is at most one for a document. Threads and tasks wait for it.
"""

from __future__ import annotations

import logging
import math
import os
import random
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from undersigned.discovery.fetch import fetch
from undersigned.discovery.fetch_errors import Unreachable
from undersigned.discovery.network import FetchReport
from undersigned.discovery.threads_and_tasks import in_thread, wait_in_thread
from undersigned.errors import KeySourceError
from undersigned.fork_safety import ProcessLock
from undersigned.limits import LONGEST_IN_LINE, MOST_LOGGED_HOSTS, MOST_WAITING_TASKS, MOST_WAITING_THREADS
from undersigned.verification.revocation_list import RevocationList

if TYPE_CHECKING:
    from collections.abc import Callable

    from undersigned.discovery.fetch import FetchRequest
    from undersigned.discovery.freshness import Freshness
    from undersigned.discovery.network import Document, Network
    from undersigned.discovery.threads_and_tasks import Wait

Value = TypeVar("Value")

_AHEAD = 0.1
"""How early a document is fetched again while requests use it: one to two such parts of its lifetime before its end."""

_OK = 200
_A_MINUTE = 60.0

_logger = logging.getLogger("undersigned.discovery")


@dataclass(frozen=True, slots=True)
class Copy(Generic[Value]):
    """A document as it was last fetched. Times are those of the source's clock.

    Attributes:
        value: what was read from the document.
        fetched: when its fetch began.
        fresh_until: when it is to be fetched again.
    """

    value: Value
    fetched: float
    fresh_until: float


class Flight(Future[object]):
    """A fetch in flight. It is done when the fetch has ended, whether it succeeded or not.

    Attributes:
        site: what stands for all hosts of the document's owner.
        yields_at: until when it may keep others from beginning, by `time.monotonic`.
        late_at: until when requests wait for it.
    """

    def __init__(self, site: str, wait_timeout: float) -> None:
        super().__init__()
        now = time.monotonic()
        self.site, self.yields_at, self.late_at = site, now + wait_timeout / 4, now + wait_timeout
        self._pid = os.getpid()

    def is_over(self) -> bool:
        """Return whether nobody should wait: the fetch has ended, or it is of the process that forked this one."""
        # In this order: a thread of the other process may have had the lock of the future at the fork.
        return self._pid != os.getpid() or self.done()


Gate: TypeAlias = "Callable[[Flight, bool, bool], Flight]"
"""A function that returns the flight if it may begin, or another flight to wait for before. It raises a
`KeySourceError` if too many begin. It is called with the lock of the loader held. The flags: the document was fetched
before; its copy is fresh, and lacks something."""


class Loader:
    """What the documents of one source share: where they are fetched, how long they are used, and who may wait.

    Args:
        network: which addresses may be reached, and in what time.
        freshness: how long what is fetched is used.
        clock: the clock of what is kept.

    Attributes:
        lock: held while the state of one of the documents changes.
    """

    def __init__(self, network: Network, freshness: Freshness, clock: Callable[[], float]) -> None:
        self.network = network
        self.freshness = freshness
        self.clock = clock
        self.lock = ProcessLock()
        self._waiting: Counter[tuple[int, Wait, str]] = Counter()
        self._logged: dict[str, float] = {}

    def load(self, request: FetchRequest, read: Callable[[bytes], Value]) -> Copy[Value]:
        """Fetch a document and return a copy of it, with the value that `read` returns for the body.

        Args:
            request: the request for the document.
            read: reads a body.

        Raises:
            FetchError: the document cannot be fetched, or `read` raised this error.
        """
        began = self.clock()
        response = fetch(request, self.network)
        if response.status != _OK:
            raise Unreachable(f"the server answers {response.status}", status=response.status)
        return Copy(read(response.body), began, began + self.freshness.lifetime(response.fields))

    async def wait(self, wait: Wait, flight: Flight, seconds: float, *, is_new: bool) -> bool:
        """Wait for a fetch that any caller may have caused, and return True. If too many wait, return False at once.

        A document that a sender names and that was not read yet leaves a quarter of the places for known ones, and half
        of them for those of other sites.
        """
        most = MOST_WAITING_THREADS if wait is wait_in_thread else MOST_WAITING_TASKS
        bounds = {(os.getpid(), wait, ""): most}
        if is_new:
            bounds = {(os.getpid(), wait, ""): most - most // 4, (os.getpid(), wait, flight.site): most // 2}
        with self.lock:
            if any(self._waiting[place] >= bound for place, bound in bounds.items()):
                return False
            self._waiting.update(bounds.keys())
        try:
            await wait((flight,), seconds)
        finally:
            with self.lock:
                self._waiting -= Counter(bounds.keys())
        return True

    def may_log(self, site: str) -> bool:
        """Return whether a failure of a site may be logged: once a minute."""
        now = time.monotonic()
        with self.lock:
            if now < self._logged.get(site, -math.inf) + _A_MINUTE:
                return False
            if len(self._logged) >= MOST_LOGGED_HOSTS:
                self._logged.clear()
            self._logged[site] = now
            return True


def any_copy(_copy: Copy[Value]) -> bool:
    """Return True: any copy is enough."""
    return True


class Kept(Generic[Value]):
    """A document that threads and tasks share.

    From a little before a copy expires, a request that uses it begins the next fetch, and does not wait for it. If that
    fetch fails or hangs, the copy is used for another `freshness.stale` seconds, and nobody waits for the next fetches.
    Nothing else makes a copy usable that has expired: who may not wait for the fetch gets an error. A value that says
    that it `is_empty` counts if it is fetched twice in a row.

    Args:
        name: the name of the document in the log.
        site: the host that it is fetched from, or what stands for all hosts of its owner.
        load: fetches the document. It gets the last copy, and raises `KeySourceError`.
        loader: has the clock, how long a copy is used, and how long a caller waits for a fetch.
        gate: tells which fetch may begin, if senders name the document; None: the operator has chosen it.
        document: what the document is, for the report of the fetch.
    """

    def __init__(
        self,
        name: str,
        site: str,
        load: Callable[[Copy[Value] | None], Copy[Value]],
        loader: Loader,
        *,
        gate: Gate | None = None,
        document: Document = "keys",
    ) -> None:
        self._name = name
        self._site = site
        self._load = load
        self._loader = loader
        self._gate, self._is_chosen = gate, gate is None
        self._document: Document = document
        self._copy: Copy[Value] | None = None
        self._emptied = self._logged = False
        self._failures = 0
        self._failure: KeySourceError | None = None
        self._retry_at = self._sought = self._refresh_at = -math.inf
        self._flight: Flight | None = None

    def last_value(self) -> Value | None:
        """Return the value that was fetched last, however long ago."""
        return None if self._copy is None else self._copy.value

    @property
    def is_failing(self) -> bool:
        """Whether the last fetch failed."""
        return self._failure is not None

    def usable_copy(self, enough: Callable[[Copy[Value]], bool], *, begins: bool = False) -> Copy[Value] | None:
        """Return the copy if it is enough and may be used without waiting. Begin the next fetch if it expires soon.

        Args:
            enough: as for `get`.
            begins: whether to begin a fetch even if there is no such copy. A caller that waits leaves this False: `get`
                begins the fetch itself, and would repeat an earlier one.
        """
        copy = self._copy
        usable = copy if copy is not None and self._is_usable(copy) and enough(copy) else None
        now = self._loader.clock()
        if now >= self._refresh_at and (usable is not None or begins):
            with suppress(KeySourceError):
                self._begin(lambda: self._is_due(now, any_copy))
        return usable

    async def get(self, enough: Callable[[Copy[Value]], bool], wait: Wait) -> Value:
        """Return the value, fetched again if the copy is not enough. Wait for `wait_timeout` at most.

        Args:
            enough: tells whether a copy has what the caller looks for.
            wait: how to wait.

        Raises:
            KeySourceError: there is no value, or it is not enough and could not be fetched again in time.
        """
        since, ends = self._loader.clock(), math.inf
        while flight := self.flight_to_await(since, enough):
            now, copy = time.monotonic(), self._copy
            ends = min(ends, now + self._loader.network.wait_timeout)
            # Behind the fetch of another document, only until that one yields its place.
            is_behind = flight is not self._flight and now < flight.yields_at
            seconds = max(0.0, min(ends, flight.yields_at if is_behind else ends) - now)
            if self._is_chosen and (copy is None or enough(copy)):
                await wait((flight,), seconds)
            elif not await self._loader.wait(wait, flight, seconds, is_new=copy is None) or time.monotonic() >= ends:
                break
        return self.value_after_wait(since, enough)

    def flight_to_await(self, since: float, enough: Callable[[Copy[Value]], bool]) -> Flight | None:
        """Return the fetch to wait for, or None if waiting would not help. Begin it if there is none.

        Args:
            since: when the request came. A document fetched later is not fetched again for it.
            enough: as for `get`.

        Raises:
            KeySourceError: too many fetches begin.
        """
        if self.usable_copy(enough) is not None:
            return None
        copy = self._copy
        if copy is not None and copy.fetched >= since:
            return None
        flight = self._begin(lambda: self._is_due(since, enough))
        return None if self._is_late() else flight

    def value_after_wait(self, since: float, enough: Callable[[Copy[Value]], bool]) -> Value:
        """Return the value after a wait. A stale value is returned if it is enough.

        Raises:
            KeySourceError: there is no value, or it is not enough and could not be fetched again in time.
        """
        copy, failure, flight = self._copy, self._failure, self._flight
        if copy is not None and self._is_usable(copy):
            # A key that the copy does not have is unknown if the owner was asked, or may not be asked again so soon.
            is_flying = flight is not None and not flight.is_over()
            may_ask = is_flying or failure is not None or self._is_due(since, enough)
            if copy.fetched >= since or not may_ask or enough(copy):
                return copy.value
        if failure is None:
            failure = KeySourceError(
                "signature_jwks_unavailable", "the fetch takes longer than wait_timeout, or too many wait; it continues"
            )
        # An exception that is raised again and again would keep the frames of every time.
        raise KeySourceError(failure.reason, str(failure)) from failure

    def _is_usable(self, copy: Copy[Value]) -> bool:
        """Return whether a copy may be used: it is fresh, or its owner was just asked for a newer one in vain."""
        now, freshness = self._loader.clock(), self._loader.freshness
        has_failed = self._failure is not None and now < self._retry_at + freshness.interval
        return now < copy.fresh_until + (freshness.stale if has_failed or self._is_late() else 0.0)

    def _is_late(self) -> bool:
        """Return whether the fetch in flight takes so long that nobody waits for it."""
        flight = self._flight
        return flight is not None and not flight.is_over() and time.monotonic() >= flight.late_at

    def _is_due(self, since: float, enough: Callable[[Copy[Value]], bool]) -> bool:
        now, copy = self._loader.clock(), self._copy
        if self._failure is not None and now < self._retry_at:
            return False
        if copy is None or now >= self._refresh_at:
            return True
        return copy.fetched < since and now >= self._sought + self._loader.freshness.interval and not enough(copy)

    def _begin(self, is_due: Callable[[], bool]) -> Flight | None:
        """Return the fetch in flight. If there is none, begin one if it is due and may begin."""
        with self._loader.lock:
            if self._flight is not None and not self._flight.is_over():
                return self._flight
            if not is_due():
                return None
            now, flight = self._loader.clock(), Flight(self._site, self._loader.network.wait_timeout)
            is_wanted = self._copy is not None and now < self._refresh_at
            admitted = flight if self._gate is None else self._gate(flight, self._copy is not None, is_wanted)
            if admitted is not flight:
                return admitted
            if is_wanted:
                self._sought = now
            self._flight = flight
        in_thread(lambda: self._fetch(flight), f"undersigned {self._name}")
        return flight

    def _fetch(self, flight: Flight) -> None:
        began, reason, last, made = time.perf_counter(), None, self._copy, None
        try:
            copy = self._load(last)
            if last is not None and _is_empty(copy.value) and not _is_empty(last.value):
                self._check_emptied()
        except BaseException as error:  # noqa: BLE001 - the callers that wait get the failure, or would wait for ever
            failure = self._failed(error)
            reason = failure.reason
        else:
            self._take(copy)
            if self._is_chosen:
                made = copy.value.updated if isinstance(copy.value, RevocationList) else time.time()
        on_fetch = self._loader.network.on_fetch
        if on_fetch is not None:
            seconds = time.perf_counter() - began
            try:
                report = FetchReport(document=self._document, url=self._name, seconds=seconds, error=reason, made=made)
                on_fetch(report)
            except BaseException:
                # A callback that counts fetches must not end one.
                _logger.exception("on_fetch raised an exception; ignored")
        with self._loader.lock:
            self._flight = None
        flight.set_result(None)

    def _take(self, copy: Copy[Value]) -> None:
        lifetime = copy.fresh_until - copy.fetched
        # The fetches of many processes are spread.
        self._refresh_at = copy.fresh_until - lifetime * _AHEAD * (1 + random.random())  # noqa: S311 - no secret
        with self._loader.lock:
            self._copy, self._failure, self._emptied, self._failures = copy, None, False, 0
        if self._logged:
            self._logged = False
            _logger.warning("%s: it was fetched again", self._shown())

    def _check_emptied(self) -> None:
        """Check that an empty document is no accident: the one before was empty too."""
        if not self._emptied:
            self._emptied = True
            raise KeySourceError(
                "signature_jwks_unavailable",
                "the document has no keys any more. The keys of the last one are used until the next fetch, which "
                "decides. If this was an accident, publish the keys again now",
            )

    def _failed(self, error: BaseException) -> KeySourceError:
        """Log and keep a failure, and drop the copy if it must not be used any more."""
        if isinstance(error, KeySourceError):
            failure, cause = error, None
        else:
            failure = KeySourceError("signature_jwks_unavailable", "fetching raised an exception: see the log")
            cause = error
        seconds = self._loader.freshness.interval
        is_first = self._copy is None and self._is_chosen and not failure.definite
        if is_first:
            # No request can be verified, so try again soon. The fetches of many processes are spread.
            self._failures += 1
            seconds = min(seconds, 2.0 ** min(self._failures, 10)) * (0.5 + random.random() / 2)  # noqa: S311
        if self._loader.may_log(self._site):
            level = logging.ERROR if cause is not None or self._emptied else logging.WARNING
            none = f". There is none yet: signatures are rejected; tried again in {seconds:.1f} s" if is_first else ""
            _logger.log(level, "%s: %s%s", self._shown(), failure, none, exc_info=cause)
            self._logged = True
        self._retry_at = self._loader.clock() + seconds
        self._failure = failure
        if failure.definite:
            self._copy = None
        return failure

    def _shown(self) -> str:
        return ascii(self._name[:LONGEST_IN_LINE])[1:-1]


def _is_empty(value: object) -> bool:
    return getattr(value, "is_empty", False)
