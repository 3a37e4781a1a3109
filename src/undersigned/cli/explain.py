"""`undersigned explain`: show why a signed request is rejected."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, BinaryIO, Final

import click

from undersigned.cli.json_lines import JSONObject, write_object
from undersigned.cli.key_files import jwks_option, keyid_option, read_key_set
from undersigned.cli.options import file_name, read_profile
from undersigned.errors import ConfigurationError
from undersigned.explanation import CHECKS, MalformedRequest, explain_request, parse_pasted_request
from undersigned.log_text import printable
from undersigned.message.timestamps import moment
from undersigned.url import Origin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from undersigned.explanation import BaseDifference, ExplainedRequest
    from undersigned.signature.profile import Profile

_MARKS: Final = {"passed": "+", "failed": "x", "not checked": "-", "not reached": " "}


def _origins(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[Origin, ...]:
    try:
        return tuple(map(Origin.parse, texts))
    except ConfigurationError as error:
        raise click.BadParameter(str(error)) from None


@click.command()
@jwks_option
@keyid_option
@click.option("--body", type=click.File("rb"), metavar="FILE", help="A file with the body, if FILE has none.")
@click.option(
    "--base",
    type=click.File("rb"),
    metavar="FILE",
    help="A file with the base that the sender signed, not that of the server's log.",
)
@click.option(
    "--origin",
    "origins",
    multiple=True,
    callback=_origins,
    metavar="URL",
    help="An origin of the server, as in origins=. May be repeated. The first has the scheme, if FILE names none. "
    "[default: https, or http for a loopback host]",
)
@click.option(
    "--profile",
    callback=read_profile,
    envvar="UNDERSIGNED_PROFILE",
    metavar="NAME | MODULE:NAME",
    help="The profile of the signature. Your own is named by its import path, such as main:PROFILE.  [default: the "
    "published one that the tag names]",
)
@click.option("--json", "as_json", is_flag=True, help="Write a JSON object.")
@click.argument("file", type=click.File("rb"))
def explain(
    *,
    jwks: BinaryIO,
    keyid: str | None,
    body: BinaryIO | None,
    base: BinaryIO | None,
    origins: tuple[Origin, ...],
    profile: Profile | None,
    as_json: bool,
    file: BinaryIO,
) -> None:
    """Explain why a signed request was rejected: what changed in transit, and which check fails.

    FILE has the request: as HTTP/1.1, as `curl -v` shows it, as a curl command, or as a line of JSON or of the log. The
    signature is verified over what the sender may have signed instead, so a cause is proven. The request is verified as
    of the time when it was signed, or received, if the log has that. Of several requests in a log, it is the last; all
    of them tell how far off the sender's clock is. The exit code is 0 if it is verified, else 1.

    \b
    Example:
      undersigned explain request.txt --jwks keys/public.jwks.json
    """  # noqa: D301 - click needs the escape to keep the line breaks
    keys = read_key_set(jwks, keyid=keyid)
    content = None if body is None else body.read()
    name = file_name(file)
    try:
        pasted = parse_pasted_request(file.read(), origins=origins, body=content)
    except MalformedRequest as malformed:
        raise click.ClickException(f"{name}: {malformed}") from None
    explained = explain_request(
        pasted.request,
        profile,
        keys,
        now=pasted.received_at,
        signers_base=None if base is None else base.read(),
        origins=origins,
        clock_offsets=pasted.clock_offsets,
    )
    error = explained.error
    if not pasted.is_whole and (error is None or error.reason == "signature_digest_mismatch"):
        # Every step before the content is checked without it.
        raise click.ClickException(f"{name}: all checks before the body pass, and {pasted.fault}")
    if as_json:
        write_object(explained_json(explained))
    else:
        note = [] if pasted.is_whole else ["", f"The body is not checked: {pasted.fault}"]
        click.echo("\n".join([*explained_lines(explained), *note]))
    click.get_current_context().exit(int(explained.error is not None))


def explained_json(explained: ExplainedRequest) -> JSONObject:
    """Return the result as a JSON object."""
    error, gap, cause = explained.error, explained.difference, explained.cause
    return {
        "ok": error is None,
        "profile": explained.profile,
        "summary": explained.summary,
        "cause": cause and {**asdict(cause), "keyid": cause.keyid or None},
        "code": error and error.code,
        "step": error and error.step,
        "detail": error and error.detail,
        "steps": [{"step": step, "check": CHECKS[step], "outcome": outcome} for step, outcome in explained.steps],
        "validity": explained.validity and asdict(explained.validity),
        "signature_base": explained.base,
        "signers_base": explained.signers_base,
        "difference": gap and asdict(gap),
        "content_digest": explained.digests and asdict(explained.digests),
    }


def explained_lines(explained: ExplainedRequest) -> Iterator[str]:
    """Yield the lines that show the result, the cause first."""
    yield click.style(explained.summary, bold=True)
    if explained.cause is not None:
        yield f"Who usually does this: {', '.join(explained.cause.makers)}"
    yield f"Profile: {explained.profile or '(none)'}"
    if (validity := explained.validity) is not None:
        how = "when it was signed" if validity.is_signing_time else "the verifier's clock"
        yield f"Checked as of: {moment(validity.judged_at)}, {how}"
        if validity.fault:
            end = "" if validity.expires is None else f", expires {moment(validity.expires)}"
            yield f"Now: {validity.fault}{end}"
    for step, outcome in explained.steps:
        note = "  (not checked: needs a revocation list or a replay store)" if outcome == "not checked" else ""
        line = f"{_MARKS[outcome]} {step!s:>2}  {CHECKS[step]}{note}"
        yield click.style(line, fg={"passed": "green", "failed": "red"}.get(outcome))
        if outcome == "failed" and explained.error is not None:
            yield f"      {explained.error.code}: {printable(explained.error.detail)}"
    if (digests := explained.digests) is not None:
        yield f"\nContent-Digest of the body:    {digests.computed}"
        if digests.declared is not None and not digests.matches:
            yield f"Content-Digest as received:    {printable(digests.declared)}"
    lines = [] if explained.base is None else explained.base.split("\n")
    yield f"\nThe signature base{', rebuilt from this request:' if lines else ' cannot be rebuilt from this request.'}"
    yield from (f"  {printable(line)}" for line in lines)
    if explained.difference is not None:
        yield from _difference(explained.difference)


def _difference(gap: BaseDifference) -> Iterator[str]:
    yield f"\nThe signer's base first differs at byte {gap.offset}, which is line {gap.line}, column {gap.column}:"
    at = gap.column - 1
    for name, line in (("rebuilt", gap.rebuilt), ("signer", gap.signers)):
        marked = click.style(printable(line[at : at + 1]) or "(its end)", reverse=True)
        yield f"  {name:8}{printable(line[:at])}{marked}{printable(line[at + 1 :])}"
