"""The search for the cause of an invalid signature: which change, undone, makes the signature valid again.

A variant says what the sender may have signed instead. The library rebuilds the base of it and verifies the signature,
so a cause is proven and not guessed. One variant is tried at a time, then pairs, until the budget is spent.
"""

from __future__ import annotations

import hashlib
from itertools import combinations, islice, product
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from undersigned.explanation.values import SignedValues
from undersigned.explanation.variant import Alternative, Change
from undersigned.explanation.variants import VARIANTS
from undersigned.limits import LONGEST_BASE
from undersigned.signature.components import UnresolvableComponent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from undersigned.explanation.budget import Budget
    from undersigned.explanation.draft import DraftInput
    from undersigned.explanation.variant import Variant
    from undersigned.message.signature_input import SignatureInput

_MOST_ALTERNATIVES: Final = 128
_MOST_OF_PAIR: Final = 12
_OFTEN_CHANGED: Final = frozenset({"path", "query", "authority", "field"})


_Changed: TypeAlias = "tuple[tuple[Variant, Alternative], ...]"


class Proof(NamedTuple):
    """Values that the signature is valid for.

    Attributes:
        changes: the changes from these values to the received ones.
        keyid: the keyid of the key that verifies the signature.
        base: the signature base.
    """

    changes: tuple[Change, ...]
    keyid: str
    base: str


class Search:
    """A search for the values that a signature was made over.

    Args:
        values: the values as they were received.
        read: the signature to verify, as it was read.
        budget: how much may be tried.
        variants: the variants to try, the most likely first.
    """

    __slots__ = ("_budget", "_known", "_read", "_tried", "_values", "_variants")

    def __init__(
        self,
        values: SignedValues,
        read: SignatureInput | DraftInput,
        budget: Budget,
        *,
        variants: Sequence[Variant] = VARIANTS,
    ) -> None:
        self._values = values
        self._read = read
        self._budget = budget
        self._variants = variants
        self._tried: set[bytes] = set()
        self._known: list[tuple[Variant, list[Alternative]]] = []

    def prove_unchanged(self) -> Proof | None:
        """Return the proof that the signature is valid for the values as they were received, or None."""
        base = self._new_base(self._values)
        return None if base is None else self._proof(self._values, base, ())

    def prove_changed(self) -> Proof | None:
        """Return the first proof that is found after one change, or after two; None if there is none."""
        return self._after_one() or self._after_two()

    def _after_one(self) -> Proof | None:
        for variant in self._variants:
            known: list[Alternative] = []
            for alternative in islice(variant.alternatives(self._values), _MOST_ALTERNATIVES):
                if self._budget.is_spent:
                    return None
                base = self._new_base(alternative.values)
                if base is None:
                    continue
                proof = self._proof(alternative.values, base, ((variant, alternative),))
                if proof is not None:
                    return proof
                known.append(alternative)
            self._known.append((variant, known[:_MOST_OF_PAIR]))
        return None

    def _after_two(self) -> Proof | None:
        for values, changed in self._pairs():
            if self._budget.is_spent:
                return None
            base = self._new_base(values)
            proof = None if base is None else self._proof(values, base, changed)
            if proof is not None:
                return proof
        return None

    def _pairs(self) -> Iterator[tuple[SignedValues, _Changed]]:
        """Yield the values after every two changes, the most likely alternatives first."""
        several = [(variant, known) for variant, known in self._known if known]
        ranks = sorted(product(range(_MOST_OF_PAIR), repeat=2), key=max)
        for first, second in ranks:
            for (one, ones), (other, others) in combinations(several, 2):
                if first < len(ones) and (one.part != other.part or one.part in _OFTEN_CHANGED):
                    yield from self._pair((one, ones[first]), other, others, second)

    def _pair(
        self, first: tuple[Variant, Alternative], other: Variant, others: Sequence[Alternative], rank: int
    ) -> Iterator[tuple[SignedValues, _Changed]]:
        """Yield the values after a change, and after one more change by the variant `other`."""
        one, before = first
        if one.part == other.part:
            for after in islice(other.alternatives(before.values), rank, rank + 1):
                # The second starts from the result of the first. Both show what was received and the last result.
                signed, received = after.signed, before.received
                whole = (
                    (one, before._replace(signed=signed, received=received)),
                    (other, after._replace(signed=signed, received=received)),
                )
                yield after.values, whole
        elif rank < len(others):
            values = _merge(self._values, before.values, others[rank].values)
            if values is not None:
                yield values, (first, (other, others[rank]))
                return
            for after in islice(other.alternatives(before.values), rank, rank + 1):
                yield after.values, (first, (other, after))

    def _proof(self, values: SignedValues, base: str, changed: _Changed) -> Proof | None:
        """Return the proof that one of the keys verifies the signature over the base, or None."""
        octets = base.encode("ascii")
        named = self._read.parameters.get("alg")
        for key in values.keys:
            algorithms = key.algorithms
            for algorithm in [named] if isinstance(named, str) and named in algorithms else sorted(algorithms):
                if key.verifies(values.signature, octets, algorithm=algorithm):
                    return Proof(tuple([Change.of(*one) for one in changed]), key.keyid, base)
        return None

    def _new_base(self, values: SignedValues) -> str | None:
        """Return the base of these values, or None if there is none, or it was tried with this signature and keys."""
        self._budget.spent += 1
        try:
            base = values.base(self._read)
            octets = base.encode("ascii")
        except (UnresolvableComponent, UnicodeEncodeError):
            return None
        keyids = "\n".join([key.keyid for key in values.keys]).encode()
        tried = hashlib.sha256(b"\0".join((octets, values.signature, keyids))).digest()
        if len(base) > LONGEST_BASE or tried in self._tried:
            return None
        self._tried.add(tried)
        return base


def _merge(received: SignedValues, one: SignedValues, other: SignedValues) -> SignedValues | None:
    """Return the values with the changes of both, or None if both change the same value."""
    together = list(zip(received, one, other, strict=True))
    if any(first is not before and second is not before for before, first, second in together):
        return None
    return SignedValues._make([second if first is before else first for before, first, second in together])
