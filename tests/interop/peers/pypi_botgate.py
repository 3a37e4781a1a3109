"""botgate of PyPI: a program that reads and writes requests in files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from urllib.parse import urlsplit

from wbactl.keys import b64url_decode

PKCS8 = bytes.fromhex("3051020101300506032b657004220420") + b"%b" + bytes.fromhex("812100") + b"%b"
"""An Ed25519 key with its public half (RFC 8410 section 7), which botgate wants and cryptography does not write."""
PROGRAM = Path(sys.executable).with_name("botgate")


def peer(keys):
    folder = Path(mkdtemp(prefix="undersigned-botgate-"))
    [jwk] = [jwk for jwk in keys.values() if jwk["algorithm"] == "ed25519"]
    public = {name: jwk[name] for name in ("kid", "kty", "crv", "x")}
    file = {name: folder / name for name in ("key", "jwk", "jwks", "request", "signed")}
    file["key"].write_bytes(PKCS8 % (b64url_decode(jwk["d"]), b64url_decode(jwk["x"])))
    file["jwk"].write_text(json.dumps(public))
    file["jwks"].write_text(json.dumps({"keys": [public]}))

    def run(*arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
        if done.returncode:
            raise ValueError(f"{done.stdout}{done.stderr}")

    def write(name, method, url, fields, body):
        parts = urlsplit(url)
        lines = [f"{method} {url[url.index('/', 8) :]} HTTP/1.1"]
        lines += [f"Host: {parts.netloc}", *(f"{name}: {value}" for name, value in fields if name.lower() != "host")]
        file[name].write_bytes("\r\n".join([*lines, "", ""]).encode() + body)

    def sign(order):
        agent = dict(order.lines)["Signature-Agent"].strip('"')
        fields = [line for line in order.lines if line[0] != "Signature-Agent"]
        write("request", order.method, order.url, fields, order.body.encode())
        components = ",".join(name for name in order.components if name != "signature-agent")
        given = ("--key", file["key"], "--jwk", file["jwk"], "--agent", agent, "--components", components)
        run("sign", *given, "--legacy-agent", "--force", "--output", file["signed"], file["request"])
        _, _, *lines = file["signed"].read_bytes().decode().partition("\r\n\r\n")[0].split("\r\n")
        return [(name, value.strip()) for name, _, value in (line.partition(":") for line in lines)]

    def verify(request):
        write("request", request.method, request.url, request.fields, request.body)
        run("verify", "--jwks", file["jwks"], "--profile", "cloudflare-2026-10", file["request"])

    return SimpleNamespace(sign=sign, verify=verify)
