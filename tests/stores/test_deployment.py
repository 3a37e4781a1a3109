"""The deployment of examples/deploy: its own files, with other ports and folders."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import ssl
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from tests.certificate import certificate
from tests.keys import BODY, HOST, ORIGIN, Party
from tests.stores.servers import Redis
from tests.wire import ask, raw_request, read_response
from tests.workers import answers, free_port, started, wait_until, workers

DEPLOY = Path(__file__).parents[2] / "examples/deploy"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
pytestmark = pytest.mark.skipif(NGINX is None, reason="apt-get install nginx")


class ConfiguredRedis(Redis):
    """Redis as the page configures it."""

    def command(self) -> list[str]:
        return [self.program, str(DEPLOY / "redis.conf"), "--port", str(self.port), "--dir", str(self.folder)]


class Collector(ThreadingHTTPServer):
    """A collector that keeps the last counts of each worker."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.verified: dict[str, int] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def take(self, content: bytes) -> None:
        for sent in ExportMetricsServiceRequest.FromString(content).resource_metrics:
            names = {one.key: one.value.string_value for one in sent.resource.attributes}
            points = [
                point
                for scope in sent.scope_metrics
                for metric in scope.metrics
                if metric.name == "undersigned.verification.duration"
                for point in metric.histogram.data_points
            ]
            self.verified[names["service.instance.id"]] = sum(
                point.count
                for point in points
                if any(one.key == "result" and one.value.string_value == "verified" for one in point.attributes)
            )


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.server.take(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_arguments) -> None:
        """Say nothing."""


