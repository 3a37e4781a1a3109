"""The example sender and receiver of webhooks, each in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.certificate import localhost_certificate
from tests.examples.test_web_apps import free_port, wait_for

from undersigned import KeyPair

EXAMPLES = Path(__file__).parents[2] / "examples"


def send(key: Path, port: int, pem: Path) -> subprocess.CompletedProcess:
    command = [sys.executable, str(EXAMPLES / "webhook_sender.py"), "--key", str(key), "--network", "127.0.0.0/8"]
    url = f"https://localhost:{port}/webhooks"
    environment = os.environ | {"SSL_CERT_FILE": str(pem)}
    return subprocess.run(  # noqa: S603 - ours
        [*command, "--network", "::1/128", "--url", url],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_receiver_prints_what_the_sender_delivers_and_rejects_a_stranger(tmp_path):
    pem, port = localhost_certificate(tmp_path / "localhost.pem"), free_port()
    known, stranger = KeyPair.generate(keyid="seller-2026"), KeyPair.generate(keyid="stranger")
    for name, content in (("jwks", known.public), ("known", known.private), ("stranger", stranger.private)):
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    command = [sys.executable, str(EXAMPLES / "webhook_receiver.py"), "--jwks", str(tmp_path / "jwks.json")]
    options = ["--certificate", str(pem), "--port", str(port)]
    receiver = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # noqa: S603 - ours
    try:
        wait_for(port, receiver)
        accepted = send(tmp_path / "known.json", port, pem)
        rejected = send(tmp_path / "stranger.json", port, pem)
    finally:
        receiver.terminate()
        output, _ = receiver.communicate(timeout=20)
    assert (accepted.returncode, accepted.stdout, accepted.stderr) == (0, "", "")
    assert rejected.stdout == "gave up after 1 attempts: webhook_signature_key_unknown\n"
    assert "seller: completed" in output
    assert "Traceback" not in output
