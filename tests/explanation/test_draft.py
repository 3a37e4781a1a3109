"""Explanations of requests that are signed by draft-cavage-12: the guess, the steps, the base and the cause."""

from __future__ import annotations

import pytest
from tests.activitypub.actors import (
    CREATE,
    GET,
    INBOX,
    KEYID,
    NOW,
    POST,
    pair,
    sha256,
    sign_by_draft,
    sign_by_hand,
    verification_key,
    with_fields,
)
from tests.activitypub.test_vectors import CAVAGE, EVERY_CAVAGE
from tests.profiles.wire import EXAMPLES, OneKey

from undersigned import Request, Signer
from undersigned.explanation import REQUEST_PROFILES, compare_bases, explain_request, guess
from undersigned.message.timestamps import http_date
from undersigned.profiles import ACTIVITYPUB

[DRAFT] = [profile for profile in REQUEST_PROFILES if profile.name == "draft-cavage-12"]
BASE = "(request-target): post /inbox?page=1\nhost: inbox.example\ndate: Sun, 22 Nov 2026 00:00:05 GMT\ndigest: "
KEYS = pair().key_set()
DATE = ("Date", http_date(NOW))


def change_request(request: Request, *, url=None, body=None, without=(), fields=()) -> Request:
    kept = [line for line in request.fields if line[0] not in without]
    return Request(request.method, url or request.url, [*kept, *fields], request.body if body is None else body)


def explain(request: Request, profile=None, **options):
    return explain_request(request, profile, KEYS, **{"clock": lambda: NOW + 10} | options)


@EVERY_CAVAGE
def test_published_request_is_guessed_and_verified_by_the_draft(vector):
    found = explain_request(vector.request, None, OneKey(vector.key), now=vector.now)
    assert (found.profile, found.error, found.base) == ("draft-cavage-12", None, vector.base)
    assert dict(found.steps)[10] == "passed"


def test_request_is_verified_as_of_its_date_and_shows_its_digest():
    found = explain(sign_by_draft(POST))
    assert (found.error, found.validity.judged_at, found.validity.is_signing_time) == (None, NOW, True)
    assert (found.digests.field, found.digests.computed, found.digests.matches) == ("Digest", sha256(CREATE), True)


def test_created_and_expires_of_the_draft_are_its_times():
    lines = {"(request-target)": "get /inbox?page=1", "host": "inbox.example", "(created)": str(NOW)}
    request = sign_by_hand(GET, {**lines, "(expires)": f"{NOW + 60}.5"}, f",created={NOW},expires={NOW + 60}.5")
    found = explain(request)
    assert (found.error, found.validity.created, found.validity.expires) == (None, NOW, NOW + 60)
    assert found.base.endswith(f"(created): {NOW}\n(expires): {NOW + 60}.5")


@pytest.mark.parametrize(
    ("sent", "received", "variant"),
    [
        ("https://inbox.example/a%2Fb", "https://inbox.example/a/b", "decoded escapes"),
        ("https://inbox.example/inbox", "https://inbox.example/api/inbox", "added prefix"),
    ],
)
def test_changed_target_is_found(sent, received, variant):
    found = explain(change_request(sign_by_draft(Request("GET", sent)), url=received))
    [change] = found.search.cause.changes
    assert change.part == "path", variant
    assert found.difference.component == '"(request-target)"'


def test_changed_host_is_found():
    forwarded = [("Host", "backend.test"), ("X-Forwarded-Host", "inbox.example")]
    moved = change_request(
        sign_by_draft(POST), url="https://backend.test/inbox?page=1", without=["host"], fields=forwarded
    )
    found = explain(moved)
    assert found.signers_base == BASE + sha256(CREATE)
    assert [change.variant for change in found.search.cause.changes] == ["other host"]
    unread = change_request(sign_by_draft(POST), without=["host"], fields=[("Host", "[")])
    assert explain(unread).error is not None


def test_changed_content_is_found():
    found = explain(change_request(sign_by_draft(POST), body=CREATE + b"\n"))
    assert (found.error.step, found.digests.matches) == (11, False)
    assert found.causes[0].startswith("other content: the sender signed the body without its final line end")


def test_unreadable_digest_is_told():
    found = explain(change_request(sign_by_draft(POST), without=["digest"], fields=[("Digest", "MD5=x")]))
    assert (found.error.step, found.digests.declared, found.digests.matches) == (1, "MD5=x", False)


@pytest.mark.parametrize(
    ("signers", "cause"),
    [
        ((BASE + "x").replace("post", "put"), "the method was rewritten on the way"),
        ((BASE + "x").replace("page=1", "page=2"), "the query was rewritten"),
        ((BASE + "x").replace("inbox.example", "Inbox.Example"), "canonical form of its authority"),
        (BASE + sha256(CREATE.strip(b"}")), "digest was rewritten"),
        (BASE + "MD5=x", "digest was rewritten"),
        (BASE + sha256(CREATE + b"\n"), "the digest is of the body with LF at its end"),
        ("\n".join(reversed((BASE + "x").split("\n"))), "in another order than its headers parameter"),
        (BASE.rpartition("\n")[0], 'lacks "digest", which its headers parameter covers'),
    ],
)
def test_difference_of_two_signing_strings_has_its_cause(signers, cause):
    difference = compare_bases(BASE + sha256(CREATE), signers.encode(), body=CREATE)
    assert cause in difference.cause


def test_request_by_the_other_scheme_is_told_so():
    found = explain(sign_by_draft(POST), ACTIVITYPUB)
    assert "the profile: the request is verified by draft-cavage-12, and not by activitypub" in found.causes
    modern = with_fields(POST, *Signer(pair().signing_key(), profile=ACTIVITYPUB, clock=lambda: NOW).sign(POST))
    found = explain(modern, DRAFT)
    assert (found.error.step, found.base) == (1, None)
    assert any("is verified by activitypub" in cause for cause in found.causes)


def test_malformed_signature_of_the_draft_is_still_taken_for_one():
    for value in ('keyId="a"', f'Signature keyId="{KEYID}"', 'headers="date",signature="AA=="'):
        request = Request("GET", INBOX, [DATE, ("Signature", value)])
        assert guess(request, KEYS) is DRAFT
        assert explain(request).error.step == 1


def test_signature_in_authorization_is_named():
    request = Request("GET", INBOX, [("Authorization", f'Signature keyId="{KEYID}",signature="AA=="')])
    [cause] = explain(request).causes
    assert cause.startswith("Authorization has a signature by draft-cavage-12")
    assert not explain(Request("GET", INBOX, [("Authorization", 'Bearer keyid="a"')])).causes


def test_request_of_rfc_9421_is_not_taken_for_one_of_the_draft():
    example = EXAMPLES["activitypub-rfc9421"]
    assert guess(example.request, OneKey(example.key), now=example.now) is ACTIVITYPUB
    assert len(CAVAGE) == 3
    assert verification_key().keyid == KEYID
