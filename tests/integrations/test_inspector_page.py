"""The server of the page: who reaches it, what it answers, and that nothing that is pasted is kept."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import logging
import os
import signal
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner
from tests.keys import BODY, JSON_FIELD, JWKS, signed_request

from undersigned import ConfigurationError, Decision
from undersigned.middleware import Evidence
from undersigned_inspector import Inspector, command, page
from undersigned_inspector.door import MOST_BYTES
from undersigned_inspector.kept import KeptDecisions
from undersigned_inspector.server import PageServer

SIGNED = signed_request(fields=[("Host", "seller.example.com"), JSON_FIELD])
LOCAL = Evidence(is_local=True)


class Local(Decision):
    """A decision of an application whose origins are all on this machine."""

    def evidence(self):
        return LOCAL


DECISION = Local(outcome="unsigned", profile="adcp-3.2", seconds=0.0, method="GET")


class Visitor:
    """A client of the page."""

    def __init__(self, url):
        self.port = int(url.split(":")[2].partition("/")[0])
        self.token = url.split("/")[3]
        self.host = f"127.0.0.1:{self.port}"

    def ask(self, path="", method="GET", body=None, *, token=None, **fields):
        fields = {name.replace("_", "-"): value for name, value in fields.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            target = f"/{self.token if token is None else token}/{path}"
            connection.request(method, target, body, {"Host": self.host, **fields})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def explain(self, **texts):
        body = json.dumps({"keys": json.dumps(JWKS), **texts})
        return self.ask("explain", "POST", body, Origin=f"http://{self.host}")


def serving(decisions=None):
    server = PageServer(decisions=decisions)
    thread = threading.Thread(target=server.run)
    thread.start()
    return server, thread


@pytest.fixture(scope="module")
def visitor():
    server, thread = serving()
    yield Visitor(server.url)
    server.stop()
    thread.join(10)


def raw(request=SIGNED):
    fields = "".join(f"{name}: {value}\n" for name, value in request.fields)
    return f"POST /adcp/create_media_buy HTTP/1.1\n{fields}\n{BODY.decode()}"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("", "text/html; charset=utf-8"),
        ("page.css", "text/css; charset=utf-8"),
        ("page.js", "text/javascript; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
        ("about", "application/json"),
    ],
)
def test_every_file_has_its_type_and_the_guarding_fields(visitor, path, kind):
    status, fields, content = visitor.ask(path)
    assert (status, fields["content-type"]) == (200, kind)
    assert content
    assert fields["content-security-policy"].startswith("default-src 'none'; script-src 'self'; style-src 'self'")
    assert "unsafe" not in fields["content-security-policy"]
    assert (fields["x-content-type-options"], fields["referrer-policy"]) == ("nosniff", "no-referrer")
    assert (fields["cache-control"], "server" in fields) == ("no-store", False)


def test_files_of_the_page_name_nothing_elsewhere(visitor):
    for path in ("", "page.css", "page.js"):
        content = visitor.ask(path)[2].decode()
        assert "//" not in content.replace("// ", "")
        assert not any(word in content for word in ("innerHTML", "outerHTML", "insertAdjacent", "eval(", "style="))


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""])
def test_other_host_is_rejected(visitor, host):
    status, fields, content = visitor.ask(Host=host.format(port=visitor.port))
    assert (status, content) == (421, b"")
    assert "content-security-policy" in fields


def test_localhost_is_a_host_of_the_page(visitor):
    assert visitor.ask(Host=f"localhost:{visitor.port}")[0] == 200


@pytest.mark.parametrize("token", ["", "x", "{token}x", "x{token}", "%7Btoken%7D", ".."])
def test_other_token_is_not_found(visitor, token):
    for path in ("", "page.js", "explain"):
        assert visitor.ask(path, token=token.format(token=visitor.token))[0] == 404


def test_token_without_its_slash_is_not_found(visitor):
    connection = http.client.HTTPConnection("127.0.0.1", visitor.port, timeout=10)
    connection.request("GET", f"/{visitor.token}", headers={"Host": visitor.host})
    assert connection.getresponse().status == 404
    connection.close()


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "https://{host}", "http://127.0.0.1:1", None])
def test_post_from_another_origin_is_rejected(visitor, origin):
    fields = {} if origin is None else {"Origin": origin.format(host=visitor.host)}
    assert visitor.ask("explain", "POST", "{}", **fields)[0] == 403


def test_other_method_is_rejected(visitor):
    own = {"Origin": f"http://{visitor.host}"}
    assert visitor.ask("explain")[0] == 405
    assert visitor.ask("", "POST", "", **own)[0] == 405
    assert visitor.ask("nothing")[0] == 404
    assert visitor.ask("live")[0] == 404


def test_content_above_the_bound_is_rejected_before_it_is_read(visitor):
    own = {"Origin": f"http://{visitor.host}", "Content-Length": str(MOST_BYTES + 1)}
    assert visitor.ask("explain", "POST", b"", **own)[0] == 413
    assert visitor.ask("explain", "POST", b"", **{**own, "Content-Length": "-1"})[0] in {400, 413}


def test_content_above_the_bound_is_rejected_without_its_length(visitor):
    chunks = (b"x" * 65536 for _ in range(MOST_BYTES // 65536 + 1))
    assert visitor.ask("explain", "POST", chunks, Origin=f"http://{visitor.host}")[0] == 413


def test_pasted_request_is_explained(visitor):
    status, _, content = visitor.explain(request=raw())
    assert (status, json.loads(content)["ok"]) == (200, True)


def test_unusable_text_is_answered_with_its_field(visitor):
    status, _, content = visitor.explain(request="nothing")
    assert (status, json.loads(content)["field"]) == (422, "request")


def test_fault_of_the_inspector_quotes_nothing(visitor, monkeypatch, caplog):
    def fail(_pasted):
        raise RuntimeError("c4nary")

    monkeypatch.setattr(page, "pasted_view", fail)
    status, _, content = visitor.explain(request=raw())
    assert (status, json.loads(content)["message"]) == (
        500,
        "the inspector failed (RuntimeError): this is its fault, not yours",
    )
    assert "RuntimeError" in caplog.text
    assert "c4nary" not in caplog.text + content.decode()


def test_nothing_that_is_pasted_is_logged(visitor, caplog):
    with caplog.at_level(logging.DEBUG):
        for text in (raw().replace("application/json", "c4nary"), "c4nary", '{"c4nary"'):
            visitor.explain(request=text, body="c4nary", base="c4nary", keys="c4nary" if text[0] == "c" else "")
    assert "c4nary" not in caplog.text


WATCHED = """
import sys
from undersigned_inspector.pasted import read_pasted
from undersigned_inspector.view import pasted_view

