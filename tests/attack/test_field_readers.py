"""Field differential: Signature-Input, Signature and Content-Digest mean what http-sf reads in them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import http_sf

from undersigned.message.signature_input import choose_signature_inputs, parse_signature_input
from undersigned.message.structured_fields import MalformedField, parse_byte_sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from random import Random

    from undersigned.message.signature_input import SignatureInput

NAMES = ('"@method"', '"@target-uri"', '"content-type"', '"a"', '"x-y.z"', '""', '"A"', '"a b"', '"\\""',
         '"@signature-params"', "a", "1", ":aa==:")  # fmt: skip
QUALIFIERS = (";sf", ";req", ';key="a"', '; key="a"', ";sf=?1", ";sf=?0", ';name="a;b"', ';key=""', ';key="a b"')
VALUES = ("0", "1", "-1", "01", "-0", "1776520800", "999999999999999", "1000000000000000", "1.5", "1.50", '""', '"a"',
          '"a b"', '"a\\"b"', '"a,b"', '"a;b=(1)"', "?1", "?0", "tok", "*t/a:b", ":YQ==:", ":YQ:", "@1776520800",
          '%"a%c3%bc"', '%"a%C3"', "(", "\u00e9")  # fmt: skip
KEYS = ("created", "expires", "nonce", "keyid", "alg", "tag", "a", "*a", "a-b_c.d*", "A", "1a", "")
LABELS = ("sig1", "sig1", "sig2", "*", "a.b-c_d", "sha-256", "sha-512", "Sig", "1", "")
SEQUENCES = ("", "YQ==", "YQ=", "YQ", "YR==", "YWI=", "YWJj", "_-8=", "/+8=", "A" * 86 + "==", "A" * 43 + "=")
USUAL = "s=({});created={};expires={};nonce={};keyid={};alg={};tag={}"
BLANKS = ("", "", "", " ", "  ", "\t", " \t ")
NOISE = (*' \t,;=():"\\?@%.-_*+/~0aAzZ9\x00\x1f\x7f\u00e9\r\n', ", ", '"a"', ";a=1", "=()", "=:YQ==:")
PARAMETERS = re.compile(r';(?:[^",]|(?<=%)"[^"]*"|"(?:[^"\\]|\\.)*")*')


def members(random: Random, make: Callable[[Random], str]) -> str:
    """Return a few members, mutated, without the white space around them that nobody sees."""
    comma = f"{random.choice(BLANKS)},{random.choice(BLANKS)}"
    value = comma.join(make(random) for _ in range(random.choice((1, 1, 1, 2, 3))))
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        at = random.randrange(len(value) + 1)
        end = at + random.choice((0, 0, 1, 1, 4))
        value = value[:at] + random.choice((*NOISE, "", value[end : end + 5])) + value[end:]
    return value.strip(" \t")


def inner_list(random: Random) -> str:
    if random.random() < 0.2:
        names = " ".join(random.sample(NAMES[:6], random.randrange(4)))
        return USUAL.format(names, *random.choices(VALUES[:8], k=2), *random.choices(VALUES[9:14], k=4))
    items = []
    for _ in range(random.randrange(4)):
        name = random.choice(NAMES[: random.choice((5, 5, 5, len(NAMES)))])
        items.append(name + "".join(random.choices(QUALIFIERS, k=random.choice((0, 0, 0, 1, 2)))))
    before, between, after = random.choice(BLANKS[:4]), random.choice((" ", " ", "  ")), random.choice(BLANKS[:4])
    return f"{random.choice(LABELS)}=({before}{between.join(items)}{after}){parameters(random)}"


def byte_sequence(random: Random) -> str:
    given = parameters(random) if random.random() < 0.3 else ""
    return f"{random.choice(LABELS)}=:{random.choice(SEQUENCES)}:{given}"


def parameters(random: Random) -> str:
    made = ""
    for _ in range(random.choice((0, 1, 3, 6))):
        key = random.choice(KEYS[:9] if random.random() < 0.9 else KEYS)
        made += f";{random.choice(BLANKS[:5])}{key}" + random.choice((f"={random.choice(VALUES)}",) * 3 + ("",))
    return made


class Repeated(Exception):
    """Raised when a key is repeated."""


def reject(_key: str, _context: str) -> None:
    raise Repeated


def parsed(value: str, *, lenient: bool = False) -> dict[str, tuple[object, dict]]:
    """Return what http-sf reads, or nothing."""
    try:
        return http_sf.parse(value.encode("ascii"), tltype="dictionary", on_duplicate_key=None if lenient else reject)
    except (Repeated, http_sf.StructuredFieldError, UnicodeEncodeError):
        return {}


def typed(values: dict) -> list:
    return [(key, type(value), value) for key, value in values.items()]


def expected(value: str, *, lenient: bool = False) -> list:
    """Return what Signature-Input means (RFC 9421 section 4.1), or nothing if it must be rejected."""
    meant = []
    for label, (items, given) in parsed(value, lenient=lenient).items():
        if not isinstance(items, list):
            return []
        names = [name for name, _ in items]
        components = [(name, http_sf.ser((name, own)), not own) for name, own in items]
        identities = {(name, frozenset(own.items())) for name, own in items}
        if "@signature-params" in names or len(identities) < len(items):
            return []
        if not all(isinstance(name, str) and name == name.lower() for name in names):
            return []
        meant.append((label, components, typed(given), http_sf.ser([(items, given)])))
    return meant


def read(reader: Callable[[], Iterable[tuple[str, SignatureInput]]]) -> list:
    try:
        return [
            (
                label,
                [(one.name, one.text, one.bare) for one in member.components],
                typed(member.parameters),
                member.text,
            )
            for label, member in reader()
        ]
    except MalformedField:
        return []


def test_signature_input_means_what_http_sf_reads(search):
    for value in search.of((), lambda random: members(random, inner_list)):
        meant = expected(value)
        found = {
            "all": read(lambda value=value: parse_signature_input(value).items()),
            "chosen": read(lambda value=value: choose_signature_inputs(value, list)),
        }
        for reader, what in found.items():
            if what != meant:
                search.find(f"{reader}: {'another meaning' if what else 'rejected'}", value)
        lenient = read(lambda value=value: parse_signature_input(value, repeated_keys=True).items())
        if lenient != expected(value, lenient=True):
            search.find("lenient: another meaning", value)
        if meant:
            search.reach()
    search.finish(reached=search.tried // 20)


def test_byte_sequences_mean_what_http_sf_reads(search):
    for value in search.of((), lambda random: members(random, byte_sequence)):
        try:
            found = parse_byte_sequences(value, "base64")
        except MalformedField:
            continue
        # The parameters mean nothing, so one that http-sf cannot read, such as a number of 16 digits, does no harm.
        meant = parsed(value) or parsed(PARAMETERS.sub("", value))
        if found != {key: octets for key, (octets, _) in meant.items()}:
            search.find("another meaning", value)
        search.reach()
    search.finish(reached=search.tried // 20)
