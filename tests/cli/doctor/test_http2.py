"""The examination over HTTP/2, against a server over TLS in this process."""

from __future__ import annotations

import json
import ssl
import sys
from dataclasses import replace

import pytest
from tests import keys
from tests.certificate import localhost_certificate
from tests.cli.command import invoke, objects
from tests.cli.doctor.tls_server import TLSServer
from tests.cli.route import Route

from undersigned import canonicalize
from undersigned.cli.connection import NoAnswer
from undersigned.cli.doctor.http2 import HTTP2Client
from undersigned.cli.doctor.over_http2 import NOT_INSTALLED
from undersigned.cli.doctor.probe import Answer, Probe, ProbeClient

PROBE = Probe("GET", "/a//b%2Fc?x&y=", "Seller.example.com", (("Signature", "sig1=:AAAA:"),))


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    return localhost_certificate(tmp_path_factory.mktemp("tls") / "localhost.pem")


@pytest.fixture
def private(tmp_path):
    file = tmp_path / "private.jwk.json"
    file.write_text(json.dumps(keys.PRIVATE))
    return str(file)


def client(port: int, certificate) -> ProbeClient:
    return ProbeClient(canonicalize(f"https://localhost:{port}"), 10, ssl.create_default_context(cafile=certificate))


def ask(server: TLSServer, probe: Probe = PROBE) -> Answer:
    with server.serving() as port:
        return HTTP2Client(client(port, server.certificate)).ask(probe)


def run(server: TLSServer, private: str, *args: str, **routes):
    """Run the command."""
    with server.serving() as port:
        url = f"https://localhost:{port}"
        server.ask = Route(origins=(url,), **routes).ask
        trusted = ("--ca-file", str(server.certificate))
        return invoke("doctor", "--key", private, *trusted, "--profile", "adcp-3.2", *args, url)


def examine(server: TLSServer, private: str, **routes) -> tuple[int, dict]:
    """Return the exit code and the diagnosis."""
    result = run(server, private, "--json", **routes)
    [diagnosis] = objects(result.stdout_bytes)
    return result.exit_code, diagnosis


# The client


def test_probe_is_sent_unchanged_over_http2(certificate):
    server = TLSServer(certificate)
    assert ask(server) == Answer(404, "")
    assert server.asked == [PROBE]


def test_code_and_signs_of_proxies_are_read_from_an_answer_over_http2(certificate):
    server = TLSServer(
        certificate,
        lambda _probe: Answer(401, "", "request_signature_invalid"),
        fields=(("server", "nginx"), ("x-other", "1")),
    )
    answer = ask(server)
    assert (answer.status, answer.code, answer.shown) == (401, "signature_invalid", (("server", "nginx"),))


def endless(http) -> None:
    http.send_headers(1, [(":status", "200")])
    while room := min(16_384, http.local_flow_control_window(1)):
        http.send_data(1, bytes(room))


def reset(http) -> None:
    http.reset_stream(1)


def without_status(http) -> None:
    http.send_headers(1, [("server", "x")], end_stream=True)


def with_other_status(http) -> None:
    http.send_headers(1, [(":status", "abc")], end_stream=True)


def end_of_connection(http) -> None:
    http.close_connection()


def settings_first(http) -> None:
    http.ping(b"12345678")
    http.send_headers(1, [(":status", "204")], end_stream=True)


def pings(http) -> None:
    for _ in range(8000):
        http.ping(b"12345678")


@pytest.mark.parametrize("respond", [pings, reset, without_status, with_other_status, end_of_connection])
def test_answer_that_is_not_http2_is_no_answer(respond, certificate):
    with pytest.raises(NoAnswer, match=r"HTTP/2|without an answer"):
        ask(TLSServer(certificate, respond=respond))


def test_other_frames_before_an_answer_are_passed_over(certificate):
    assert ask(TLSServer(certificate, respond=settings_first)).status == 204


def test_no_more_than_one_window_of_content_is_read(certificate):
    assert ask(TLSServer(certificate, respond=endless)).status == 200


def test_untrusted_certificate_is_no_answer(certificate):
    with TLSServer(certificate).serving() as port:
        untrusting = ProbeClient(canonicalize(f"https://localhost:{port}"), 10, ssl.create_default_context())
        with pytest.raises(NoAnswer, match="not trusted"):
            untrusting.offers_http2()


# The command


def test_http2_is_examined_when_the_server_offers_it(certificate, private):
    code, diagnosis = examine(TLSServer(certificate), private)
    assert (code, diagnosis["http2"], diagnosis["passed"][-1]) == (0, "examined", "HTTP/2")


def test_change_over_http2_only_is_a_finding_of_its_own(certificate, private):
    server = TLSServer(certificate)
    seen: list[Probe] = []

    def merging(probe: Probe) -> Probe:
        over_http2 = len(server.asked) > len(seen)
        seen[:] = server.asked
        return replace(probe, target=probe.target.replace("//", "/")) if over_http2 else probe

    code, diagnosis = examine(server, private, change=merging)
    [finding] = diagnosis["findings"]
    assert (code, finding["check"]) == (1, "repeated slashes (HTTP/2)")
    assert "HTTP/2" not in diagnosis["passed"]


def test_change_over_both_versions_is_one_finding(certificate, private):
    def merging(probe: Probe) -> Probe:
        return replace(probe, target=probe.target.replace("//", "/"))

    _, diagnosis = examine(TLSServer(certificate), private, change=merging)
    assert [finding["check"] for finding in diagnosis["findings"]] == ["repeated slashes"]
    assert "HTTP/2" not in diagnosis["passed"]


def test_server_that_does_not_offer_http2_is_examined_over_http1(certificate, private):
    code, diagnosis = examine(TLSServer(certificate, protocols=("http/1.1",)), private)
    assert (code, diagnosis["http2"]) == (0, "not offered")


def test_missing_package_is_a_note_that_says_what_to_install(certificate, private, monkeypatch):
    monkeypatch.setitem(sys.modules, "undersigned.cli.doctor.http2", None)
    code, diagnosis = examine(TLSServer(certificate), private)
    assert (code, diagnosis["http2"], diagnosis["notes"]) == (0, "not installed", [NOT_INSTALLED])


def test_silence_over_http2_is_a_finding(certificate, private):
    code, diagnosis = examine(TLSServer(certificate, respond=reset), private)
    [finding] = diagnosis["findings"]
    assert (code, finding["check"], diagnosis["http2"]) == (1, "HTTP/2", "examined")
    assert finding["problem"] == "no answer: the server ended the stream without an answer"


def test_text_names_proxies_http2_and_what_differs_over_it(certificate, private):
    server = TLSServer(certificate, fields=(("server", "nginx/1.22\x1b"),))
    result = run(server, private)
    assert result.exit_code == 0
    assert "  ok       HTTP/2\n" in result.stdout
    assert "  proxy    nginx (server: nginx/1.22\\x1b)\n" in result.stdout
