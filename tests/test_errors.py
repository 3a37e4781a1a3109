from __future__ import annotations

import copy
import pickle
import traceback
from typing import get_args

import pytest

from undersigned import (
    ConfigurationError,
    MalformedSignature,
    MalformedURL,
    SignatureError,
    SignatureRejected,
    SigningError,
    UndersignedError,
    VerificationUnavailable,
)
from undersigned.errors import KeySourceError, Reason, signature_error
from undersigned.log_text import printable

MUST_ACT = {
    VerificationUnavailable: "signature_jwks_unavailable signature_revocation_stale signature_store_unavailable "
    "signature_server_unsupported signature_capabilities_unreachable signature_brand_json_unreachable "
    "signature_brand_json_malformed",
    MalformedSignature: "signature_header_malformed signature_params_incomplete target_uri_malformed body_malformed",
}


def evident(error: SignatureError, *, keyid: str = "k", base: str | None = None) -> SignatureError:
    error.keyid, error.signature_base = keyid, base
    return error


@pytest.mark.parametrize(
    "error", [ConfigurationError, SigningError, MalformedURL, SignatureError, MalformedSignature, SignatureRejected]
)
def test_every_error_is_a_subclass_of_our_base_error(error):
    assert issubclass(error, UndersignedError)


@pytest.mark.parametrize("error", [ConfigurationError, SigningError, MalformedURL])
def test_error_about_an_argument_is_a_value_error_unless_it_must_stop_the_start_of_a_server(error):
    assert issubclass(error, ValueError) is (error is not ConfigurationError)


def test_traceback_has_the_detail():
    error = SignatureError("request_signature_invalid", detail="another key signed it")
    told = "".join(traceback.format_exception_only(error))
    assert told == "undersigned.errors.SignatureError: request_signature_invalid\nanother key signed it\n"


@pytest.mark.parametrize("reason", get_args(Reason))
def test_each_reason_belongs_to_the_party_that_must_act(reason):
    error = signature_error(reason, f"request_{reason}", step=1, detail="why")
    expected = next((kind for kind, reasons in MUST_ACT.items() if reason in reasons.split()), SignatureRejected)
    assert type(error) is expected
    assert error.code == f"request_{reason}"


def test_str_of_a_signature_error_is_its_code():
    error = evident(SignatureError("code", step=10, detail="detail"), keyid="keyid", base="base")
    assert str(error) == "code"
    assert repr(error) == "SignatureError('code')"


@pytest.mark.parametrize(
    ("error", "explained"),
    [
        (
            evident(SignatureError("code", step="9a", detail="detail"), keyid="keyid", base='"a": b\n"c": d'),
            'code (nonce limit of the key): detail\nkeyid: keyid\nsignature base:\n  "a": b\n  "c": d',
        ),
        (
            evident(SignatureError("code", step=10, detail="detail", received="Host a\r\nb")),
            "code (target, authority and signature): detail\nreceived: Host a\\r\\nb\nkeyid: k",
        ),
        (SignatureError("code", detail="detail"), "code (presence of a signature): detail"),
    ],
    ids=["evidence", "rejected value", "nothing known"],
)
def test_explain_shows_what_is_known_line_by_line(error, explained):
    assert error.explain() == explained


def test_explain_escapes_control_characters():
    error = evident(SignatureError("code"), keyid="a\r\x1b[31m\ud800\u202e", base="b\rc\x00\u2028d\nsecond")
    assert error.explain().split("\n") == [
        "code (presence of a signature): ",
        r"keyid: a\r\x1b[31m\ud800\u202e",
        "signature base:",
        r"  b\rc\x00\u2028d",
        "  second",
    ]


@pytest.mark.parametrize("unit", ["?", "?a", "&", "/?x-", "?a=?", "&token"])
def test_explain_looks_once_at_each_character_of_its_evidence(unit):
    # It would take minutes, if a query were looked at again from each of its question marks.
    text = unit * (500_000 // len(unit))
    error = evident(SignatureError("code", received=text), base=f'"x-a": {text}')
    assert f"({len(text)} characters)" in error.explain()


def test_printable_keeps_printable_ascii_and_cuts_with_the_full_length():
    assert printable("plain text ~") == "plain text ~"
    assert printable("x" * 20, limit=4) == "xxxx... (20 characters)"


@pytest.mark.parametrize("revive", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301 - our own bytes
def test_error_can_be_pickled(revive):
    url = revive(MalformedURL("no host", rule="authority"))
    assert (str(url), url.rule, url.code) == ("no host", "authority", "target_uri_malformed")
    source = revive(KeySourceError("signature_jwks_unavailable", "no answer", definite=True))
    assert (str(source), source.reason, source.definite) == ("no answer", "signature_jwks_unavailable", True)
    signature = revive(evident(SignatureRejected("code", step=10, detail="d"), keyid="k", base="b"))
    assert (signature.code, signature.step, signature.detail) == ("code", 10, "d")
    assert (signature.keyid, signature.signature_base) == ("k", "b")


@pytest.mark.parametrize("name", ["authorization", "proxy-authorization", "cookie", "x-api-key", "x-auth-token"])
def test_explain_withholds_the_value_of_a_covered_credential(name):
    error = evident(SignatureError("code"), base=f'"@method": GET\n"{name}": s3cr3t\n"{name}";bs: s3cr3t')
    assert error.explain().split("\n")[3:] == [
        '  "@method": GET',
        f'  "{name}": (withheld)',
        f'  "{name}";bs: (withheld)',
    ]


def test_explain_shows_parameters_with_any_name():
    error = evident(SignatureError("code"), base='"@signature-params": ("cookie");keyid="token"')
    assert error.explain().endswith('\n  "@signature-params": ("cookie");keyid="token"')
