"""Limits: every upper bound on what is read from a party that has not yet proved who it is, each with its reason.

A rejection must cost less than a verification, so each bound is checked before the work that it limits. SECURITY.md has
the same table for operators. Options of a middleware or a key source may change a default; the other bounds are fixed.
"""

from __future__ import annotations

from typing import Final

# The head of a request

MOST_FIELDS: Final = 100
"""headers: each takes up to 1 us, and gunicorn and Apache have the same limit"""

LONGEST_NAMES: Final = 16_384
"""characters of the header names of a signed message together: each is put in lower case, checked and hashed"""

LONGEST_METHOD: Final = 64
"""characters of a method: the longest registered one has 17"""

LONGEST_TARGET: Final = 9000
"""characters of the target URI: canonicalizing looks at each; RFC 9110 asks for 8,000, most servers stop at 8,190"""

LONGEST_AUTHORITY: Final = 1024
"""characters of Host or `:authority`: canonicalizing looks at each; a domain name has 253 at most"""

MOST_LENGTH_DIGITS: Final = 18
"""digits of Content-Length: no content is longer, and `int` raises an error for thousands of digits"""

# Signature-Input, Signature and Content-Digest

LONGEST_FIELD: Final = 4096
"""characters of a field that is parsed, or of Content-Type: three signatures by RSA keys of 4,096 bits have 2,200"""

LONGEST_SIGNATURE_INPUT: Final = 16_384
"""characters of a Signature-Input that a pattern reads: its `wimse-aud` repeats the target, once for each signature"""

MOST_DELIMITERS: Final = 64
"""words, commas, semicolons, colons, backslashes and percent signs of a field that is parsed: each takes some 6 us"""

MOST_SIGNATURES: Final = 32
"""signatures, or digests, in one field: every proxy in between may add one"""

MOST_COMPONENTS: Final = 32
"""components that one signature covers: each is looked up, and its value is part of the base"""

MOST_PARAMETERS: Final = 20
"""parameters of one signature and its components, unless a pattern can read them: RFC 9421 registers 6 and 5"""

MOST_PARSED_COMPONENTS: Final = 16
"""covered components with parameters (`sf`, `key`, `bs`, `@query-param`): their fields together are parsed as one"""

MOST_QUERY_PARAMETERS: Final = 256
"""parameters of the query if one of them is covered (`@query-param`): then all of them are decoded"""

LONGEST_BASE: Final = 65_536
"""characters of the signature base: it is hashed for each key, and again for a lone `?` that the server hides"""

# Keys, and what is kept of a request

MOST_SELECTED: Final = 3
"""signatures of one message that are verified: each costs a verification, and a sender chooses how many there are"""

MOST_CANDIDATES: Final = 4
"""keys tried for one signature, and kept for one key ID of a fetched set: each costs a verification"""

LEAST_RSA_BITS: Final = 2048
"""bits of an RSA key: RFC 7518 sections 3.3 and 3.5 ask for them"""

MOST_RSA_BITS: Final = 8192
"""bits of an RSA key: its publisher chooses them, and the time of a verification grows with their square"""

LEAST_SECRET_BYTES: Final = 32
"""bytes of a shared secret: RFC 7518 section 3.2 asks for the length of a SHA-256"""

LONGEST_NONCE: Final = 32
"""characters of a nonce that a store keeps as they are: a longer nonce is kept as a digest, so memory is bounded"""

MOST_CAPS_KNOWN: Final = 10_000
"""keys of which a verifier remembers whether their cap is reached: who may publish keys chooses how many there are"""

LONGEST_CLOCK_STEP: Final = 900
"""seconds that a clock may be wrong without a replay store forgetting what is live by the right clock"""

MOST_NAMES_KEPT: Final = 4
"""repeated keys of a JSON object that an error keeps: they are text of the sender, for a log"""

LONGEST_LOGGED: Final = 1024
"""characters of one text of the sender in a log line: nobody may flood the log"""

LONGEST_INSPECTED: Final = 4096
"""characters of one text of the sender that an `Inspector` keeps, so the memory of a decision is bounded"""

LONGEST_IN_LINE: Final = 256
"""characters of such a text in the one line that a rejection writes by default: a disk keeps these lines"""

# Content

DEFAULT_MAX_BODY: Final = 1_048_576
"""bytes of a body by default (`max_body`): it is read after the fields are authenticated, or if a policy asks"""

DEFAULT_MAX_UNSIGNED_BODY: Final = 1_048_576
"""bytes of JSON without a valid signature by default (`max_unsigned_body`): a policy parses and searches it"""

LONGEST_ON_LOOP: Final = 65_536
"""bytes of such JSON that are parsed on the event loop: more are parsed in a thread, while other requests go on"""

LONGEST_SEARCHED: Final = 65_536
"""bytes of such JSON that are searched for a member below a webhook: longer JSON with both words must be signed"""

MOST_DAMAGED_ESCAPES: Final = 1_000
r"""`\\u` in strings of JSON of which one begins no escape, as in a path: JSON with more must be signed"""

TURNS_BEFORE_REJECTION: Final = 16
"""turns of an event loop that a rejection waits: an accepted request takes several, and many senders may be rejected"""

MOST_PARTS: Final = 1_000
"""parts of an A2A message that are read for its skill"""

LONGEST_JSON_START: Final = 512
"""bytes after white space in which JSON of an unsigned request must begin, else it is passed on as a stream, unread"""

