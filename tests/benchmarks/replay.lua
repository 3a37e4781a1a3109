-- Sends the requests of a file, each once and in their order, and prints what came of it as JSON.
-- They are separated by NUL. It ends when all are sent, or after the time that wrk was given.
local ffi = require("ffi")
ffi.cdef("int getpid(void); int kill(int process, int number);")
local SIGINT = 2
local requests, sent = {}, 0

function init(arguments)
  local file = assert(io.open(arguments[1], "rb"))
  for request in file:read("*a"):gmatch("[^%z]+") do
    requests[#requests + 1] = request
  end
  file:close()
end

function request()
  sent = sent + 1
  if sent > #requests then
    wrk.thread:stop()
    -- Its main thread sleeps for the whole time unless a signal wakes it.
    ffi.C.kill(ffi.C.getpid(), SIGINT)
  end
  return requests[sent] or ""
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests": %d, "microseconds": %d, "p50": %d, "p99": %d, "rejected": %d, "broken": %d}\n',
    summary.requests, summary.duration, latency:percentile(50), latency:percentile(99), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout
  ))
end
