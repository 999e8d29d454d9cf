-- What each node said of itself last.
-- KEYS  node reports
-- ARGV  milliseconds that reports are kept
-- {'OK', per node: milliseconds since its report, the report}
local now, kept = milliseconds(), tonumber(ARGV[1])
local reply = {'OK'}
for _, stored in ipairs(redis.call('HVALS', KEYS[1])) do
  local heard_at, report = string.match(stored, '^(%d+)|(.*)$')
  local silent = math.max(0, now - tonumber(heard_at))
  if silent < kept then
    reply[#reply + 1] = format_integer(silent)
    reply[#reply + 1] = report
  end
end
return reply