content = sys.stdin.buffer.read()
events = []

def watch(event, arguments):
    if event.startswith(("socket.", "subprocess.", "os.exec", "os.posix_spawn", "os.fork", "tempfile.", "os.mkdir")):
        events.append(event)
    if event == "open" and (arguments[1] is None or set(arguments[1]) & set("wax+")):
        events.append(f"open {arguments[1]}")

sys.addaudithook(watch)
for _ in range(2):
    view = pasted_view(read_pasted(content))
print(view["title"], events)
"""


def test_explanation_opens_no_socket_starts_no_process_and_writes_no_file():
    moved = raw().replace("/adcp/create", "/adcp//create")
    given = json.dumps({"request": moved, "keys": json.dumps(JWKS)}).encode()
    run = subprocess.run([sys.executable, "-c", WATCHED], input=given, capture_output=True, check=True)  # noqa: S603 - our own words
    assert run.stdout.decode().strip() == (
        "Rejected at step 10, target, authority and signature: request_signature_invalid []"
    )
    assert run.stderr == b""


def test_connection_that_is_not_http_is_not_answered():
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(page.page(token="t", port=1)({"type": "websocket"}, None, send))
    assert sent == []


def events(visitor, number, *, last=None):
    """Return the first `number` events of the stream."""
    connection = http.client.HTTPConnection("127.0.0.1", visitor.port, timeout=10)
    fields = {"Host": visitor.host} | ({} if last is None else {"Last-Event-ID": last})
    connection.request("GET", f"/{visitor.token}/live", headers=fields)
    answer = connection.getresponse()
    assert answer.getheader("content-type").startswith("text/event-stream")
    found = []
    while len(found) < number:
        line = answer.readline().decode()
        if line.startswith("data: "):
            found.append(json.loads(line.removeprefix("data: ")))
    connection.close()
    return found


@pytest.fixture
def live():
    kept = KeptDecisions()
    server, thread = serving(kept)
    yield kept, Visitor(server.url)
    server.stop()
    thread.join(10)


def test_decisions_are_streamed_as_they_are_made(live):
    kept, visitor = live
    kept.keep(DECISION, LOCAL)
    threading.Timer(0.3, kept.keep, [DECISION, LOCAL]).start()
    assert [view["number"] for view in events(visitor, 2)] == [1, 2]
    assert json.loads(visitor.ask("about")[2])["live"] is True


def test_stream_continues_after_the_last_event(live):
    kept, visitor = live
    for _ in range(3):
        kept.keep(DECISION, LOCAL)
    assert [view["number"] for view in events(visitor, 1, last="2")] == [3]
    assert [view["number"] for view in events(visitor, 1, last="x")] == [1]
    # Python reads no number of so many digits.
    assert [view["number"] for view in events(visitor, 1, last="9" * 5000)] == [1]


def test_quiet_stream_is_kept_open_with_comments(live, monkeypatch):
    monkeypatch.setattr(page, "_POLL_SECONDS", 0.001)
    kept, visitor = live
    threading.Timer(0.5, kept.keep, [DECISION, LOCAL]).start()
    assert [view["number"] for view in events(visitor, 1)] == [1]


def test_inspector_serves_its_page_from_the_first_decision_on(caplog):
    inspector = Inspector()
    assert inspector.url is None
    inspector.stop()
    with caplog.at_level(logging.WARNING, "undersigned"):
        inspector(DECISION)
        inspector(DECISION)
    assert caplog.text.count(inspector.url) == 1

    assert [view["number"] for view in events(Visitor(inspector.url), 2)] == [1, 2]
    inspector.stop()


def test_inspector_serves_another_page_in_another_process(monkeypatch, caplog):
    inspector = Inspector()
    inspector(DECISION)
    first, own = inspector.url, os.getpid()
    inspector.stop()
    monkeypatch.setattr("undersigned_inspector.live.os.getpid", lambda: own + 1)
    assert inspector.url is None
    inspector(DECISION)
    assert inspector.url not in {None, first}
    assert inspector.url in caplog.text
    inspector.stop()


def test_inspector_without_its_port_keeps_decisions_and_says_so(caplog, visitor):
    inspector = Inspector(port=visitor.port)
    inspector(DECISION)
    assert (inspector.url, len(inspector.after(0))) == (None, 1)
    assert f"no page: port {visitor.port}" in caplog.text


def test_inspector_ignores_an_application_with_a_public_origin_and_says_so_once(caplog):
    inspector = Inspector()
    public = Decision(outcome="unsigned", profile="adcp-3.2", seconds=0.0)
    inspector(public)
    inspector(public)
    assert (inspector.url, inspector.after(0)) == (None, ())
    assert caplog.text.count("the inspector shows nothing") == 1


def test_only_the_last_decisions_are_kept():
    kept = KeptDecisions(most=2)
    for _ in range(3):
        kept.keep(DECISION, LOCAL)
    assert [one.number for one in kept.after(0)] == [2, 3]
    assert [one.number for one in kept.after(2)] == [3]


def test_decisions_of_several_threads_are_numbered_once_each():
    kept = KeptDecisions(most=400)
    threads = [threading.Thread(target=lambda: [kept.keep(DECISION, LOCAL) for _ in range(50)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.number for one in kept.after(0)] == list(range(1, 201))


@pytest.mark.parametrize("most", [0, -1, True, "200"])
def test_wrong_number_of_decisions_is_rejected(most):
    with pytest.raises(ConfigurationError, match=r"^most"):
        Inspector(most=most)


@pytest.mark.parametrize("port", [-1, 65_536, True, "80"])
def test_wrong_port_is_rejected(port):
    with pytest.raises(ConfigurationError, match=r"^port"):
        Inspector(port=port)


def test_inspector_without_its_extra_is_rejected_at_construction(monkeypatch):
    monkeypatch.setitem(sys.modules, "undersigned_inspector.server", None)
    with pytest.raises(ConfigurationError, match=r"pip install 'undersigned\[inspect\]'"):
        Inspector()


@pytest.mark.parametrize("options", [[], ["--open"]])
def test_command_says_where_the_page_is(monkeypatch, options):
    opened = []
    monkeypatch.setattr("uvicorn.Server.run", lambda _server, sockets: None)  # noqa: ARG005 - uvicorn's name
    monkeypatch.setattr("webbrowser.open", opened.append)
    result = CliRunner().invoke(command.inspect, options)
    url = result.output.split()[1]
    assert (result.exit_code, url.startswith("http://127.0.0.1:")) == (0, True)
    assert opened == ([url] if options else [])


def test_command_ends_without_an_error_when_it_is_interrupted():
    program = [sys.executable, "-m", "undersigned", "inspect"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:  # noqa: S603 - our own words
        url = running.stdout.readline().split()[1]
        running.stdout.readline()

        while True:
            with contextlib.suppress(ConnectionError):
                assert Visitor(url).ask()[0] == 200
                break
        running.send_signal(signal.SIGINT)
        _, error = running.communicate(timeout=30)
    assert (running.returncode, error) == (0, "")


def test_command_names_the_option_if_the_port_is_in_use(visitor):
    result = CliRunner().invoke(command.inspect, ["--port", str(visitor.port)])
    assert (result.exit_code, "--port" in result.output) == (1, True)


def test_command_without_its_extra_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "undersigned_inspector.server", None)
    result = CliRunner().invoke(command.inspect)
    assert (result.exit_code, "pip install 'undersigned[inspect]'" in result.output) == (2, True)
