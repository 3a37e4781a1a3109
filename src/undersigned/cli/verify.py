"""`undersigned verify`: verify signed requests."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, BinaryIO

import click

from undersigned.cli.json_lines import CODE, JSONObject, answer_lines
from undersigned.cli.key_files import jwks_option, keyid_option, read_key_set
from undersigned.cli.options import SECONDS, file_name, profile_option
from undersigned.errors import SignatureError
from undersigned.message.request import Request
from undersigned.message.timestamps import system_clock
from undersigned.pasted.request import read_json_request
from undersigned.replay.memory import MemoryReplayStore
from undersigned.signature.rules import ReplayRule
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.profile import Profile


@click.command()
@jwks_option
@keyid_option
@profile_option
@click.option(
    "--now", type=SECONDS, help="Pretend that it is this time, in seconds since the epoch.  [default: the real one]"
)
@click.option("--no-replay", is_flag=True, help="Accept repeated nonces, for recorded requests.")
@click.option("--test-keys", is_flag=True, help="Accept published test keys, for test vectors.")
@click.argument("source", type=click.File("rb"), metavar="FILE")
def verify(
    *,
    jwks: BinaryIO,
    keyid: str | None,
    profile: Profile,
    now: int | None,
    no_replay: bool,
    test_keys: bool,
    source: BinaryIO,
) -> None:
    """Verify signed requests, and say for each why it is rejected.

    FILE has one request in a line, as JSON. - is standard input, for FILE or for --jwks. One JSON object is written for
    each line. Each nonce is accepted once while the command runs.

    The exit code is 0 if every request is verified, and 1 if one is not, or if there is none.

    \b
    {"method", "url", "headers": {..} or [[n, v], ..], "body" or "body_b64"}

    \b
    {"ok": true, "keyid": ..., "label": ..., "signature_base": ...}
    {"ok": false, "code": "signature_invalid", "step": 10, "detail": ...}
    {"ok": false, "code": "line_malformed", "step": null, "detail": ...}

    \b
    Example:
      undersigned verify --jwks keys/public.jwks.json requests.jsonl

    For one request as `curl -v` shows it, use `undersigned explain`.
    """  # noqa: D301 - click needs the escape to keep the line breaks
    if no_replay:
        profile = profile.derive(replay=ReplayRule(remembers="nothing"), dangerous="recorded requests are read again")
    keys = read_key_set(jwks, keyid=keyid)
    verifier = Verifier(
        profile,
        keys=keys.for_tests() if test_keys else keys,
        replay=MemoryReplayStore(),
        clock=system_clock if now is None else lambda: now,
    )

    def answer(value: JSONValue) -> JSONObject:
        try:
            verified = verifier.verify(Request(*read_json_request(value)))
        except SignatureError as error:
            return _rejection(error.code, error.step, error.detail)
        return {"ok": True, "keyid": verified.keyid, "label": verified.label, "signature_base": verified.signature_base}

    found = [one["ok"] for one in answer_lines(source, answer, partial(_rejection, CODE, None))]
    if not found:
        click.echo(f"Error: {file_name(source)} has no request: there is nothing to verify", err=True)
    click.get_current_context().exit(int(not found or not all(found)))


def _rejection(code: str, step: int | str | None, detail: str) -> JSONObject:
    return {"ok": False, "code": code, "step": step, "detail": detail}
