"""Advice: the settings that fix each finding."""

PATH = (
    "forward the request target unchanged. nginx: `proxy_pass http://app;` without a path, and no rewrite. HAProxy: no "
    "normalize-uri. Apache: `AllowEncodedSlashes NoDecode`, `MergeSlashes Off` and `ProxyPass ... nocanon`"
)
QUERY = "forward the query unchanged: do not sort, decode or drop any of it."
LONE_QUESTION_MARK = (
    "nginx: `proxy_pass http://app;` without a path, and no rewrite. If that is not possible, clients must not send a "
    "? without a query"
)
CONTENT = "forward the content unchanged: do not drop, decompress, re-encode or rewrite it"
CHUNKS = (
    "the application's server does not show chunked content to applications: put a buffering proxy in front of it "
    "(nginx, unless proxy_request_buffering is off), or use gunicorn, waitress or an ASGI server"
)
HOST = (
    "forward Host unchanged. nginx: `proxy_set_header Host $http_host;` (its default is the name in proxy_pass, and "
    "$host drops the port). HAProxy: no `set-header Host`. Apache: `ProxyPreserveHost On`"
)
UNKNOWN_CHANGE = (
    "see the log of the logger `undersigned` (level INFO): it contains the rebuilt signature base, whose @method, "
    "@target-uri and @authority are the values that arrived"
)
LOG = "see the log of the logger `undersigned`: it names the cause"
RECEIVED = "the logger `undersigned` names the cause, and after `received:` the Host and the target that arrived"
CONTENT_FIELDS = "forward Content-Type and Content-Digest unchanged"
REDIRECTED = "use the URL that it redirects to: a signature is valid for one URL only"
FAILING = "see the log of the server, and for 502 or 504 the log of the proxy: the application does not answer"
NOT_VERIFIED = (
    "check that the path of the URL leads to the application, that SignatureMiddleware is its outermost middleware, "
    "and that nothing on the way answers instead"
)
