"""The Lua scripts that the server runs atomically, their arguments and their answers.

The nonces of one keyid are a sorted set, ordered by the time they end. Its empty member is not a nonce: its score is
the latest end that was forgotten, negated. A claim that ends before that time may have been forgotten and counts as
seen. If there is a total cap, a hash has the number of nonces of all keyids that end in each half minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from secrets import randbits
from typing import TYPE_CHECKING, Final, cast

from undersigned import ConfigurationError, UndersignedError
from undersigned.fork_safety import PerProcess
from undersigned.limits import LONGEST_CLOCK_STEP, LONGEST_NONCE
from undersigned.replay import bounded_keyid, bounded_nonce

if TYPE_CHECKING:
    from undersigned import Caps, Claim

CLAIM = """
local nonces, counts = KEYS[1], KEYS[2]
local nonce, now, ends, cap, life, total = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local marker, step, serial = ARGV[7] ~= '' and ARGV[7], tonumber(ARGV[8]), tonumber(ARGV[9])

local function keep(key)
    if redis.call('PTTL', key) < life then redis.call('PEXPIRE', key, life) end
end
local function count(at, by)
    redis.call('HINCRBY', counts, string.format('%d', math.floor(tonumber(at) / 30)), by)
    keep(counts)
end

local forgotten, volatile = redis.call('ZSCORE', nonces, ''), false
if not forgotten then
    -- The keyid is new, or the server has evicted its nonces to make room.
    local memory = redis.call('INFO', 'memory')
    local limit, policy = string.match(memory, 'maxmemory:(%d+)'), string.match(memory, 'maxmemory_policy:(%S+)')
    if limit ~= '0' and policy ~= 'noeviction' then
        return redis.error_reply('UNDERSIGNED maxmemory-policy is ' .. policy .. ': set it to noeviction')
    end
    volatile = string.find(redis.call('INFO', 'persistence'), 'aof_enabled:0', 1, true)
    redis.call('ZADD', nonces, 0, '')
    forgotten = 0
end
forgotten = -forgotten

-- A nonce is deleted when it has ended by the clocks of verifier and server. If they differ by more than `step`,
-- nobody knows which is right, and it is kept for that time.
local time = redis.call('TIME')
local gone, clock = tonumber(now), tonumber(time[1]) + tonumber(time[2]) / 1000000
if math.abs(gone - clock) > step then gone = gone - step else gone = math.min(gone, clock) end
gone = string.format('%.17g', gone)

