"""Servers without a command line: `python -m tests.servers.serve NAME PORT [MODULE]` serves `wsgi_app` of a module."""

from __future__ import annotations

import sys
from importlib import import_module


def gevent(app, port: int) -> None:
    from gevent.pywsgi import WSGIServer  # noqa: PLC0415 - only one server needs it

    from undersigned_gevent import RawTargetHandler  # noqa: PLC0415 - only one server needs it

    WSGIServer(("127.0.0.1", port), app, handler_class=RawTargetHandler, log=None).serve_forever()


def wsgiref(app, port: int) -> None:
    from wsgiref.simple_server import make_server  # noqa: PLC0415 - only one server needs it

    from undersigned.wsgi.wsgiref import RawTargetHandler  # noqa: PLC0415 - only one server needs it

    class Silent(RawTargetHandler):
        def log_message(self, *_arguments: object) -> None:
            """Log nothing."""

    make_server("127.0.0.1", port, app, handler_class=Silent).serve_forever()


def werkzeug(app, port: int) -> None:
    from werkzeug.serving import make_server  # noqa: PLC0415 - only one server needs it

    make_server("127.0.0.1", port, app, threaded=True).serve_forever()


def cheroot(app, port: int) -> None:
    from cheroot.wsgi import Server  # noqa: PLC0415 - only one server needs it

    Server(("127.0.0.1", port), app).start()


def bjoern(app, port: int) -> None:
    import bjoern as server  # noqa: PLC0415 - only one server needs it

    server.run(app, "127.0.0.1", port)


if __name__ == "__main__":
    name, port, module = [*sys.argv[1:], "tests.servers.probe"][:3]
    if name == "gevent":
        # As its operator starts it: patched before every other import.
        from gevent import monkey

        monkey.patch_all()
    serve = {"gevent": gevent, "wsgiref": wsgiref, "werkzeug": werkzeug, "cheroot": cheroot, "bjoern": bjoern}[name]
    serve(import_module(module).wsgi_app, int(port))
