"""What a signer that is written by hand does wrong: the base, its values and parameters, and the signature's form."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from contextlib import suppress
from functools import partial
from itertools import chain, combinations, permutations, product
from operator import methodcaller
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import quote, quote_plus, unquote

from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from undersigned.explanation.other_contents import MISSING, decoded, other_base64
from undersigned.explanation.signed_values import Alternative
from undersigned.message.signature_input import parse_signature_input
from undersigned.message.structured_fields import MalformedField

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from undersigned.explanation.other_contents import Described
    from undersigned.explanation.signed_values import SignedValues

    Orders: TypeAlias = Callable[[Sequence[str]], Iterator[Sequence[str]]]

_RIGHT_BASE: Final = "the base of RFC 9421 section 2.5"
_NAME: Final = re.compile(r'^"([^"]+)"((?:;[^:]*)?): ', re.MULTILINE)
_HEADER_NAME: Final = re.compile(r'^"([^@"]+)"', re.MULTILINE)
_HEADER: Final = re.compile(r'"((?!@)[A-Za-z0-9-]+)"(?=[ ):])')
_PARAMETER: Final = re.compile(r';[a-z*][a-z0-9_.*-]*(?:=(?:"(?:[^"\\]|\\.)*"|[^;"]*))?')
_LAST: Final = '"@signature-params": '
_LISTED: Final = re.compile(r'"@signature-params": \((?:[^")]|"[^"]*")*\)')
_A_LABEL: Final = re.compile(r"(?<![^.])xn--([a-z0-9-]+)")
_LIST: Final = re.compile(r"\(([^()]*)\)")
_TIME: Final = re.compile("=([0-9]+)")
_put: Final = partial(methodcaller, "replace")
_MOST_PERMUTED: Final = 6
_MOST_MOVED: Final = 32
_FRAGMENTS: Final = ("", "top", "fragment", "frag", "section", "section1", "details", "main", "content", "anchor", "a")
_PORTS: Final = (":443", ":80")
_OFTEN: Final = (
    "a line end after the last line", "CRLF between the lines", "the label in its last line",
    "names without quotation marks", "no last line, @signature-params", "bare names in its last line",
    "no quotation marks around @signature-params", "names of headers without quotation marks",
    "names of headers without quotation marks, in the last line too", "no space after the colons",
    "spaces between the parameters", "a line end before the first line",
)  # fmt: skip
"""The usual mistakes of a base, which are tried together with others, and the first few with other values."""
_LINE_FORMS: Final[Mapping[str, Callable[[str], str]]] = {
    "names of headers in title case": partial(_HEADER_NAME.sub, lambda name: name[0].title()),
    "names in upper case": partial(_NAME.sub, lambda name: name[0].upper()),
    "names in title case": partial(_NAME.sub, lambda name: name[0].title()),
    "names of headers without quotation marks": partial(_HEADER_NAME.sub, r"\1"),
    "names without quotation marks": partial(_NAME.sub, r"\1\2: "),
    "single quotation marks": partial(_NAME.sub, r"'\1'\2: "),
    "no space after the colons": partial(_NAME.sub, r'"\1"\2:'),
    "a space before the colons": partial(_NAME.sub, r'"\1"\2 : '),
    "two spaces after the colons": partial(_NAME.sub, r'"\1"\2:  '),
    "a tab after the colons": partial(_NAME.sub, '"\\1"\\2:\t'),
    "an equals sign for the colons": partial(_NAME.sub, r'"\1"\2='),
    "no names": partial(_NAME.sub, ""),
}
"""Mistakes in the names of a base and in what follows them: letters first, then quotation marks, then colons."""
_CODINGS: Final[Mapping[str, Callable[[bytes], bytes]]] = {
    "": bytes,
    " in hexadecimal": lambda octets: octets.hex().encode(),
    " in upper-case hexadecimal": lambda octets: octets.hex().upper().encode(),
    " in Base64": base64.b64encode,
    " in Base64url": lambda octets: base64.urlsafe_b64encode(octets).rstrip(b"="),
}


def syntax_fault(field: str) -> str:
    """Return the mistake without which a value of Signature-Input can be read, or "" if none of the usual ones is."""
    corrected = {
        "": field,
        "the components are separated with commas, and not with spaces": field.replace('", "', '" "'),
        "the names of the components have no quotation marks": _LIST.sub(
            lambda found: "({})".format(" ".join(f'"{name}"' for name in found[1].split())), field
        ),
        "the components are not in parentheses": re.sub(r'=\s*("[^;]*")', r"=(\1)", field, count=1),
        "the label, such as sig1=, is missing": f"sig1={field}",
        "single quotation marks stand for double ones": field.replace("'", '"'),
        "the names of the components are not in lower case": _LIST.sub(lambda found: found[0].lower(), field),
        "a time is in microseconds or nanoseconds, and not in seconds": re.sub(
            "((?:created|expires)=[0-9]{10})[0-9]{6,}", r"\1", field
        ),
    }
    for words, text in corrected.items():
        with suppress(MalformedField):
            if any(one.components for one in parse_signature_input(text).values()):
                return words
    return ""


def base_forms(values: SignedValues, base: str) -> Iterator[Alternative]:
    """Yield what a sender may have signed in place of the base of `values`: a form or hash of it, or other text."""
    url, body = str(values.target), bytes(values.content)
    line, rest = f'"@target-uri": {url}', url.partition("://")[2].partition("/")[2]
    alone = [one.partition(": ")[2] for one in base.split("\n")[:-1]]
    texts = {f"a base with {words}": change(base) for words, change in _forms(values.label).items()} | {
        "a base with @request-target in place of @target-uri": base.replace(line, f'"@request-target": /{rest}'),
        "a base with @path in place of @target-uri": base.replace(line, f'"@path": {values.path}'),
        "the base as a JSON string": json.dumps(base),
        "the base with a backslash before each quotation mark": base.replace('"', r"\""),
        "the values alone": "\n".join(alone),
        "the values alone, one after another": "".join(alone),
        "the method and the URL": f"{values.method} {url}",
        "the URL": url,
        "the value of Signature-Input": f"{values.label}={values.read.text}",
        "the parameters of the signature": values.read.text,
        "the field Content-Digest": values.fields.combined.get("content-digest", ""),
    }
    texts |= {f"a base with {words}, except the last": _lines(change)(base) for words, change in _LINE_FORMS.items()}
    octets = {words: text.encode("utf-8", "surrogatepass") for words, text in texts.items()}
    octets |= {f"a base with its text in {name}": base.encode(name) for name in ("UTF-16-LE", "UTF-16-BE", "UTF-16")}
    octets |= {f"the base{words}": code(base.encode()) for words, code in _CODINGS.items() if words}
    octets |= {"the body": body, "the base with the body after it": b"%b\n%b" % (base.encode(), body)}
    for words, signed in octets.items():
        yield Alternative("other base form", values, signed, (words, _RIGHT_BASE))
    for name, (words, code) in product(("sha256", "sha512", "sha384", "sha1"), _CODINGS.items()):
        digest = code(hashlib.new(name, base.encode(), usedforsecurity=False).digest())
        yield Alternative("hashed base", values, digest, (f"the {name} of the base{words}", "the base itself"))


def other_bases(values: SignedValues, base: str) -> Iterator[Alternative]:
    """Yield the base with other values, without some of its parts, and with its parts in the usual other orders."""
    return chain(_other_values(values, base), _fewer_parts(values, base), _other_orders(values, base, moved))


def rarer_bases(values: SignedValues, base: str) -> Iterator[Alternative]:
    """Yield the base with two mistakes of its signer at once, of which one is usual; then its parts in any order."""
    forms = _forms(values.label)
    for (one, first), other in product(forms.items(), _OFTEN):
        octets = forms[other](first(base)).encode("utf-8", "surrogatepass")
        yield Alternative("other base form", values, octets, (f"a base with {one}, and with {other}", _RIGHT_BASE))
    for alternative, words in product(other_bases(values, base), _OFTEN[:4]):
        text, received = alternative.told or ("", "")
        signed = forms[words]((alternative.octets or b"").decode("utf-8", "surrogatepass"))
        name = " and ".join(dict.fromkeys((alternative.name, "other base form")))
        told = f"{text}, in a base with {words}", received
        yield Alternative(name, values, signed.encode("utf-8", "surrogatepass"), told)
    yield from _other_orders(values, base, permuted)


def _forms(label: str) -> Mapping[str, Callable[[str], str]]:
    """Return the mistakes of a base by their words: first those in its lines, then those between and around them."""
    between = {
        "CRLF": "\r\n", "CR": "\r", "\\n as two characters": "\\n", "\\r\\n as four": "\\r\\n", "nothing": "",
        "spaces": " ", "commas": ",", "commas and spaces": ", ", "&": "&", "an empty line": "\n\n",
    }  # fmt: skip
    indents = {"2 spaces": "  ", "4 spaces": "    ", "8 spaces": " " * 8, "a tab": "\t"}
    return {
        **_LINE_FORMS,
        "names of headers in title case, in the last line too": partial(_HEADER.sub, lambda name: name[0].title()),
        "names of headers without quotation marks, in the last line too": partial(_HEADER.sub, r"\1"),
        "no quotation marks around @signature-params": _put(_LAST, _LAST.replace('"', "")),
        "host in place of @authority": _put('"@authority": ', '"host": '),
        "values in quotation marks": _values('"{}"'.format),
        "values in lower case": _values(str.lower),
        "values in upper case": _values(str.upper),
        "all of it in lower case": str.lower,
        "the label in its last line": _last(_put(": (", f": {label}=(")),
        "signature-params for @signature-params": _put(_LAST, '"signature-params": '),
        "signature-input for @signature-params": _put(_LAST, f'"signature-input": {label}='),
        "the header Signature-Input as its last line": _put(_LAST, f"Signature-Input: {label}="),
        "no name in its last line": _put(_LAST, ""),
        "no @ in its names": _put('"@', '"'),
        "a space before the parameters": _last(_put(");", ") ;")),
        "commas between the parameters": _last(_put(";", ",")),
        "spaces between the parameters": _last(_put(";", "; ")),
        "parameters without quotation marks": _last(partial(re.sub, '="([^"]*)"', r"=\1")),
        "numbers in quotation marks": _last(partial(_TIME.sub, r'="\1"')),
        "times in milliseconds": _last(partial(_TIME.sub, r"=\g<1>000")),
        "commas between the components": _last(_put('" "', '", "')),
        "no spaces between the components": _last(_put('" "', '""')),
        "bare names in its last line": _last(partial(_LIST.sub, lambda names: names[0].replace('"', ""))),
        "no parentheses in its last line": _last(partial(_LIST.sub, r"\1")),
        "no components in its last line": _last(partial(_LIST.sub, "")),
        "an empty line before the last line": _last("\n{}".format),
        "no last line, @signature-params": lambda base: base.rpartition("\n")[0],
        "only its last line": lambda base: base.rpartition("\n")[2],
        "its last line first": lambda base: "\n".join([*base.split("\n")[-1:], *base.split("\n")[:-1]]),
        "all its lines sorted": lambda base: "\n".join(sorted(base.split("\n"))),
        "a space at the end of each line but the last": _put("\n", " \n"),
        "a space at the end of each line": lambda base: base.replace("\n", " \n") + " ",
        **{f"{words} between the lines": _put("\n", separator) for words, separator in between.items()},
        **{f"{words} before each line but the first": _put("\n", f"\n{space}") for words, space in indents.items()},
        **{f"{words} before each line": _indented(space) for words, space in indents.items()},
        **{f"{words} before each line, between line ends": _indented(space, "\n") for words, space in indents.items()},
        "a byte order mark (BOM) before it": "\ufeff{}".format,
        "a line end before the first line": "\n{}".format,
        "a line end after the last line": "{}\n".format,
        "two line ends after the last line": "{}\n\n".format,
        "a space after the last line": "{} ".format,
        "CRLF after the last line": "{}\r\n".format,
        "an octet of zero after it": "{}\0".format,
    }


def _lines(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that changes a base except its last line."""
    return lambda base: change(base.rpartition("\n")[0]) + "".join(base.rpartition("\n")[1:])


