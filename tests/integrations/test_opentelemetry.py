"""Metrics and spans of real requests and fetches, read back through the OpenTelemetry SDK."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from tests.keys import BODY, JSON, KEYID, ORIGIN, ORIGINS, Awaited, Party
from tests.serving import uvicorn_server
from tests.wire import ask, raw_request

from undersigned import Caps, ConfigurationError, Decision, KeySet, MemoryReplayStore, Verifier, profiles
from undersigned.discovery import FetchReport, Network, RemoteJWKS
from undersigned.replay import NoConnection
from undersigned_opentelemetry import Telemetry, replay, telemetry
from undersigned_starlette import SignatureMiddleware, signature_required

CAPS = Caps(per_key=1)
TIMES = {"now": 0.0, "until": 60.0, "caps": CAPS}


class Recorded:
    """A telemetry, and what it has recorded."""

    def __init__(self) -> None:
        self._reader, self._spans = InMemoryMetricReader(), InMemorySpanExporter()
        tracer_provider = TracerProvider()
        tracer_provider.add_span_processor(SimpleSpanProcessor(self._spans))
        meter_provider = MeterProvider(metric_readers=[self._reader])
        self.telemetry = Telemetry(meter_provider=meter_provider, tracer_provider=tracer_provider)

    def metric(self, name: str) -> list:
        """The data points of one metric, in the order of their attributes."""
        data = json.loads(self._reader.get_metrics_data().to_json())
        metrics = data["resource_metrics"][0]["scope_metrics"][0]["metrics"]
        [points] = [metric["data"]["data_points"] for metric in metrics if metric["name"] == name]
        return sorted(points, key=lambda point: json.dumps(point["attributes"], sort_keys=True))

    def spans(self) -> list:
        return list(self._spans.get_finished_spans())


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


def serve(party: Party, recorded: Recorded, verifier: Verifier | None = None):
    @signature_required
    async def buy(request) -> PlainTextResponse:
        return PlainTextResponse(request.scope["undersigned"].signature.keyid)

    app = Starlette(routes=[Route("/plans/{plan}", buy, methods=["POST"])])
    options = {"origins": ORIGINS, "mode": "optional", "on_decision": recorded.telemetry.on_decision}
    app.add_middleware(SignatureMiddleware, verifier=verifier or party.verifier(), **options)
    return uvicorn_server(app)


def test_each_decision_is_measured_with_labels_from_closed_lists(party, recorded):
    with serve(party, recorded) as port:
        raw = party.raw("POST", "/plans/gold", BODY)
        assert ask(port, raw).status == 200
        ask(port, raw)
        ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
    points = recorded.metric("undersigned.verification.duration")
    common = {"profile": "adcp-3.2"}
    signed = common | {"algorithm": "ed25519"}
    assert [(point["attributes"], point["count"]) for point in points] == [
        (signed | {"result": "rejected", "error.type": "request_signature_replayed"}, 1),
        (signed | {"result": "verified"}, 1),
        (common | {"result": "rejected", "error.type": "request_signature_required"}, 1),
        (common | {"result": "unsigned"}, 1),
    ]
    assert all(len(point["explicit_bounds"]) == 13 for point in points)


def test_span_has_the_key_id_and_the_route_that_rejected(party, recorded):
    with serve(party, recorded) as port:
        ask(port, party.raw("POST", "/plans/gold", BODY))
        ask(port, raw_request("POST", "/plans/gold", JSON, BODY))
    verified, _unsigned, rejected = recorded.spans()
    assert verified.name == "undersigned.verification"
    assert verified.attributes["undersigned.keyid"] == KEYID
    assert verified.attributes["undersigned.origin"] == ORIGIN
    assert verified.attributes["http.request.method"] == "POST"
    assert verified.end_time > verified.start_time
    assert rejected.attributes["http.route"] == "/plans/{plan}"
    assert rejected.attributes["undersigned.step"] == "presence of a signature"
    assert rejected.status.status_code is StatusCode.UNSET


def test_method_of_a_stranger_is_no_value_of_its_own(party, recorded):
    with serve(party, recorded) as port:
        ask(port, raw_request("BREW", "/plans/gold"))
    assert [span.attributes["http.request.method"] for span in recorded.spans()] == ["_OTHER"]


class Broken:
    blocking = False

    def full(self, *_args, **_options) -> bool:
        return False

    def claim(self, *_args, **_options):
        raise ConnectionError


def test_unavailable_store_is_an_error_in_metric_and_span(party, recorded):
    store = recorded.telemetry.replay_store(Broken())
    verifier = Verifier(profiles.ADCP_3_2, keys=KeySet.from_jwks(party.jwks), replay=store)
    with serve(party, recorded, verifier) as port:
        assert ask(port, party.raw("POST", "/plans/gold", BODY)).status == 503
    [span] = recorded.spans()
    assert span.status.status_code is StatusCode.ERROR
    assert span.status.description == "request_signature_store_unavailable"
    assert claims_of(recorded) == {"error": 1}


def claims_of(recorded) -> dict[str, int]:
    """How many claims were counted, by their result."""
    return {point["attributes"]["result"]: point["value"] for point in recorded.metric("undersigned.replay.claims")}


async def full_and_claims(store) -> list:
    return [
        await store.claim("a", "n", content="x", **TIMES),
        await store.claim("a", "n", content="x", **TIMES),
        await store.claim("a", "n", **TIMES),
        await store.claim("a", "m", **TIMES),
        await store.full("a", now=0.0, caps=CAPS),
    ]


def test_quantiles_of_the_last_claims_are_gauges(recorded, monkeypatch):
    taken = [*[5.0] * 1000, *[at / 1000 for at in range(1, 1001)], 0.25]
    times = iter([time for seconds in taken for time in (0.0, seconds)])
    monkeypatch.setattr(replay, "time", SimpleNamespace(perf_counter=lambda: next(times)))
    store = recorded.telemetry.replay_store(MemoryReplayStore())
    for _ in range(2000):
        store.claim("a", "n", **TIMES)
    points = recorded.metric("undersigned.replay.claim.time")
    shown = {point["attributes"]["quantile"]: point["value"] for point in points}
    assert shown == {"0.5": pytest.approx(0.5, abs=0.01), "0.99": pytest.approx(0.99, abs=0.01), "1.0": 1.0}
    store.claim("a", "n", **TIMES)
    points = recorded.metric("undersigned.replay.claim.time")
    assert [point["value"] for point in points] == [0.25] * 3


class ForBoth(Awaited):
    """A store for threads and tasks: the methods for threads block."""

    async_full, async_claim = Awaited.full, Awaited.claim

    def full(self, *_args, **_options) -> bool:
        pytest.fail("it blocks")

    claim = full


@pytest.mark.parametrize(
    "counted",
    [
        lambda telemetry: Awaited(telemetry.replay_store(MemoryReplayStore())),
        lambda telemetry: telemetry.async_replay_store(MemoryReplayStore()),
        lambda telemetry: telemetry.async_replay_store(Awaited(MemoryReplayStore())),
        lambda telemetry: telemetry.async_replay_store(ForBoth(MemoryReplayStore())),
    ],
    ids=["for threads", "plain", "awaited", "both"],
)
def test_claims_of_a_store_are_counted_by_their_result(counted, recorded):
    store = counted(recorded.telemetry)
    assert asyncio.run(full_and_claims(store)) == ["fresh", "same", "seen", "full", True]
    assert claims_of(recorded) == dict.fromkeys(["fresh", "same", "seen", "full"], 1)


class Older:
    """A store that remembers no contents."""

    blocking = False

    def full(self, _keyid, *, now, caps) -> bool:
        del now, caps
        return False

    def claim(self, _keyid, _nonce, *, now, until, caps) -> str:
        del now, until, caps
        return "fresh"


@pytest.mark.parametrize("profile", [profiles.ADCP_3_2, profiles.UCP], ids=["nonces", "contents"])
@pytest.mark.parametrize("made", [Older, MemoryReplayStore], ids=["older", "memory"])
def test_counted_store_is_accepted_or_rejected_as_its_own_store_is(party, recorded, profile, made):
    def fault(store) -> str:
        try:
            Verifier(profile, keys=KeySet.from_jwks(party.jwks), replay=store)
        except ConfigurationError as error:
            return str(error)
        return ""

    assert fault(recorded.telemetry.replay_store(made())) == fault(made())


def test_failure_of_an_async_store_is_counted_and_raised(recorded):
    store = recorded.telemetry.async_replay_store(Awaited(Broken()))
    with pytest.raises(ConnectionError):
        asyncio.run(store.claim("a", "n", **TIMES))
    assert claims_of(recorded) == {"error": 1}


def test_fetches_are_measured_by_document_and_failure(recorded):
    url = "https://buyer.example.com/jwks.json"
    recorded.telemetry.on_fetch(FetchReport(document="keys", url=url, seconds=0.5))
    failed = "signature_jwks_unavailable"
    recorded.telemetry.on_fetch(FetchReport(document="revocations", url=url, seconds=1, error=failed))
    points = recorded.metric("undersigned.key_fetch.duration")
    assert [(point["attributes"], point["sum"]) for point in points] == [
        ({"document": "keys"}, 0.5),
        ({"document": "revocations", "error.type": failed}, 1),
    ]
    fetched, not_fetched = recorded.spans()
    assert (fetched.attributes["url.full"], fetched.status.status_code) == (url, StatusCode.UNSET)
    assert (not_fetched.end_time - not_fetched.start_time, not_fetched.status.status_code) == (10**9, StatusCode.ERROR)


def test_age_of_a_configured_document_is_a_gauge(recorded, monkeypatch):
    monkeypatch.setattr(telemetry.time, "time", lambda: 1000.0)
    for document, url, made in (("keys", "https://a", 400.0), ("revocations", "https://b", 900.0), ("keys", "s", None)):
        recorded.telemetry.on_fetch(FetchReport(document=document, url=url, seconds=1, made=made))
    ages = [(point["attributes"]["url"], point["value"]) for point in recorded.metric("undersigned.document.age")]
    assert ages == [("https://a", 600.0), ("https://b", 100.0)]


def test_claims_under_way_are_a_gauge_and_exhaustion_has_a_result_of_its_own(recorded):
    class Exhausted(MemoryReplayStore):
        def claim(self, *_args, **_options):
            raise NoConnection("none")

    async def claims() -> None:
        together = asyncio.Barrier(3)

        class Slow:
            async def full(self, _keyid, **_options):
                return False

            async def claim(self, _keyid, _nonce, **_options):
                await together.wait()
                return "fresh"

        store = recorded.telemetry.async_replay_store(Slow())
        await asyncio.gather(*[store.claim("a", str(at), **TIMES) for at in range(3)])

    asyncio.run(claims())
    with pytest.raises(NoConnection):
        recorded.telemetry.replay_store(Exhausted()).claim("a", "n", **TIMES)
    for expected in (3, 0):
        [point] = recorded.metric("undersigned.replay.claims.under_way")
        assert point["value"] == expected
    assert claims_of(recorded) == {"fresh": 3, "no_connection": 1}


def test_sets_of_attributes_that_are_kept_are_bounded(recorded):
    for number in range(2500):
        for _ in range(2):
            recorded.telemetry.on_decision(Decision(outcome="rejected", profile="p", code=f"c{number}", seconds=0.1))
    assert {point["count"] for point in recorded.metric("undersigned.verification.duration")} >= {2}
    assert len(recorded.telemetry._measured) <= 1000  # noqa: SLF001 - nothing else shows it


def test_without_an_sdk_nothing_is_recorded_and_nothing_fails():
    telemetry = Telemetry()
    telemetry.on_decision(Decision(outcome="verified", profile="adcp-3.2", method="GET", seconds=0.1))
    telemetry.on_fetch(FetchReport(document="keys", url=ORIGIN, seconds=0.5))
    assert telemetry.replay_store(MemoryReplayStore()).claim("a", "n", **TIMES) == "fresh"


def test_snippet_of_the_page_is_complete():
    page = (Path(__file__).parents[2] / "docs/telemetry.md").read_text()
    names = {
        **{thing.__name__: thing for thing in (MemoryReplayStore, Network, RemoteJWKS, SignatureMiddleware, Telemetry)},
        "Verifier": Verifier,
        "app": Starlette(),
        "origins": ORIGINS,
        "profiles": profiles,
    }
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], names)  # noqa: S102 - the page's own words
    with uvicorn_server(names["app"]) as port:
        assert ask(port, raw_request("GET", "/")).status == 401
