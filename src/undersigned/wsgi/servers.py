"""The WSGI servers that are recognised: which ones are rejected, and what to do instead.

Recognising a server only ever rejects more. A server that is not recognised has to show everything in its environ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from undersigned.middleware.received import UnsupportedServer

if TYPE_CHECKING:
    from collections.abc import Mapping

_INSTEAD = "run the application under gunicorn, waitress, uWSGI or mod_wsgi"

_REFUSED: Mapping[str | None, str] = {
    "bjoern": f"bjoern joins repeated Host fields into one name and merges trailers into the fields: {_INSTEAD}",
    "cheroot": f"cheroot keeps the last of several Host fields, and of any other, without a trace: {_INSTEAD}",
    "granian": "granian's WSGI interface gives no raw target and lets a field spelled with an underscore replace the "
    f"real one: serve an ASGI application with granian --interface asgi, or {_INSTEAD}",
    "hypercorn": "hypercorn's WSGI interface gives no raw target and forwards truncated content: serve an ASGI "
    f"application with hypercorn, or {_INSTEAD}",
    "gunicorn uwsgi": "gunicorn --protocol uwsgi rebuilds the target from the decoded path: serve HTTP by gunicorn "
    "and use the proxy's proxy_pass",
}

OF_WERKZEUG = (
    "Werkzeug's own server is for development: it merges slashes at the start of a target, so a signature over //path "
    f"is rejected; {_INSTEAD}"
)

_RAW_TARGET: Mapping[str, str] = {
    "gevent": "gevent's pywsgi gives no raw target: pass handler_class=undersigned_gevent.RawTargetHandler to its "
    "WSGIServer",
    "wsgiref": "wsgiref gives no raw target: pass handler_class=undersigned.wsgi.wsgiref.RawTargetHandler to "
    "make_server. Django's runserver takes none: accept plain paths only with reconstruct=True, which is RECONSTRUCT "
    "in UNDERSIGNED",
}

_PRODUCTS: Mapping[str, str] = {
    "cheroot": "cheroot",
    "cherrypy": "cheroot",
    "granian": "granian",
    "gevent": "gevent",
    "werkzeug": "werkzeug",
    "wsgiserver": "wsgiref",
}
"""Servers by the product name in SERVER_SOFTWARE (RFC 3875 section 4.1.17), lower case."""


def detected_server(environ: Mapping[str, Any], start_response: object) -> str | None:
    """Return the name of the server if it is recognised, or None."""
    if getattr(start_response, "__module__", None) == "hypercorn.app_wrappers":
        return "hypercorn"
    received = getattr(getattr(start_response, "__self__", None), "req", None)
    if received is not None and type(received).__module__.startswith("gunicorn.uwsgi."):
        return "gunicorn uwsgi"
    wrapper = environ.get("wsgi.file_wrapper")
    if getattr(wrapper, "__name__", None) == "FileWrapper" and getattr(wrapper, "__module__", None) == "builtins":
        return "bjoern"
    return _PRODUCTS.get(str(environ.get("SERVER_SOFTWARE", "")).partition("/")[0].lower())


def may_have_workers(environ: Mapping[str, Any]) -> bool:
    """Return whether the server says that it has several processes. Django's test client says so, and has one."""
    is_client = type(environ.get("wsgi.input")).__module__ == "django.test.client"
    return bool(environ.get("wsgi.multiprocess")) and not is_client


def check_server(server: str | None, environ: Mapping[str, Any]) -> None:
    """Check that neither the server nor what is in front of the middleware hides what was signed.

    Raises:
        UnsupportedServer: one of them does.
    """
    if server in _REFUSED:
        raise UnsupportedServer(_REFUSED[server])
    if "werkzeug.proxy_fix.orig" in environ:
        raise UnsupportedServer("ProxyFix runs before this middleware: put SignatureMiddleware outside ProxyFix")
    # The value does not matter: gunicorn uses the last of several fields as SCRIPT_NAME, but joins all of them here.
    if environ.get("SCRIPT_NAME") and "HTTP_SCRIPT_NAME" in environ:
        raise UnsupportedServer(
            "a SCRIPT_NAME header may have set SCRIPT_NAME, which decides how the request is routed. Set it "
            "in gunicorn's environment, and have the proxy send no such header"
        )


def missing_target_error(server: str | None) -> UnsupportedServer:
    """Return the error for a server that shows no raw target. It says how to get one."""
    otherwise = f"the server gives neither RAW_URI nor REQUEST_URI: {_INSTEAD}, or accept plain paths only with "
    return UnsupportedServer(_RAW_TARGET.get(server or "", f"{otherwise}reconstruct=True"))
