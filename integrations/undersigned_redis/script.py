"""The Lua scripts that the server runs atomically, their arguments and their answers.

The nonces of one keyid are a sorted set, ordered by the time they end. Its empty member is not a nonce: its score is
the latest end that was forgotten, negated. A claim that ends before that time may have been forgotten and counts as
seen. If there is a total cap, a hash has the number of nonces of all keyids that end in each half minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from undersigned import ConfigurationError
from undersigned.replay import bounded_nonce, content_marker

if TYPE_CHECKING:
    from undersigned import Caps, Claim
    from undersigned.replay import ContentClaim

CLAIM = """
local nonces, counts = KEYS[1], KEYS[2]
local nonce, now, ends, cap, life, total = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local marker = ARGV[7]

local function keep(key)
    if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, life) end
end

local forgotten = redis.call('ZSCORE', nonces, '')
if not forgotten then
    -- The keyid is new, or the server has evicted its nonces to make room.
    local memory = redis.call('INFO', 'memory')
    local limit, policy = string.match(memory, 'maxmemory:(%d+)'), string.match(memory, 'maxmemory_policy:(%S+)')
    if limit ~= '0' and policy ~= 'noeviction' then
        return redis.error_reply('UNDERSIGNED maxmemory-policy is ' .. policy .. ': set it to noeviction')
    end
    redis.call('ZADD', nonces, 0, '')
    forgotten = 0
end
forgotten = -forgotten

-- Delete first: a full server allows that, and then has room for the rest.
local ended = redis.call('ZRANGEBYSCORE', nonces, '(0', '(' .. now, 'WITHSCORES', 'LIMIT', 0, 32)
for i = 1, #ended, 2 do redis.call('ZREM', nonces, ended[i]) end
if #ended > 0 then
    forgotten = math.max(forgotten, tonumber(ended[#ended]))
    redis.call('ZADD', nonces, '-' .. string.format('%.17g', forgotten), '')
end

-- A full server stops only a script that has written nothing yet: the nonce comes before its time to live.
local function reject(answer)
    keep(nonces)
    return answer
end
local seen = redis.call('ZSCORE', nonces, nonce)
if tonumber(ends) <= forgotten or seen then
    -- A marker that ends before its nonce is left from a nonce that was deleted.
    local kept = seen and marker and redis.call('ZSCORE', nonces, marker)
    return reject(kept and tonumber(kept) >= tonumber(seen) and 2 or 0)
end
if redis.call('ZCOUNT', nonces, now, '+inf') >= cap then return reject(-1) end
if counts then
    local first, live, slots = math.floor(tonumber(now) / 30), 0, redis.call('HGETALL', counts)
    for i = 1, #slots, 2 do
        if tonumber(slots[i]) < first then redis.call('HDEL', counts, slots[i])
        else live = live + tonumber(slots[i + 1]) end
    end
    if live >= tonumber(total) then return reject(-1) end
    redis.call('HINCRBY', counts, string.format('%d', math.floor(tonumber(ends) / 30)), marker and 2 or 1)
    keep(counts)
end
if marker then redis.call('ZADD', nonces, ends, nonce, ends, marker)
else redis.call('ZADD', nonces, ends, nonce) end
keep(nonces)
return 1
"""

FULL = """
local now, cap, total = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if redis.call('ZCOUNT', KEYS[1], now, '+inf') >= cap then return 1 end
if not KEYS[2] then return 0 end
local first, live, slots = math.floor(tonumber(now) / 30), 0, redis.call('HGETALL', KEYS[2])
for i = 1, #slots, 2 do
    if tonumber(slots[i]) >= first then live = live + tonumber(slots[i + 1]) end
end
return live >= tonumber(total) and 1 or 0
"""

_CLAIMS: dict[object, Claim] = {1: "fresh", 0: "seen", -1: "full"}
_CONTENT_CLAIMS: dict[object, ContentClaim] = {**_CLAIMS, 2: "same"}

_STEP = 7200
"""Seconds that nonces are kept after their end, by the server's clock, for verifiers whose clocks are set back.

Each claim deletes ended nonces by the verifier's clock. The server deletes all nonces of a keyid this long after the
last one has ended.
"""


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """The keys and arguments of one call of a script."""

    keys: list[str]
    args: list[str | int]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the keys of one store.

    Attributes:
        prefix: the beginning of each name.
        tag: the hash tag of all keys, or None if each keyid is its own hash tag.
    """

    prefix: str
    tag: str | None

    def __post_init__(self) -> None:
        """Check the options.

        Raises:
            ConfigurationError: one of them is not usable in the name of a key.
        """
        for option, text in (("prefix", self.prefix), ("tag", "tag" if self.tag is None else self.tag)):
            if not isinstance(text, str) or not text or not {"{", "}"}.isdisjoint(text):
                raise ConfigurationError(f"{option}: give a string that is not empty and has no braces")

    def claim(self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps) -> ScriptCall:
        """Return the script call that claims `nonce`."""
        life = max(0, int((until - now + _STEP) * 1000))
        args: list[str | int] = [bounded_nonce(nonce), repr(now), repr(until), caps.per_key, life]
        return self._call(keyid, args, caps)

    def claim_content(
        self, keyid: str, nonce: str, content: str, *, now: float, until: float, caps: Caps
    ) -> ScriptCall:
        """Return the script call that claims `nonce` with the content it came with."""
        call = self.claim(keyid, nonce, now=now, until=until, caps=caps)
        if caps.total is None:
            call.args.append("")
        call.args.append(content_marker(nonce, content))
        return call

    def full(self, keyid: str, *, now: float, caps: Caps) -> ScriptCall:
        """Return the script call that tells whether a cap is reached."""
        return self._call(keyid, [repr(now), caps.per_key], caps)

    def _call(self, keyid: str, args: list[str | int], caps: Caps) -> ScriptCall:
        nonces = f"{self.prefix}:{{{keyid}}}" if self.tag is None else f"{self.prefix}:{{{self.tag}}}:{keyid}"
        if caps.total is None:
            return ScriptCall([nonces], args)
        counts = f"{self.prefix}:counts" if self.tag is None else f"{self.prefix}:{{{self.tag}}}"
        return ScriptCall([nonces, counts], [*args, caps.total])


def read_claim(answer: object) -> Claim:
    """Return the claim for an answer of the claim script."""
    return _CLAIMS[answer]


def read_content_claim(answer: object) -> ContentClaim:
    """Return the claim for an answer of the claim script that was given a content."""
    return _CONTENT_CLAIMS[answer]
