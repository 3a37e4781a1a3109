"""`undersigned verify`: verify signed requests."""

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
@click.option("--now", type=SECONDS, help="The verifier's clock, in seconds since the epoch.  [default: the real one]")
@click.option("--no-replay", is_flag=True, help="Accept repeated nonces, for recorded requests.")
@stdin_argument
def verify(*, jwks: KeySet, profile: str, now: int | None, no_replay: bool) -> None:
    """Verify signed requests.

    Read one object per line and write one object per line. Each nonce is accepted once while the command runs.

    \b
    {"method", "url", "headers": {..} or [[n, v], ..], "body" or "body_b64"}

    \b
    {"ok": true, "keyid": ..., "label": ..., "signature_base": ...}
    {"ok": false, "code": "request_signature_invalid", "step": 10}
    {"ok": false, "code": "line_malformed", "step": null}
    """  # noqa: D301 - click needs the escape to keep the line breaks
    verifier = Verifier(
        profiles.BY_NAME[profile],
        keys=jwks,
        replay=UncheckedReplay() if no_replay else MemoryReplayStore(),
        clock=time.time if now is None else lambda: now,
    )

    def answer(value: JSONValue) -> Answer:
        try:
            verified = verifier.verify(parse_request(value))
        except SignatureError as error:
            return {"ok": False, "code": error.code, "step": error.step}
        return {
            "ok": True,
            "keyid": verified.keyid,
            "label": verified.label,
            "signature_base": verified.signature_base,
        }

    answer_lines(answer, _line_error)


def _line_error(_malformed: MalformedLine) -> Answer:
    return {"ok": False, "code": CODE, "step": None}
