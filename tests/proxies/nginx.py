"""nginx: the configurations under test, and the file that runs them all."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.proxies.fronts import BACKENDS, Front

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tests.proxies.fronts import Served

KEPT = """
location / {
    proxy_pass http://app;
    proxy_set_header Host $http_host;
}
"""

STRIPPED_MAP = """
map $request_uri $below_api {
    "~^/api(?<rest>/.*)$" $rest;
}
"""

STRIPPED = """
location /api/ {
    proxy_pass http://app$below_api;
    proxy_set_header Host $http_host;
}
"""

FRONTS = (
    Front("kept", KEPT),
    Front("kept-unmerged", "merge_slashes off;" + KEPT),
    Front("stripped", STRIPPED, prefix="/api"),
    Front("tls", KEPT, tls=True),
    Front("tls-for-an-http-origin", KEPT, tls=True, origin_scheme="http"),
    Front("proxy-host", "location / { proxy_pass http://app; }"),
    Front("host", "location / { proxy_pass http://app; proxy_set_header Host $host; }"),
    Front("uri-part", "location / { proxy_pass http://app/; proxy_set_header Host $http_host; }"),
    Front(
        "stripped-by-uri-part",
        "location /api/ { proxy_pass http://app/; proxy_set_header Host $http_host; }",
        prefix="/api",
    ),
    Front(
        "rewrite", "location / { rewrite ^(.*)$ $1 break; proxy_pass http://app; proxy_set_header Host $http_host; }"
    ),
    Front("prefix-nobody-said", "location /api/ { proxy_pass http://app/; proxy_set_header Host $http_host; }"),
    Front(
        "no-signature",
        'location / { proxy_pass http://app; proxy_set_header Host $http_host; proxy_set_header Signature ""; '
        'proxy_set_header Signature-Input ""; }',
    ),
    Front(
        "no-body",
        "location / { proxy_pass http://app; proxy_set_header Host $http_host; proxy_pass_request_body off; "
        'proxy_set_header Content-Length ""; }',
    ),
    Front("answers-itself", "location / { return 403; }"),
    Front("redirects", "location / { return 301 https://$host$request_uri; }"),
)


def configuration(directory: Path, served: Iterable[Served], ports: dict[str, int], certificate: Path) -> str:
    """Return the whole configuration. All of its paths are in `directory`."""
    temporary = " ".join(
        f"{kind}_temp_path {directory}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    upstreams = "\n".join(f"upstream {name} {{ server 127.0.0.1:{ports[name]}; }}" for name in BACKENDS)
    servers = "\n".join(_server(one, certificate) for one in served)
    # nginx would give up the rights of root, and then could not write a long body into the directory.
    user = "user root;" if os.geteuid() == 0 else ""
    return f"""
daemon off; {user}
worker_processes 1;
pid {directory}/pid;
error_log {directory}/error.log;
events {{}}
http {{
access_log off;
{temporary}
{upstreams}
{STRIPPED_MAP}
{servers}
}}
"""


def command(program: str, directory: Path, file: Path) -> list[str]:
    return [program, "-p", str(directory), "-e", str(directory / "error.log"), "-c", str(file)]


def _server(served: Served, certificate: Path) -> str:
    tls = f"ssl_certificate {certificate}; ssl_certificate_key {certificate};" if served.front.tls else ""
    return f"server {{ listen 127.0.0.1:{served.port}{' ssl' if tls else ''}; {tls}{served.rules} }}"