def _last(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that changes the last line of a base."""
    return lambda base: "".join(base.rpartition("\n")[:2]) + change(base.rpartition("\n")[2])


def _values(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that changes the values in the lines of a base, except the last."""
    return _lines(partial(re.sub, "(?m)^(.*?: )(.*)$", lambda line: line[1] + change(line[2])))


def _indented(space: str, end: str = "") -> Callable[[str], str]:
    return lambda base: f"{end}{space}" + base.replace("\n", f"\n{space}") + end


def moved(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield texts in the usual other orders: sorted, reversed, and with each one moved."""
    yield sorted(texts)
    yield sorted(texts, key=lambda text: text.partition("=")[0])
    yield texts[::-1]
    for at, text in enumerate(texts[:_MOST_MOVED]):
        rest = [*texts[:at], *texts[at + 1 :]]
        yield from ([*rest[:to], text, *rest[to:]] for to in (0, at + 1, len(rest)))


def permuted(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield texts in each order, if they are few."""
    return permutations(texts if len(texts) <= _MOST_PERMUTED else ())


def _other_orders(values: SignedValues, base: str, orders: Orders) -> Iterator[Alternative]:
    """Yield the parameters and lines of a base in other orders."""
    lines, parameters, joined = _parts(base)
    for order in orders(parameters):
        told = _names(order), _names(parameters)
        yield Alternative("reordered parameters", values, joined(lines, order), told)
    for order in orders(lines):
        yield Alternative("reordered lines", values, joined(order, parameters), (_names(order), _names(lines)))


def _fewer_parts(values: SignedValues, base: str) -> Iterator[Alternative]:
    """Yield a base without some of its parameters, or without some of its lines."""
    lines, parameters, joined = _parts(base)
    for kept in _fewer(parameters):
        yield Alternative("added parameters", values, joined(lines, kept), (_names(kept), _names(parameters)))
    for kept in _fewer(lines):
        words = f"a base without {_names([one for one in lines if one not in kept])}"
        yield Alternative("other base form", values, joined(kept, parameters), (words, _RIGHT_BASE))


def _parts(base: str) -> tuple[Sequence[str], Sequence[str], Callable[[Sequence[str], Sequence[str]], bytes]]:
    """Return the lines of a base except the last, the parameters in the last, and a function that joins both."""
    *lines, last = base.split("\n")
    head = "".join(_LISTED.findall(last)[:1])
    return (
        lines,
        _PARAMETER.findall(last, len(head)),
        lambda lines, parameters: "\n".join([*lines, head + "".join(parameters)]).encode(),
    )


def _fewer(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield texts without some: without any if they are few, else without one or two."""
    most = len(texts) if len(texts) <= _MOST_PERMUTED else 2
    return chain.from_iterable(combinations(texts, len(texts) - count) for count in range(1, most + 1))


def _names(parts: Sequence[str]) -> str:
    """Return the names of parameters or of lines."""
    names = (part[1:].partition("=")[0] if part[0] == ";" else part.partition(": ")[0] for part in parts)
    return " ".join(names) or "no parameter"


def _other_values(values: SignedValues, base: str) -> Iterator[Alternative]:
    """Yield the base with other values of its components."""
    *lines, last = base.split("\n")
    for texts in _component_values(values, dict(line[1:].split('": ', 1) for line in lines if '": ' in line)):
        signed = {name: f'"{name}": {text}' for name, text in texts.items()}
        changed = [signed.get(line.partition(": ")[0][1:-1], line) for line in lines]
        pairs = [(new, line) for new, line in zip(changed, lines, strict=True) if new != line]
        octets = "\n".join([*changed, last]).encode("utf-8", "surrogatepass")
        told = ", ".join(new for new, _ in pairs), ", ".join(line for _, line in pairs)
        yield Alternative("other component value", values, octets, told)


def _component_values(values: SignedValues, received: Mapping[str, str]) -> Iterator[Mapping[str, str]]:
    """Yield what a sender may have written as the values of components, by their names."""
    target, scheme, authority = values.target, values.scheme, values.authority
    url, query, path = str(target), "" if values.query is None else f"?{values.query}", values.path
    start, rest = f"{scheme}://{authority}", f"{path}{query}"
    fragments = [f"{url}#{one}" for one in dict.fromkeys((values.typed.fragment or "", *_FRAGMENTS))]
    # An A-label is `xn--` and Punycode (RFC 5890 section 2.3.2.1).
    unicode_host = _A_LABEL.sub(lambda label: label[1].encode().decode("punycode", "replace"), authority)
    written = {
        "@target-uri": [
            rest, path, f"{start}{path}", f"{authority}{rest}", f"//{authority}{rest}", start, f"{start}/",
            unquote(url), unquote(url, "latin-1"), f"{start}{unquote(path)}{query}", f"{start}{path}{unquote(query)}",
            *fragments, str(values.typed), f"{scheme.upper()}://{authority}{rest}", f"wss://{authority}{rest}",
            f"ws://{authority}{rest}", f"{url}?", quote(url, safe=":/?#[]@!$&'()*+,;=~"), quote(url),
            quote(url, safe="!'()*~"), quote_plus(url), re.sub("%[0-9A-F]{2}", lambda octet: octet[0].lower(), url),
        ],
        "@path": [rest, url, unquote(path), path[1:], path.rstrip("/"), f"{path}/", quote(path)],
        "@query": [
            query[1:], unquote(query), unquote(query[1:]), "?", rest, query.replace("+", " "), query.replace("%20", "+")
        ],
        "@scheme": [f"{scheme}:", f"{scheme}://"],
        "@request-target": [url, path, unquote(path), f"{values.method.lower()} {rest}", f"{values.method} {rest}"],
        "content-digest": list(_digest_texts(received.get("content-digest", ""), bytes(values.content))),
    }  # fmt: skip
    for name, value in received.items():
        texts = [*written.get(name, ()), value.lower(), value.upper(), value.title(), f'"{value}"', f'["{value}"]',
                 f"['{value}']", f"[{value}]", "", *MISSING]  # fmt: skip
        yield from ({name: text} for text in dict.fromkeys(texts) if text != value)
    first, dot, more = authority.partition(".")
    others = [
        *(f"{authority}{port}" for port in _PORTS), authority.upper(), authority.title(), authority.capitalize(),
        first.upper() + dot + more, start, authority.partition(":")[0], values.typed.authority or "", f"{authority}/",
        f"www.{authority}", authority.removeprefix("www."), f"{authority}.", f"{authority}{path}", unicode_host,
    ]  # fmt: skip
    for other in dict.fromkeys(others):
        yield {"@authority": other}
        yield {"@authority": other, "@target-uri": f"{scheme}://{other}{rest}"}
        yield {"@target-uri": f"{scheme}://{other}{rest}"}


def _digest_texts(declared: str, body: bytes) -> Iterator[str]:
    """Yield what a sender may have written for a declared digest, in place of the field's value."""
    found = re.fullmatch("(sha-256|sha-512)=:([A-Za-z0-9+/]+={0,2}):", declared)
    if found is not None:
        name, text = found[1], found[2]
        hexadecimal = base64.b64decode(text).hex()
        yield from (text, f":{text}:", hexadecimal, f"{name}={text}", f"{name.upper()}={text}", f"{name}={hexadecimal}")
        yield from (f'{name}=":{text}:"', f'{name}="{text}"', f"{name.replace('-', '')}={text}")
        yield from (f"{name.upper()}=:{text}:", *other_base64(declared))
    yield body.decode("utf-8", "replace")


def signature_forms(values: SignedValues) -> Iterator[Alternative]:
    """Yield the signatures that the field Signature may mean in another form, and other hashes that were signed."""
    octets = values.signature
    field, label = values.fields.combined.get("signature", ""), re.escape(values.label)
    found = re.search(rf"(?:^|[,\s]){label}\s*=\s*[\"']?(:?)([A-Za-z0-9+/=_-]+)(:?)", field)
    before, text, after = ("", "", "") if found is None else found.groups()
    colons = "" if before and after else ", without colons"
    # If this is the right form, the fault is elsewhere in the field.
    forms = [(words, form) for one, form in decoded(text) if (words := f"{one}{colons}") != "in Base64"]
    forms += [one for length in (64, 96) for one in _with_length(octets, length)]
    for raw in (raw for form in (octets, *(form for _, form in forms)) for raw in _raw_signatures(form)):
        yield Alternative("DER signature", values._replace(signature=raw), None, ("a DER sequence", "r and s"))
    for words, form in forms:
        told = (f"the signature {words}", "the bytes of a signature in Base64")
        yield Alternative("other signature form", values._replace(signature=form), None, told)
    for key in values.keys:
        for form, (words, other) in product((octets, *_raw_signatures(octets)), key.with_other_hashes()):
            signed = values._replace(signature=form, keys=(other,))
            yield Alternative("another hash", signed, None, (words, " or ".join(sorted(key.algorithms))))


def _with_length(octets: bytes, length: int) -> Described:
    """Yield what a signature may be if it is to have so many bytes."""
    if len(octets) > length:
        yield f"with {len(octets) - length} bytes after it", octets[:length]
        yield f"with {len(octets) - length} bytes before it", octets[-length:]
    if len(octets) == length:
        r, s = octets[: length // 2], octets[length // 2 :]
        yield "with s before r", s + r
        yield "with r and s in the other byte order", r[::-1] + s[::-1]


def _raw_signatures(octets: bytes) -> Iterator[bytes]:
    """Yield r and s of an ECDSA signature in DER, each of the size of a curve."""
    with suppress(ValueError, OverflowError):
        r, s = decode_dss_signature(octets)
        for size in (48, 32):
            yield r.to_bytes(size, "big") + s.to_bytes(size, "big")
