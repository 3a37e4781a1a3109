"""`undersigned verify`: whether signed requests are acceptable."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from undersigned import profiles
from undersigned.cli.key_file import FILE, read_key_set
from undersigned.cli.lines import CODE, Answer, MalformedLine, answer_lines
from undersigned.cli.options import SECONDS, profile_option, stdin_argument
from undersigned.cli.request_line import parse_request
from undersigned.errors import SignatureError
from undersigned.replay.memory import MemoryReplayStore, UncheckedReplay
from undersigned.verification.verifier import Verifier

if TYPE_CHECKING:
    from undersigned.message.strict_json import JSONValue
    from undersigned.signature.key_source import KeySet


@click.command()
@click.option("--jwks", required=True, type=FILE, callback=read_key_set, help="A file with a JWK set.")
@profile_option
@click.option("--now", type=SECONDS, help="The verifier's clock, seconds since the epoch; the real one unless given.")
@click.option("--no-replay", is_flag=True, help="Accept a nonce again; for requests that were recorded.")
@stdin_argument
def verify(*, jwks: KeySet, profile: str, now: int | None, no_replay: bool) -> None:
    """Verify signed requests.

    Read an object a line and write an object a line. A nonce is accepted once for as long as the command runs.

    \b
    {"method", "url", "headers": {..} or [[n, v], ..], "body" or "body_b64"}

    \b
    {"ok": true, "keyid": ..., "label": ..., "signature_base": ...}
    {"ok": false, "code": "request_signature_invalid", "step": 10}
    {"ok": false, "code": "line_malformed", "step": null}
    """  # noqa: D301 - the escape is how click is told to keep the lines
    verifier = Verifier(
        profiles.BY_NAME[profile],
        keys=jwks,
        replay=UncheckedReplay() if no_replay else MemoryReplayStore(),
        clock=time.time if now is None else lambda: now,
    )

    def answer(value: JSONValue) -> Answer:
        try:
            verified = verifier.verify(parse_request(value))
        except SignatureError as refused:
            return {"ok": False, "code": refused.code, "step": refused.step}
        return {
            "ok": True,
            "keyid": verified.keyid,
            "label": verified.label,
            "signature_base": verified.signature_base,
        }

    answer_lines(answer, _refusal)


def _refusal(_malformed: MalformedLine) -> Answer:
    return {"ok": False, "code": CODE, "step": None}
