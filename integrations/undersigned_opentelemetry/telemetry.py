"""The instruments, and the callbacks that record with them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from opentelemetry import metrics, trace
from opentelemetry.trace import StatusCode

from undersigned import __version__

from .replay import AsyncCountedReplayStore, CountedReplayStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from undersigned import AsyncReplayStore, Decision, ReplayStore
    from undersigned.discovery import FetchReport

_NAME: Final = "undersigned"
_NANOSECONDS: Final = 1_000_000_000
_VERIFICATION_BUCKETS: Final = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0)
_FETCH_BUCKETS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS: Final = frozenset({"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE"})
_OTHER: Final = "_OTHER"


class Telemetry:
    """A recorder of metrics and spans through the OpenTelemetry API. Safe to share between threads and middlewares.

    The values of every attribute of a metric come from closed lists: outcomes, codes, and what the operator configured.
    Key ids are attributes of spans only. Without an OpenTelemetry SDK nothing is recorded.

    The metrics, with their attributes:

    - `undersigned.verification.duration` (histogram, s): `profile`, `result` (an outcome of `Decision`), and, if
      known, `algorithm` and `error.type` (a code).
    - `undersigned.key_fetch.duration` (histogram, s): `document` (`keys` or `revocations`) and, if the fetch failed,
      `error.type` (a code without its prefix).
    - `undersigned.replay.claims` (counter): `result` (`fresh`, `seen`, `same`, `forgotten`, `full` or `error`).

    Spans: `undersigned.verification` and `undersigned.key_fetch`. They begin and end when the work did, and are made
    when it has ended. So they have no children.

    Args:
        meter_provider: gives the meter. None: the global one.
        tracer_provider: gives the tracer. None: the global one.
    """

    __slots__ = ("_claims", "_fetches", "_tracer", "_verifications")

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
        self._claims = meter.create_counter(
            "undersigned.replay.claims", unit="{claim}", description="Nonces that were claimed in the replay store."
        )

    def on_decision(self, decision: Decision) -> None:
        """Record a decision: `SignatureMiddleware(..., on_decision=telemetry.on_decision)`."""
        measured = _drop_unknown(
            {
                "profile": decision.profile,
                "result": decision.outcome,
                "algorithm": decision.algorithm,
                "error.type": decision.code,
            }
        )
        self._verifications.record(decision.seconds, measured)
        method = decision.method
        described = {
            "http.request.method": method if method is None or method in _METHODS else _OTHER,
            "http.route": decision.route,
            "undersigned.keyid": decision.keyid,
            "undersigned.origin": decision.origin,
            "undersigned.step": None if decision.step is None else str(decision.step),
        }
        failed = decision.code if decision.outcome == "unavailable" else None
        self._span(
            "undersigned.verification", decision.seconds, {**measured, **_drop_unknown(described)}, failed=failed
        )

    def on_fetch(self, report: FetchReport) -> None:
        """Record a fetch of keys or revocations: `Network(on_fetch=telemetry.on_fetch)`."""
        measured = _drop_unknown({"document": report.document, "error.type": report.error})
        self._fetches.record(report.seconds, measured)
        self._span("undersigned.key_fetch", report.seconds, {**measured, "url.full": report.url}, failed=report.error)

    def replay_store(self, store: ReplayStore) -> CountedReplayStore:
        """Return a store for a `Verifier` that counts the claims of `store`."""
        return CountedReplayStore(store, self._claims)

    def async_replay_store(self, store: AsyncReplayStore) -> AsyncCountedReplayStore:
        """Return a store for an `AsyncVerifier` that counts the claims of `store`."""
        return AsyncCountedReplayStore(store, self._claims)

    def _span(self, name: str, seconds: float, attributes: Mapping[str, str], *, failed: str | None) -> None:
        """Make a span of something that has just ended."""
        ended = time.time_ns()
        span = self._tracer.start_span(name, attributes=attributes, start_time=ended - int(seconds * _NANOSECONDS))
        if failed is not None:
            span.set_status(StatusCode.ERROR, failed)
        span.end(ended)


def _drop_unknown(attributes: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in attributes.items() if value is not None}
