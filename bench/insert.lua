-- A script for wrk that inserts applications. SALT makes a run's email addresses unique. With REPEATED, every second
-- application is already stored. With SINGLY, the consent is a text, which PostgreSQL has to convert, so the server stores
-- each application alone.
local salt, repeated = os.getenv("SALT"), os.getenv("REPEATED") ~= nil
local consent = os.getenv("SINGLY") and '"true"' or "true"
local threads, thread, count = 0, 0, 0

function setup(newThread)
  newThread:set("thread", threads)
  threads = threads + 1
end

function request()
  count = count + 1
  local name = (repeated and count % 2 == 0) and "again" or (salt .. "." .. thread .. "." .. count)
  local body = '{"first_name":"Ada","last_name":"Lovelace","email":"' .. name .. '@example.com",'
    .. '"phone":"+44 (20) 7946 0958","linkedin":"in/ada","company":"Analytical Engines","paid_solution":"travel",'
    .. '"custom_solution":"","team_size":"3-10","reason":"To think. Without a screen.","consent":' .. consent .. '}'
  return wrk.format("POST", nil, { apikey = "public-anon-key", ["content-type"] = "application/json" }, body)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format('\n{"microseconds":%d,"requests":%d,"refused":%d,"failed":%d,"p99":%d}\n',
    summary.duration, summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(99)))
end
