"""The instruments, and the callbacks that record with them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from opentelemetry import metrics, trace
from opentelemetry.metrics import Observation
from opentelemetry.trace import StatusCode

from undersigned import __version__

from .replay import AsyncCountedReplayStore, Claims, CountedReplayStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from opentelemetry.metrics import CallbackOptions, MeterProvider
    from opentelemetry.trace import TracerProvider

    from undersigned import AsyncReplayStore, Decision, ReplayStore
    from undersigned.discovery import FetchReport

_NAME: Final = "undersigned"
_NANOSECONDS: Final = 1_000_000_000
_VERIFICATION_BUCKETS: Final = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
_FETCH_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_MEASURED: Final = ("profile", "result", "algorithm", "error.type")
_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
_OTHER: Final = "_OTHER"
_MOST_KEPT: Final = 1000
"""Sets of attributes, and ages of documents, that are kept: the operator's own ones are fewer."""


class Telemetry:
    """A recorder of metrics and spans through the OpenTelemetry API. Safe to share between threads and middlewares.

    The values of every attribute of a metric come from closed lists: outcomes, codes, and what the operator configured.
    Key ids are attributes of spans only. Without an OpenTelemetry SDK nothing is recorded.

    The metrics, with their attributes:

    - `undersigned.verification.duration` (histogram, s): `profile`, `result` (an outcome of `Decision`), and, if
      known, `algorithm` and `error.type` (a code).
    - `undersigned.key_fetch.duration` (histogram, s): `document` (`keys` or `revocations`) and, if the fetch failed,
      `error.type` (a code without its prefix).
    - `undersigned.document.age` (gauge, s): how long ago a document that the operator configured was made: `document`,
      `url`. A revocation list is made at its `updated`, a set of keys when it was fetched last.
    - `undersigned.replay.claims` (counter): `result` (`fresh`, `seen`, `same`, `forgotten`, `full`, `error`, or
      `no_connection` if no connection of the pool became free).
    - `undersigned.replay.claim.time` (gauge, s): how long claims took since the last report, of the last 1,000:
      `quantile` (`0.5`, `0.99` or `1.0`).
    - `undersigned.replay.claims.under_way` (gauge): the most claims that were under way at once since the last report.

    Spans: ``undersigned.verification`` and ``undersigned.key_fetch``. They begin and end when the work did, and are
    made when it has ended, so they have no children.

    Args:
        meter_provider: gives the meter. None: the global one.
        tracer_provider: gives the tracer. None: the global one.
    """

    __slots__ = ("_claims", "_fetches", "_made", "_measured", "_tracer", "_verifications")

    def __init__(
        self, *, meter_provider: MeterProvider | None = None, tracer_provider: TracerProvider | None = None
    ) -> None:
        meter = metrics.get_meter(_NAME, __version__, meter_provider)
        self._tracer = trace.get_tracer(_NAME, __version__, tracer_provider)
        self._verifications = meter.create_histogram(
            "undersigned.verification.duration",
            unit="s",
            description="How long the decision on a request took, including the time to read its content.",
            explicit_bucket_boundaries_advisory=_VERIFICATION_BUCKETS,
        )
        self._fetches = meter.create_histogram(
            "undersigned.key_fetch.duration",
            unit="s",
            description="How long fetching a document of keys or revocations took.",
            explicit_bucket_boundaries_advisory=_FETCH_BUCKETS,
        )
        self._claims = Claims(meter)
        meter.create_observable_gauge(
            "undersigned.document.age",
            [self._ages],
            unit="s",
            description="How long ago the keys or the revocation list that are used were made.",
        )
        self._measured: dict[tuple[str | None, ...], dict[str, str]] = {}
        self._made: dict[tuple[str, str], float] = {}

    def on_decision(self, decision: Decision) -> None:
        """Record a decision: `SignatureMiddleware(..., on_decision=telemetry.on_decision)`."""
        values = (decision.profile, decision.outcome, decision.algorithm, decision.code)
        measured = self._measured.get(values)
        if measured is None:
            if len(self._measured) >= _MOST_KEPT:
                self._measured.clear()
            measured = self._measured[values] = _drop_unknown(dict(zip(_MEASURED, values, strict=True)))
        self._verifications.record(decision.seconds, measured)

        def describe() -> dict[str, str]:
            method = decision.method
            described = {
                "http.request.method": method if method is None or method in _METHODS else _OTHER,
                "http.route": decision.route,
                "undersigned.keyid": decision.keyid,
                "undersigned.origin": decision.origin,
                "undersigned.step": None if decision.step is None else str(decision.step),
            }
            return {**measured, **_drop_unknown(described)}

        failed = decision.code if decision.outcome == "unavailable" else None
        self._span("undersigned.verification", decision.seconds, describe, failed=failed)

    def on_fetch(self, report: FetchReport) -> None:
        """Record a fetch of keys or revocations: `Network(on_fetch=telemetry.on_fetch)`."""
        measured = _drop_unknown({"document": report.document, "error.type": report.error})
        self._fetches.record(report.seconds, measured)
        if report.made is not None:
            self._made[report.document, report.url] = report.made
        described = {**measured, "url.full": report.url}
        self._span("undersigned.key_fetch", report.seconds, lambda: described, failed=report.error)

    def replay_store(self, store: ReplayStore) -> CountedReplayStore:
        """Return a store for a `Verifier` that measures the claims of `store`."""
        return CountedReplayStore(store, self._claims)

    def async_replay_store(self, store: AsyncReplayStore) -> AsyncCountedReplayStore:
        """Return a store for an `AsyncVerifier` that measures the claims of `store`."""
        return AsyncCountedReplayStore(store, self._claims)

    def _ages(self, _options: CallbackOptions) -> Iterable[Observation]:
        now = time.time()
        for (document, url), made in self._made.copy().items():
            yield Observation(now - made, {"document": document, "url": url})

    def _span(
        self, name: str, seconds: float, describe: Callable[[], Mapping[str, str]], *, failed: str | None
    ) -> None:
        """Make a span of something that has just ended. What it has is made only if it is recorded."""
        ended = time.time_ns()
        span = self._tracer.start_span(name, start_time=ended - int(seconds * _NANOSECONDS))
        if not span.is_recording():
            return
        span.set_attributes(describe())
        if failed is not None:
            span.set_status(StatusCode.ERROR, failed)
        span.end(ended)


def _drop_unknown(attributes: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if value is not None}