-- Delete first: a full server allows that, and then has room for the rest.
local ended = redis.call('ZRANGEBYSCORE', nonces, '(0', '(' .. gone, 'WITHSCORES', 'LIMIT', 0, 32)
for i = 1, #ended, 2 do redis.call('ZREM', nonces, ended[i]) end
if #ended > 0 then
    forgotten = math.max(forgotten, tonumber(ended[#ended]))
    redis.call('ZADD', nonces, '-' .. string.format('%.17g', forgotten), '')
end

-- A full server stops only a script that has written nothing yet: the nonce comes before its time to live.
local function told(answer)
    keep(nonces)
    return 8 * serial + 2 + answer
end
local seen = redis.call('ZSCORE', nonces, nonce)
if tonumber(ends) <= forgotten or seen then
    if not seen then return told(-2) end
    -- A marker that ends before its nonce is left from a nonce that was deleted.
    local kept = marker and redis.call('ZSCORE', nonces, marker)
    if not kept or tonumber(kept) < tonumber(seen) then return told(0) end
    if tonumber(ends) > tonumber(seen) then
        if counts then
            count(seen, -2)
            count(ends, 2)
        end
        redis.call('ZADD', nonces, ends, nonce, ends, marker)
    end
    return told(2)
end
if redis.call('ZCOUNT', nonces, now, '+inf') >= cap then return told(-1) end
if counts then
    local first, live, slots = math.floor(tonumber(now) / 30), 0, redis.call('HGETALL', counts)
    for i = 1, #slots, 2 do
        if tonumber(slots[i]) < math.floor(tonumber(gone) / 30) then redis.call('HDEL', counts, slots[i])
        elseif tonumber(slots[i]) >= first then live = live + tonumber(slots[i + 1]) end
    end
    if live >= tonumber(total) then return told(-1) end
    count(ends, marker and 2 or 1)
end
if marker then redis.call('ZADD', nonces, ends, nonce, ends, marker)
else redis.call('ZADD', nonces, ends, nonce) end
return told(volatile and 3 or 1)
"""

FULL = """
local now, cap, total, serial = ARGV[1], tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local room, full = 8 * serial + 2, 8 * serial + 3
if redis.call('ZCOUNT', KEYS[1], now, '+inf') >= cap then return full end
if not KEYS[2] then return room end
local first, live, slots = math.floor(tonumber(now) / 30), 0, redis.call('HGETALL', KEYS[2])
for i = 1, #slots, 2 do
    if tonumber(slots[i]) >= first then live = live + tonumber(slots[i + 1]) end
end
return live >= tonumber(total) and full or room
"""

VOLATILE = 3
"""The answer if the nonce is fresh, and the server does not write its data to the disk."""

CLAIMS: Final[dict[int, Claim]] = {1: "fresh", 0: "seen", -1: "full", -2: "forgotten", 2: "same", VOLATILE: "fresh"}

_SERIALS: Final = PerProcess(lambda: count(randbits(40)))
"""One number for each claim of a process. Several stores of one process may share a client."""

_STEP = 7200
"""Seconds that nonces are kept after their end, by the server's clock, for verifiers whose clocks are set back.

Each claim deletes ended nonces by the verifier's clock. The server deletes all nonces of a keyid this long after the
last one has ended.
"""


class OtherAnswer(UndersignedError):
    """Raised when a connection has the answer to another call. The store closes the connections of the client."""


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """The keys and arguments of one call of a script.

    Attributes:
        serial: what tells the answer from those to other calls. A client that was interrupted while it read may have
            left an answer on a connection.
    """

    keys: list[str]
    args: list[str | int]
    serial: int

    def read(self, answer: object) -> int:
        """Return the answer without the serial number.

        Raises:
            OtherAnswer: it is the answer to another call.
        """
        serial, told = divmod(cast("int", answer), 8)
        if serial != self.serial:
            raise OtherAnswer("the client gave the answer to another call, which an interrupted one has left")
        return told - 2


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
        """Check that the options can be in the name of a key."""
        for option, text in (("prefix", self.prefix), ("tag", "tag" if self.tag is None else self.tag)):
            if not isinstance(text, str) or not text or not {"{", "}"}.isdisjoint(text):
                raise ConfigurationError(f"{option}: give a string that is not empty and has no braces")

    def claim(
        self, keyid: str, nonce: str, *, now: float, until: float, caps: Caps, content: str | None = None
    ) -> ScriptCall:
        """Return the script call that claims `nonce`, with the content it came with."""
        nonce = bounded_nonce(nonce)
        # No nonce has a line break, so a marker never equals what is kept of a nonce.
        marker = "" if content is None else bounded_nonce(f"{nonce}\n{content}".ljust(LONGEST_NONCE + 1))
        life = max(0, int((until - now + _STEP) * 1000))
        total = "" if caps.total is None else caps.total
        ends, serial = repr(until), next(_SERIALS.get())
        args: list[str | int] = [nonce, repr(now), ends, caps.per_key, life, total, marker, LONGEST_CLOCK_STEP, serial]
        return ScriptCall(self._keys(keyid, caps), args, serial)

    def full(self, keyid: str, *, now: float, caps: Caps) -> ScriptCall:
        """Return the script call that tells whether a cap is reached."""
        total = "" if caps.total is None else caps.total
        serial = next(_SERIALS.get())
        return ScriptCall(self._keys(keyid, caps), [repr(now), caps.per_key, total, serial], serial)

    def _keys(self, keyid: str, caps: Caps) -> list[str]:
        keyid = bounded_keyid(keyid)
        nonces = f"{self.prefix}:{{{keyid}}}" if self.tag is None else f"{self.prefix}:{{{self.tag}}}:{keyid}"
        if caps.total is None:
            return [nonces]
        return [nonces, f"{self.prefix}:counts" if self.tag is None else f"{self.prefix}:{{{self.tag}}}"]
