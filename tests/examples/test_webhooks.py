"""The example sender and receiver of webhooks, each in a process of its own."""

from __future__ import annotations

from tests.examples.programs import pair_in, ran_in, start_example

from undersigned import KeyPair


def test_receiver_prints_what_the_sender_delivers_and_rejects_a_stranger(key_server_certificate, tmp_path):
    known, stranger = KeyPair.generate(keyid="seller-2026"), KeyPair.generate(keyid="stranger")
    pair_in(tmp_path, "keys", known)
    output, done = [], []
    files = {"jwks": tmp_path / "keys/public.jwks.json", "certificate": key_server_certificate}
    with start_example("webhook_receiver.py", output, **files) as port:
        for pair in (known, stranger):
            pair_in(tmp_path, "keys", pair)
            url = f"https://localhost:{port}/webhooks"
            trusting = {"SSL_CERT_FILE": str(key_server_certificate)}
            done.append(ran_in(tmp_path, "webhook_sender", environment=trusting, URL=url))
    accepted, rejected = done
    assert (accepted.returncode, accepted.stdout, accepted.stderr) == (0, "", "")
    assert rejected.stdout == "gave up after 1 attempts: webhook_signature_key_unknown\n"
    assert "seller: completed" in output