DEFAULT_BODY_TIMEOUT: Final = 30.0
"""seconds that reading a body over ASGI may take by default (`body_timeout`): a slow sender holds a connection"""

# Documents that another party names or serves

LONGEST_URL: Final = 2048
"""characters of a URL that is fetched: another party may have written it"""

MOST_TRIES: Final = 3
"""addresses of one name that a fetch tries to connect to: each may use up the connection timeout"""

MOST_ADDRESSES: Final = 16
"""addresses of one name: each is checked before the fetch, and one that is not public rejects the name"""

CONNECT_TIMEOUT: Final = 5.0
"""seconds to connect to one address: it may not answer"""

DEFAULT_TOTAL_TIMEOUT: Final = 10.0
"""seconds of a whole fetch by default (`total_timeout`), from the resolution of the name to the last byte"""

DEFAULT_WAIT_TIMEOUT: Final = 3.0
"""seconds that a request waits for a fetch by default (`wait_timeout`): a slow key server must not hold all threads"""

MOST_CHUNKS: Final = 32_768
"""chunks of the body of a response: each one costs time of its own, however short it is"""

MOST_RESPONSE_HEAD: Final = 65_536
"""bytes of a response without its body: status line, fields and informational responses"""

MOST_JWKS_BYTES: Final = 65_536
"""bytes of a fetched JWK set by default, counted after decoding: compressed bytes may expand a thousandfold"""

MOST_JWKS_FILE_BYTES: Final = 1_048_576
"""bytes of a JWK set in a file: a wrong path must not fill the memory"""

LONGEST_BACKOFF: Final = 300
"""seconds until the next fetch after one that failed, of what senders name"""

LONGEST_RETRY_AFTER: Final = 300
"""seconds that a receiver of webhooks may ask to wait with Retry-After"""

MOST_WAITING_THREADS: Final = 4
"""threads that wait for fetches of one source: an unauthenticated caller may name a server that never answers"""

MOST_VERIFYING_THREADS: Final = 32
"""threads of a middleware over ASGI whose key source or store blocks: more requests wait for one of them"""

MOST_WAITING_TASKS: Final = 128
"""tasks that wait for fetches of one source"""

MOST_LOGGED_HOSTS: Final = 1024
"""hosts whose last failure is remembered, for one line a minute in the log: senders choose them"""

MOST_NAMED_KEYS: Final = 32
"""keys of a JWK set at a URL that a sender chose"""

MOST_AGENTS: Final = 1024
"""URLs of Signature-Agent whose keys are kept, and as many again that gave no keys yet: senders choose them"""

MOST_AGENT_FETCHES: Final = 16
"""fetches of such URLs in flight by default (`most_at_once`): each holds a connection and a thread"""

MOST_NEW_AGENTS: Final = 60
"""fetches a minute by default, of URLs that gave no keys yet (`most_a_minute`): a sender may name a URL per request"""

MOST_ACTORS: Final = 4096
"""key IDs of actors whose keys are kept, and as many again that gave no key yet: senders choose them"""

MOST_NEW_ACTORS: Final = 600
"""fetches a minute by default, of actors that gave no key yet (`most_a_minute`): a post may bring many new actors"""

LONGEST_MULTIBASE: Final = 2048
"""characters of a Multikey in base58btc: decoding takes time that grows with their square; RSA has 8,192 bits"""

MOST_ACTOR_BYTES: Final = 262_144
"""bytes of an actor, counted after decoding: profiles are long, and compressed bytes may expand a thousandfold"""

MOST_UCP_PROFILE_BYTES: Final = 131_072
"""bytes of a UCP profile: UCP asks readers for 128 KiB or more, as it has more than keys"""

MOST_CARD_BYTES: Final = 16_384
"""bytes of a client id metadata document: its draft advises 5 KB, and this one may have a JWK set in it"""

MOST_KEYS: Final = 256
"""keys of a JWK set: making one takes some 50 us"""

LONGEST_KEYID: Final = 1024
"""characters of a key ID that a replay store keeps as it is, not as its SHA-256: indexes take no text without end"""

MOST_LIST_BYTES: Final = 262_144
"""bytes of a revocation list with its signature: some 5,000 key IDs"""

MOST_HINTS: Final = 65_536
"""key IDs whose key source is remembered: callers choose key IDs, so memory is bounded"""

MOST_BRAND_BYTES: Final = 262_144
"""bytes of a brand.json (AdCP)"""

MOST_ADAGENTS_BYTES: Final = 5_242_880
"""bytes of an adagents.json (AdCP)"""

DEEPEST_JSON: Final = 100
"""arrays and objects within each other in an adagents.json"""

MOST_DEEP_JSON: Final = 100_000
"""arrays and objects of an adagents.json in which others are nested more than four deep: each takes some 10 us"""

MOST_AUTHORIZED_AGENTS: Final = 1024
"""entries of an adagents.json that are compared with an agent in canonical form: comparing one takes some 50 us"""

MOST_REDIRECTS: Final = 3
"""redirects of an adagents.json, all within one registrable domain: each is another fetch"""

MOST_FETCHES: Final = 2
"""times `total_timeout` that all the fetches for one agent may take: the agent chooses how many there are"""

MOST_ANSWER_BYTES: Final = 65_536
"""bytes of one response of an agent (AdCP)"""

LONGEST_ANSWER_VALUE: Final = 256
"""characters of a protocol version or session that an agent has us send back"""
