"""What a signer that is written by hand does wrong: the base, its values and parameters, and the signature's form."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import partial
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from undersigned.explanation.values import SignedValues

    Write = Callable[[str], bytes]
    """Returns what the sender signed in place of a right base."""

RIGHT_BASE: Final = "the base of RFC 9421 section 2.5"

_NAME: Final = re.compile(r'^"([^"]+)"((?:;[^:]*)?): ', re.MULTILINE)
_PARAMETER: Final = re.compile(r';[a-z*][a-z0-9_.*-]*(?:=(?:"(?:[^"\\]|\\.)*"|[^;"]*))?')
_LAST: Final = '"@signature-params": '
_LISTED: Final = re.compile(r'"@signature-params": \((?:[^")]|"[^"]*")*\)')
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/_-]{4}){10,}(?:[A-Za-z0-9+/_-]{2,3})?={0,2}")
_MOST_ORDERED: Final = 6
_MOST_LINES: Final = 5
_FRAGMENTS: Final = ("", "top", "fragment", "frag", "section", "section1", "details", "main", "content", "anchor", "a")
_DEFAULT_PORTS: Final[Mapping[str, str]] = {"https": ":443", "http": ":80"}
_LENGTHS: Final = (64, 96)


def base_forms(label: str) -> Iterator[tuple[str, Write]]:
    """Yield the other forms in which a sender may write a whole base, each with a description."""
    texts: dict[str, Callable[[str], str]] = {
        "a line end after the last line": lambda base: f"{base}\n",
        "CRLF between the lines": lambda base: base.replace("\n", "\r\n"),
        "CRLF between the lines and after the last": lambda base: base.replace("\n", "\r\n") + "\r\n",
        "CRLF after the last line": lambda base: f"{base}\r\n",
        "CR between the lines": lambda base: base.replace("\n", "\r"),
        "\\n as two characters between the lines": lambda base: base.replace("\n", "\\n"),
        "no line ends": lambda base: base.replace("\n", ""),
        "spaces between the lines": lambda base: base.replace("\n", " "),
        "an empty line between the lines": lambda base: base.replace("\n", "\n\n"),
        "no last line, @signature-params": lambda base: base.rpartition("\n")[0],
        "no last line, @signature-params, but the line end before it": lambda base: f"{base.rpartition(chr(10))[0]}\n",
        "only its last line": lambda base: base.rpartition("\n")[2],
        "the label in its last line": lambda base: base.replace(_LAST, f"{_LAST}{label}="),
        "signature-params for @signature-params": lambda base: base.replace(_LAST, '"signature-params": '),
        "signature-input for @signature-params": lambda base: base.replace(_LAST, f'"signature-input": {label}='),
        "no name in its last line": lambda base: base.replace(_LAST, ""),
        "no quotation marks around @signature-params": lambda base: base.replace(_LAST, _LAST.replace('"', "")),
        "names without quotation marks": partial(_NAME.sub, r"\1\2: "),
        "names without quotation marks, except the last": lambda base: _above_last_line(base, _NAME, r"\1\2: "),
        "single quotation marks": partial(_NAME.sub, r"'\1'\2: "),
        "no space after the colons": partial(_NAME.sub, r'"\1"\2:'),
        "an equals sign for the colons": partial(_NAME.sub, r'"\1"\2='),
        "no names": partial(_NAME.sub, ""),
        "names in upper case": lambda base: _NAME.sub(lambda name: name[0].upper(), base),
        "names in title case": lambda base: _NAME.sub(lambda name: name[0].title(), base),
        "values in lower case": lambda base: _values(base, str.lower),
        "values in upper case": lambda base: _values(base, str.upper),
        "all of it in lower case": str.lower,
        "a space at the end of each line": lambda base: base.replace("\n", " \n"),
        "spaces between the parameters": lambda base: _in_last_line(base, lambda text: text.replace(";", "; ")),
        "parameters without quotation marks": lambda base: _in_last_line(base, _without_quotes),
        "commas between the components": lambda base: _in_last_line(base, lambda text: text.replace('" "', '", "')),
    }  # fmt: skip
    for words, change in texts.items():
        yield f"a base with {words}", _encoded(change)
    for encoding in ("utf-16-le", "utf-16-be", "utf-16"):
        yield f"a base in {encoding.upper()}", partial(str.encode, encoding=encoding)
    yield "the Base64 of the base", lambda base: base64.b64encode(base.encode())


def hashes_of(base: str) -> Iterator[tuple[str, bytes]]:
    """Yield hashes of a base that a sender may sign in its place, each with a description."""
    for name in ("sha256", "sha512", "sha384", "sha1"):
        digest = hashlib.new(name, base.encode(), usedforsecurity=False).digest()
        yield f"the {name} of the base", digest
        yield f"the {name} of the base in hexadecimal", digest.hex().encode()
        yield f"the {name} of the base in Base64", base64.b64encode(digest)


def other_orders(base: str) -> Iterator[tuple[str, str, str, Write]]:
    """Yield the name of a change, what was signed and what arrived: parameters and lines in another order, or fewer."""
    lines = base.split("\n")
    head = "".join(_LISTED.findall(lines[-1])[:1])
    parameters = _PARAMETER.findall(lines[-1], len(head))

    def with_parameters(chosen: Sequence[str]) -> bytes:
        return "\n".join([*lines[:-1], head + "".join(chosen)]).encode()

    def names(chosen: Sequence[str]) -> str:
        return " ".join(one[1:].partition("=")[0] for one in chosen) or "no parameter"

    for count in (1, 2, len(parameters)):
        for left_out in combinations(range(len(parameters)), min(count, len(parameters))):
            kept = [one for number, one in enumerate(parameters) if number not in left_out]
            yield "added parameters", names(kept), names(parameters), partial(_constant, with_parameters(kept))
    orders = permutations(parameters) if len(parameters) <= _MOST_ORDERED else _moved(parameters)
    for order in orders:
        yield "reordered parameters", names(order), names(parameters), partial(_constant, with_parameters(order))
    components = lines[:-1]
    for number in range(len(components)):
        rest = "\n".join([*components[:number], *components[number + 1 :], lines[-1]]).encode()
        words = f"a base without the line of {components[number].partition(': ')[0]}"
        yield "other base form", words, RIGHT_BASE, partial(_constant, rest)
    for order in permutations(components) if len(components) <= _MOST_LINES else _moved(components):
        text = "\n".join([*order, lines[-1]]).encode()
        shown, listed = (" ".join(line.partition(": ")[0] for line in lines) for lines in (order, components))
        yield "reordered lines", shown, listed, partial(_constant, text)


def component_values(values: SignedValues) -> Iterator[Mapping[str, str]]:
    """Yield what a sender may have written as the values of derived components, by their names."""
    target, scheme, authority = values.target, values.scheme, values.authority
    url, query = str(target), "" if values.query is None else f"?{values.query}"
    path, port = values.path, _DEFAULT_PORTS.get(scheme, "")
    start = f"{scheme}://{authority}"
    fragments = [f"{url}#{one}" for one in dict.fromkeys((values.typed.fragment or "", *_FRAGMENTS))]
    written = {
        "@target-uri": [
            f"{path}{query}", path, f"{start}{path}", f"{authority}{path}{query}", f"//{authority}{path}{query}", start,
            f"{start}/", unquote(url), unquote(url, "latin-1"), f"{start}{unquote(path)}{query}",
            f"{start}{path}{unquote(query)}", *fragments, str(values.typed),
            f"{scheme.upper()}://{authority}{path}{query}", url.lower(), url.upper(), f"{url}?",
        ],
        "@path": [f"{path}{query}", url, unquote(path), path[1:], path.lower(), path.rstrip("/"), f"{path}/", ""],
        "@query": [
            query[1:], unquote(query), unquote(query[1:]), "", "?", query.lower(), f"{path}{query}",
            query.replace("+", " "),
        ],
        "@scheme": [scheme.upper(), f"{scheme}:", f"{scheme}://"],
        "@request-target": [
            url, path, unquote(path), f"{values.method.lower()} {path}{query}", f"{values.method} {path}{query}",
        ],
        "@method": [values.method.title()],
    }  # fmt: skip
    for name, texts in written.items():
        if name in values.covered:
            yield from ({name: text} for text in dict.fromkeys(texts))
    first, dot, rest = authority.partition(".")
    others = [
        authority + port, authority.upper(), authority.title(), authority.capitalize(), first.upper() + dot + rest,
        start, authority.partition(":")[0], values.typed.authority or "", f"{authority}/",
        f"www.{authority}", authority.removeprefix("www."), f"{authority}.", f"{authority}{path}",
    ]  # fmt: skip
    for other in dict.fromkeys(others):
        yield {"@authority": other}
        yield {"@authority": other, "@target-uri": f"{scheme}://{other}{path}{query}"}
        yield {"@target-uri": f"{scheme}://{other}{path}{query}"}


def with_values(texts: Mapping[str, str], base: str) -> bytes:
    """Return a base in which each component of `texts` has that value."""
    lines = base.split("\n")
    for at, line in enumerate(lines[:-1]):
        name = line.partition(": ")[0][1:-1]
        if name in texts:
            lines[at] = f'"{name}": {texts[name]}'
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def signature_forms(octets: bytes, field: str, label: str) -> Iterator[tuple[str, bytes]]:
    """Yield the signatures that a field may mean in another form, each with a description.

    Args:
        octets: the bytes of the signature as the field has them, or none.
        field: the value of the Signature field.
        label: the label of the signature.
    """
    text = base64.b64encode(octets).decode().rstrip("=")
    found = re.search(rf"(?:^|[,\s]){re.escape(label)}\s*=\s*[\"']?:?([A-Za-z0-9+/=_-]+)", field)
    spelled = found[1].rstrip("=") if found is not None else ""
    written = octets.decode("latin-1").strip()
    for form, words in ((text, "in hexadecimal"), (spelled, "in hexadecimal"), (written, "in hexadecimal in Base64")):
        if re.fullmatch(r"(?:[0-9A-Fa-f]{2}){32,}", form):
            yield f"the signature {words}", bytes.fromhex(form)
    for form, words in ((written, "twice in Base64"), (spelled, "without colons or in another Base64")):
        if _BASE64.fullmatch(form):
            bare = form.rstrip("=").translate(str.maketrans("-_", "+/"))
            yield f"the signature {words}", base64.b64decode(f"{bare}{'=' * (-len(bare) % 4)}")
    for length in _LENGTHS:
        if len(octets) > length:
            yield f"the signature with {len(octets) - length} bytes after it", octets[:length]
            yield f"the signature with {len(octets) - length} bytes before it", octets[-length:]


def raw_signatures(octets: bytes) -> Iterator[bytes]:
    """Yield r and s of an ECDSA signature in DER, each of the size of a curve."""
    try:
        r, s = decode_dss_signature(octets)
    except ValueError:
        return
    for size in (32, 48):
        if 0 <= r < 1 << 8 * size and 0 <= s < 1 << 8 * size:
            yield r.to_bytes(size, "big") + s.to_bytes(size, "big")


def _constant(octets: bytes, _base: str) -> bytes:
    return octets


def _encoded(change: Callable[[str], str]) -> Write:
    return lambda base: change(base).encode("utf-8", "surrogatepass")


def _moved(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield texts that are too many for all their orders: sorted, reversed, and with each one moved."""
    yield sorted(texts)
    yield list(reversed(texts))
    for at, text in enumerate(texts):
        rest = [*texts[:at], *texts[at + 1 :]]
        yield from ([*rest[:to], text, *rest[to:]] for to in range(len(texts)))


def _values(base: str, change: Callable[[str], str]) -> str:
    """Return a base with the values of its lines changed, except the last."""
    lines = [line.partition(": ") for line in base.split("\n")]
    return "\n".join(
        [*("".join((name, colon, change(value))) for name, colon, value in lines[:-1]), "".join(lines[-1])]
    )


def _in_last_line(base: str, change: Callable[[str], str]) -> str:
    head, end, last = base.rpartition("\n")
    return f"{head}{end}{change(last)}"


def _without_quotes(last: str) -> str:
    head, end, parameters = last.partition(")")
    return head + end + parameters.replace('"', "")


def _above_last_line(base: str, pattern: re.Pattern[str], replacement: str) -> str:
    head, end, last = base.rpartition("\n")
    return f"{pattern.sub(replacement, head)}{end}{last}"
