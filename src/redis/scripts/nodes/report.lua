-- Stores what a node says of itself, and forgets nodes that have been silent for too long, or are too many.
-- KEYS  node reports
-- ARGV  node, its report or '' when it withdraws, milliseconds that reports are kept, the most nodes
local reports = KEYS[1]
local now, kept, maximum = milliseconds(), tonumber(ARGV[3]), tonumber(ARGV[4])
redis.call('HDEL', reports, ARGV[1])
if ARGV[2] == '' then return {'OK'} end
local known, longest_silent, since = 0, nil, now
local all = redis.call('HGETALL', reports)
for index = 1, #all, 2 do
  local heard_at = tonumber(string.match(all[index + 1], '^(%d+)|'))
  if heard_at <= now - kept then
    redis.call('HDEL', reports, all[index])
  else
    known = known + 1
    if heard_at <= since then longest_silent, since = all[index], heard_at end
  end
end
if known >= maximum then redis.call('HDEL', reports, longest_silent) end
redis.call('HSET', reports, ARGV[1], format_integer(now) .. '|' .. ARGV[2])
redis.call('PEXPIRE', reports, ARGV[3])
return {'OK'}
