"""Servers without a command line: `python -m tests.servers.serve NAME PORT`."""

from __future__ import annotations

import sys

from tests.servers.probe import wsgi_app


def gevent(port: int) -> None:
    from gevent.pywsgi import WSGIServer  # noqa: PLC0415 - only one server needs it

    from undersigned_gevent import RawTargetHandler  # noqa: PLC0415 - only one server needs it

    WSGIServer(("127.0.0.1", port), wsgi_app, handler_class=RawTargetHandler, log=None).serve_forever()


def wsgiref(port: int) -> None:
    from wsgiref.simple_server import make_server  # noqa: PLC0415 - only one server needs it

    from undersigned.wsgi.wsgiref import RawTargetHandler  # noqa: PLC0415 - only one server needs it

    class Silent(RawTargetHandler):
        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    make_server("127.0.0.1", port, wsgi_app, handler_class=Silent).serve_forever()


def werkzeug(port: int) -> None:
    from werkzeug.serving import make_server  # noqa: PLC0415 - only one server needs it

    make_server("127.0.0.1", port, wsgi_app, threaded=True).serve_forever()


def cheroot(port: int) -> None:
    from cheroot.wsgi import Server  # noqa: PLC0415 - only one server needs it

    Server(("127.0.0.1", port), wsgi_app).start()


def bjoern(port: int) -> None:
    import bjoern as server  # noqa: PLC0415 - only one server needs it

    server.run(wsgi_app, "127.0.0.1", port)


if __name__ == "__main__":
    {"gevent": gevent, "wsgiref": wsgiref, "werkzeug": werkzeug, "cheroot": cheroot, "bjoern": bjoern}[sys.argv[1]](
        int(sys.argv[2])
    )
