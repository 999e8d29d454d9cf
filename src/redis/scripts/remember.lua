-- Adds to the histories of subscriptions of one shard, which users read later. No decision depends on them.
-- KEYS  shard, then per subscription: commits, ends
-- ARGV  incarnation, channel, origin, milliseconds to keep a history, how many ends to keep, then per subscription: count
--       of commits, per commit: partition, commit; count of ends, the ends (newest last)
-- {'OK'}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local index = 6
for key = 2, #KEYS, 2 do
  local commits, ends = KEYS[key], KEYS[key + 1]
  local commit_count = tonumber(ARGV[index])
  index = index + 1
  for _ = 1, commit_count do
    redis.call('HSET', commits, ARGV[index], ARGV[index + 1])
    index = index + 2
  end
  local end_count = tonumber(ARGV[index])
  index = index + 1
  for _ = 1, end_count do
    redis.call('LPUSH', ends, ARGV[index])
    index = index + 1
  end
  if end_count > 0 then redis.call('LTRIM', ends, 0, tonumber(ARGV[5]) - 1) end
  redis.call('PEXPIRE', commits, ARGV[4])
  redis.call('PEXPIRE', ends, ARGV[4])
end
redis.call('HSETNX', KEYS[1], 'remembersSince', format_integer(milliseconds()))
return {'OK'}
