"""Limits: every upper bound on what is read from a party that has not yet proved who it is, each with its reason.

A rejection must cost less than a verification, so each bound is checked before the work that it limits. SECURITY.md has
the same table for operators. Options of a middleware or a key source may change a default; the other bounds are fixed.
"""

from __future__ import annotations

from typing import Final

# The head of a request

MOST_FIELDS: Final = 100
"""header fields: each takes up to 1 us, and gunicorn and Apache have the same limit"""

LONGEST_NAMES: Final = 4096
"""characters of all header field names together: each name is put in lower case, checked and hashed"""

LONGEST_METHOD: Final = 64
"""characters of a method: the longest registered one has 17"""

MOST_BLANKS: Final = 16
"""spaces and tabs around a field value that are removed: servers remove them, and it takes 6 ns for each"""

LONGEST_TARGET: Final = 9000
"""characters of the target URI: canonicalizing looks at each; RFC 9110 asks for 8,000, most servers stop at 8,190"""

LONGEST_PATH: Final = 2048
"""characters of the target before its query: a policy decodes it and looks at its segments; some browsers stop there"""

MOST_ESCAPES: Final = 256
"""percent signs in the path: each is decoded; a file name has 255 octets at most"""

MOST_SEGMENTS: Final = 256
"""slashes of the target before its query: each segment is looked at if one of them is a dot segment"""

LONGEST_AUTHORITY: Final = 1024
"""characters of Host or `:authority`: canonicalizing looks at each; a domain name has 253 at most"""

MOST_LENGTH_DIGITS: Final = 18
"""digits of Content-Length: no content is longer, and `int` raises an error for thousands of digits"""

LONGEST_CONTENT_TYPE: Final = 256
"""characters of Content-Type, all lines together: finding a JSON type or a charset looks at each comma and semicolon"""

# Signature-Input, Signature and Content-Digest

LONGEST_FIELD: Final = 2048
"""characters of Signature-Input, Signature, Content-Digest or a Content-Type with quotes: each takes up to 1 us"""

MOST_DELIMITERS: Final = 40
"""commas, semicolons, colons, blanks, backslashes and percent signs that are parsed in such fields, all together"""

MOST_SIGNATURES: Final = 8
"""signatures, or digests, in one field: with more, its delimiters are counted, or the field is rejected"""

DELIMITERS_PER_DECIMAL: Final = 4
"""delimiters that a number with a fraction counts as: to read and write it takes as long"""

MOST_COMPONENTS: Final = 32
"""components that one signature covers: each is looked up, and its value is part of the base"""

MOST_PARAMETERS: Final = 20
"""parameters of one signature and its components, unless a pattern can read them: RFC 9421 registers 6 and 5"""

# Covered components with parameters (`sf`, `key`, `bs`, `@query-param`)

MOST_PARSED: Final = 64
"""delimiters parsed for covered components with parameters, all together: each takes some 3 us"""

PARSED_PER_COMPONENT: Final = 4
"""delimiters that each such component counts as: to find its value takes as long"""

LONGEST_PARSED: Final = 1024
"""characters parsed for such components, all together: a parser looks at each"""

LONGEST_PARSED_LINKED: Final = 2304
"""such characters if a signature covers another one: two signatures by RSA keys of 4,096 bits have 1,400 characters"""

WRAPPED_PER_PARSED: Final = 8
"""characters of a field covered as bytes (`bs`) that count as one parsed character: they take as long"""

LONGEST_BASE: Final = 16_384
"""characters of the signature base: it is hashed for each key, and again for a lone `?` that the server hides"""

MOST_EFFORT: Final = 110
"""units of work for all these parts, except what the profile requires: most parts alone may reach their own bounds"""

MOST_EFFORT_LINKED: Final = 360
"""units of work for a message of a profile whose signatures cover parts of another message or signature"""

MOST_EFFORT_TWICE: Final = 44
"""units of work for a message whose signature is checked a second time, with a lone `?` that the server hides"""

# Keys, and what is kept of a request

MOST_SELECTED: Final = 2
"""signatures of one message that are verified: each costs a verification, and a sender chooses how many there are"""

MOST_CANDIDATES: Final = 4
"""keys tried for one signature, and kept for one keyid of a fetched set: each costs a verification"""

LEAST_RSA_BITS: Final = 2048
"""bits of an RSA key: RFC 7518 sections 3.3 and 3.5 ask for them"""

MOST_RSA_BITS: Final = 8192
"""bits of an RSA key: its publisher chooses them, and the time of a verification grows with their square"""

LEAST_SECRET_BYTES: Final = 32
"""bytes of a shared secret: RFC 7518 section 3.2 asks for the length of a SHA-256"""

LONGEST_NONCE: Final = 32
"""characters of a nonce that a store keeps as they are: a longer nonce is kept as a digest, so memory is bounded"""

MOST_NAMES_KEPT: Final = 4
"""repeated keys of a JSON object that an error keeps: they are text of the sender, for a log"""

LONGEST_LOGGED: Final = 1024
"""characters of one text of the sender in a log line: nobody may flood the log"""

LONGEST_INSPECTED: Final = 4096
"""characters of one text of the sender that an `Inspector` keeps, so the memory of a decision is bounded"""

LONGEST_IN_LINE: Final = 256
"""characters of such a text in the one line that a rejection writes by default: a disk keeps these lines"""