@dataclass
class Deployment:
    """What runs."""

    party: Party
    redis: Redis
    collector: Collector
    pem: Path
    folder: Path
    port: int = field(default_factory=free_port)
    app_port: int = field(default_factory=free_port)
    accepted: int = 0

    def send(self, raw: bytes, *, client: str = "127.0.0.1") -> tuple[int, dict]:
        """Send a request through nginx. Return the status and the JSON of the answer."""
        with self.connect(client) as connection:
            connection.sendall(raw)
            head, _, content = read_response(connection).partition(b"\r\n\r\n")
        status = int(head.split(b" ")[1])
        self.accepted += status == 200 and raw.startswith(b"POST")
        return status, json.loads(content) if b"application/json" in head else {}

    def connect(self, client: str = "127.0.0.1") -> ssl.SSLSocket:
        trusting = ssl.create_default_context(cafile=str(self.pem))
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=60, source_address=(client, 0))
        return trusting.wrap_socket(plain, server_hostname=HOST)

    def plan(self) -> bytes:
        return self.party.raw("POST", "/plans/gold", BODY)

    def statuses(self, raw: bytes, count: int) -> Counter[int]:
        with ThreadPoolExecutor(8) as pool:
            return Counter(status for status, _ in pool.map(lambda _: self.send(raw), range(count)))

    def serving(self) -> set[int]:
        """The workers that answer, of some requests on connections of their own past nginx."""
        answers = [ask(self.app_port, self.plan()) for _ in range(8)]
        self.accepted += len(answers)
        assert {answer.status for answer in answers} == {200}
        return {answer.json["worker"] for answer in answers}

    def readiness(self) -> tuple[int, dict]:
        return self.send(raw_request("GET", "/ready"))

    def replaced(self, name: str, *changes: tuple[str, str]) -> str:
        """One of the files, with each of these texts replaced."""
        text = (DEPLOY / name).read_text()
        for old, new in changes:
            assert old in text, old
            text = text.replace(old, new)
        return text

    @contextlib.contextmanager
    def application(self):
        [line] = re.findall(r"^ExecStart=\S+/uvicorn (.*)$", (DEPLOY / "plans.service").read_text(), re.MULTILINE)
        arguments = [*line.replace("--port 8000", f"--port {self.app_port}").split(), "--app-dir", str(DEPLOY)]
        settings = dict(one.split("=", 1) for one in (DEPLOY / "plans.env").read_text().splitlines() if one[0] != "#")
        assert settings["ORIGIN"] == ORIGIN
        environment = settings | {
            "JWKS": str(self.folder / "jwks.json"),
            "REPLAY": f"redis://127.0.0.1:{self.redis.port}",
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.collector.server_port}",
            "OTEL_METRIC_EXPORT_INTERVAL": "200",
        }
        with workers("uvicorn", *arguments, port=self.app_port, log=self.folder / "log", count=3, **environment):
            yield

    @contextlib.contextmanager
    def proxy(self, *changes: tuple[str, str]):
        text = self.replaced(
            "nginx.conf",
            ("listen 443 ssl", f"listen 127.0.0.1:{self.port} ssl"),
            ("/etc/plans/tls.pem", str(self.pem)),
            ("127.0.0.1:8000", f"127.0.0.1:{self.app_port}"),
            # A busy machine must not end what the test holds open.
            ("_timeout 10s", "_timeout 600s"),
            *changes,
        )
        temporary = " ".join(
            f"{kind}_temp_path {self.folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        text = text.replace("http {", f"pid {self.folder}/pid;\nhttp {{\naccess_log off;\n{temporary}")
        file = self.folder / "nginx.conf"
        file.write_text(f"daemon off;\n{text}")
        errors = self.folder / "nginx.log"
        command = [NGINX, "-p", str(self.folder), "-e", str(errors), "-c", str(file)]
        with started(command, lambda _: answers(self.port), log=errors) as process:
            yield process


@contextlib.contextmanager
def deployed(folder: Path, *changes: tuple[str, str]):
    """Run all of it, with changes of nginx.conf. Yield it with the process of nginx."""
    party = Party.make()
    (folder / "jwks.json").write_text(json.dumps(party.jwks))
    with ConfiguredRedis() as redis, Collector() as collector:
        made = Deployment(party, redis, collector, certificate(folder / "tls.pem", HOST), folder)
        with made.application(), made.proxy(*changes) as nginx:
            wait_until(lambda: made.readiness() == (200, {"ready": True, "unready": []}))
            yield made, nginx
        collector.shutdown()


@pytest.fixture(scope="module")
def deployment(tmp_path_factory):
    with deployed(tmp_path_factory.mktemp("deployment")) as (made, _nginx):
        yield made


def test_log_names_the_client_and_not_nginx(deployment):
    forged = raw_request("POST", "/plans/gold", [("X-Forwarded-For", "192.0.2.1")])
    assert deployment.send(forged, client="127.0.0.2")[0] == 401
    log = deployment.folder / "log"
    wait_until(lambda: "client: 127.0.0.2;" in log.read_text())
    assert "192.0.2.1" not in log.read_text()


def test_each_request_is_accepted_once_through_two_workers_that_count_it(deployment):
    seen: set[int] = set()
    wait_until(lambda: seen.update(deployment.serving()) or len(seen) > 1)
    assert deployment.statuses(deployment.plan(), 30) == {200: 1, 401: 29}
    assert deployment.send(deployment.plan())[1]["caller"] == "buyer.example.com"
    collector = deployment.collector
    wait_until(lambda: sum(collector.verified.values()) == deployment.accepted)
    assert len(collector.verified) >= 2


def test_reload_replaces_the_workers_and_forgets_nothing(deployment):
    raw = deployment.plan()
    assert deployment.send(raw)[0] == 200
    before = deployment.serving()
    [parent] = {int(Path(f"/proc/{worker}/stat").read_text().rpartition(")")[2].split()[1]) for worker in before}
    os.kill(parent, signal.SIGHUP)

    def is_replaced() -> bool:
        with contextlib.suppress(OSError, AssertionError):
            return not before & deployment.serving()
        return False

    wait_until(is_replaced, seconds=120)
    wait_until(lambda: deployment.readiness()[0] == 200)
    assert deployment.statuses(raw, 10) == {401: 10}


def test_service_is_not_ready_while_the_store_is_down_and_is_again_afterwards(deployment):
    raw = deployment.plan()
    assert deployment.send(raw)[0] == 200
    deployment.redis.kill()
    wait_until(lambda: deployment.readiness() == (503, {"ready": False, "unready": ["store"]}))
    assert deployment.send(deployment.plan())[0] == 503
    deployment.redis.start()
    wait_until(lambda: deployment.readiness()[0] == 200)
    # Each connection that a pool still has gives one 503.
    seen: Counter[int] = Counter()
    while seen[401] < 10:
        seen += deployment.statuses(raw, 10)
    assert seen[200] == 0
    assert "the replay store answers again" in (deployment.folder / "log").read_text()


def test_address_with_too_many_connections_gets_429(deployment):
    head = raw_request("POST", "/plans/gold", [("Content-Length", "10")])
    with contextlib.ExitStack() as opened:
        for _ in range(64):
            opened.enter_context(deployment.connect()).sendall(head)

        def is_rejected():
            # On a busy machine, the first connections may have timed out.
            opened.enter_context(deployment.connect()).sendall(head)
            return deployment.send(deployment.plan())[0] == 429

        wait_until(is_rejected)
    wait_until(lambda: deployment.send(deployment.plan())[0] == 200)
