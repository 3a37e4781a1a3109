"""One package of PyPI as a peer: a server that verifies what it receives, and a client that signs what it is told to.

`python peer.py NAME`: NAME.py beside this file is the package. What it reads and writes is as in peer.mjs.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable


def say(told: object) -> None:
    sys.stdout.write(f"{json.dumps(told)}\n")
    sys.stdout.flush()


def failure(verify: Callable[[SimpleNamespace], None], message: SimpleNamespace) -> str:
    """Return why a message is not verified, or ""."""
    try:
        verify(message)
    except Exception as raised:  # noqa: BLE001 - the answer has it
        return f"{type(raised).__name__}: {raised}"
    return ""


def send(peer: SimpleNamespace, order: SimpleNamespace) -> dict[str, object]:
    """Sign and send a request. Return the response and, if it must be signed, whether it is verified."""
    fields = peer.sign(order)
    parts = urlsplit(order.url)
    connection = HTTPConnection(parts.netloc, timeout=30)
    connection.putrequest(order.method, order.url[order.url.index("/", 8) :], skip_accept_encoding=True)
    body = order.body.encode()
    for name, value in [*fields, *([("Content-Length", str(len(body)))] if body else [])]:
        connection.putheader(name, value)
    connection.endheaders(body or None)
    response = connection.getresponse()
    content = response.read()
    answer = {"status": response.status, "fields": dict(response.getheaders()), "body": content.decode()}
    connection.close()
    if order.answered:
        request = SimpleNamespace(method=order.method, url=order.url, fields=fields)
        received = SimpleNamespace(status=response.status, fields=response.getheaders(), body=content, request=request)
        error = failure(peer.verify_answer, received)
        answer |= {"verified": not error, "error": error}
    return answer


def main() -> None:
    keys = {key["kid"]: key for key in json.loads(sys.stdin.readline())}
    peer = importlib.import_module(sys.argv[1].replace("-", "_")).peer(keys)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            url = f"http://{self.headers['Host']}{self.path}"
            fields = [(name, value) for name, value in self.headers.items() if name.lower() != "connection"]
            request = SimpleNamespace(method=self.command, url=url, fields=fields, body=body)
            error = failure(peer.verify, request)
            answer = json.dumps({"verified": not error, "error": error})
            status, answered = 401 if error else 200, [("Content-Type", "application/json")]
            if "X-Answer" in self.headers:
                asked = SimpleNamespace(**json.loads(self.headers["X-Answer"]), created=int(time.time()), body=answer)
                response = SimpleNamespace(status=status, fields=answered, request=request)
                answered = peer.sign_answer(response, asked)
            answer = answer.encode()
            self.send_response(status)
            for name, value in [*answered, ("Content-Length", str(len(answer)))]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        do_GET = do_PUT = do_POST  # noqa: N815 - as http.server has them

        def log_message(self, *_arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    say({"port": server.server_address[1]})
    for line in sys.stdin:
        order = SimpleNamespace(**json.loads(line))
        order.lines = [
            (name, value)
            for name, given in order.fields.items()
            for value in ([given] if isinstance(given, str) else given)
        ]
        try:
            say(peer.send(order) if hasattr(peer, "send") else send(peer, order))
        except Exception as raised:  # noqa: BLE001 - the answer has it
            say({"error": f"{type(raised).__name__}: {raised}"})


if __name__ == "__main__":
    main()