MOST_LINES: Final = 5
"""lines about one code that a middleware logs at once: a sender chooses how many requests are rejected"""

SECONDS_PER_LINE: Final = 60.0
"""seconds until a middleware logs another line about a code: 20 codes then write some 15 MB a day"""

MOST_LINE_KINDS: Final = 64
"""codes whose lines are counted separately; other codes count as one: an application may have codes of its own"""

# Content

DEFAULT_MAX_BODY: Final = 1_048_576
"""bytes of content by default (`max_body`): content is read after the fields are authenticated, or if a policy asks"""

DEFAULT_MAX_UNSIGNED_BODY: Final = 65_536
"""bytes of content without a valid signature by default (`max_unsigned_body`): a policy parses and searches it"""

BYTES_PER_DELIMITER: Final = 24
"""bytes of such content for each bracket, comma, colon or escape that it may have: each takes up to 1 us"""

MOST_ON_LOOP: Final = 8192
"""bytes of such content that are parsed on the event loop: more are parsed in a thread, while other requests go on"""

DEFAULT_BODY_TIMEOUT: Final = 30.0
"""seconds that reading content over ASGI may take by default (`body_timeout`): a slow sender holds a connection"""

# Documents that another party names or serves

LONGEST_URL: Final = 2048
"""characters of a URL that is fetched: another party may have written it"""

MOST_TRIES: Final = 3
"""addresses of one name that a fetch tries to connect to: each may use up the connection timeout"""

MOST_ADDRESSES: Final = 16
"""addresses of one name: each is checked before the fetch, and one that is not public rejects the name"""

DEFAULT_CONNECT_TIMEOUT: Final = 5.0
"""seconds to connect to one address by default (`connect_timeout`): an address may not answer"""

DEFAULT_TOTAL_TIMEOUT: Final = 10.0
"""seconds of a whole fetch by default (`total_timeout`), from the resolution of the name to the last byte"""

DEFAULT_WAIT_TIMEOUT: Final = 3.0
"""seconds that a request waits for a fetch by default (`wait_timeout`): a slow key server must not hold all threads"""

MOST_RESPONSE_HEAD: Final = 65_536
"""bytes of a response without its body: status line, fields and informational responses"""

LONGEST_VALIDATOR: Final = 256
"""characters of an ETag or Last-Modified that is kept and sent again: a server chooses it"""

MOST_JWKS_BYTES: Final = 65_536
"""bytes of a fetched JWK set by default, counted after decoding: compressed bytes may expand a thousandfold"""

MOST_JWKS_FILE_BYTES: Final = 1_048_576
"""bytes of a JWK set in a file: a wrong path must not fill the memory"""

LONGEST_RETRY_AFTER: Final = 300
"""seconds that a server may ask us to wait with Retry-After: a failure must not be remembered for longer"""

MOST_AGENTS: Final = 1024
"""URLs of Signature-Agent whose keys are kept, and as many again that gave no keys yet: senders choose them"""

MOST_AGENT_FETCHES: Final = 16
"""fetches of such URLs in flight by default (`most_at_once`): each holds a connection and a thread"""

MOST_NEW_AGENTS: Final = 60
"""fetches a minute by default, of URLs that gave no keys yet (`most_a_minute`): a sender may name a URL per request"""

MOST_ACTORS: Final = 4096
"""keyids of actors whose keys are kept, and as many again that gave no key yet: senders choose them"""

MOST_NEW_ACTORS: Final = 600
"""fetches a minute by default, of actors that gave no key yet (`most_a_minute`): a post may bring many new actors"""

MOST_ACTOR_BYTES: Final = 262_144
"""bytes of an actor, counted after decoding: profiles are long, and compressed bytes may expand a thousandfold"""

MOST_UCP_PROFILE_BYTES: Final = 131_072
"""bytes of a UCP profile: UCP asks readers for 128 KiB or more, as it has more than keys"""

MOST_CARD_BYTES: Final = 16_384
"""bytes of a client id metadata document: its draft advises 5 KB, and this one may have a JWK set in it"""

MOST_KEYS: Final = 256
"""keys of a JWK set: making one takes some 50 us"""

LONGEST_KEYID: Final = 1024
"""characters of a keyid in a JWK set: a longer one is ignored, as no signature field is long enough for it"""

MOST_LIST_BYTES: Final = 262_144
"""bytes of a revocation list with its signature: some 5,000 key ids"""

MOST_HINTS: Final = 65_536
"""keyids whose key source is remembered: callers choose keyids, so memory is bounded"""

MOST_BRAND_BYTES: Final = 262_144
"""bytes of a brand.json (AdCP)"""

MOST_ADAGENTS_BYTES: Final = 5_242_880
"""bytes of an adagents.json (AdCP)"""

MOST_REGISTRY_BYTES: Final = 1_048_576
"""bytes of a registry of bots: some 20,000 URLs"""

MOST_REDIRECTS: Final = 3
"""redirects of an adagents.json, all within one registrable domain: each is another fetch"""

MOST_FETCHES: Final = 2
"""times `total_timeout` that all the fetches for one agent may take: the agent chooses how many there are"""

MOST_ANSWER_BYTES: Final = 65_536
"""bytes of one response of an agent (AdCP)"""

LONGEST_ANSWER_VALUE: Final = 256
"""characters of a protocol version or session that an agent has us send back"""
