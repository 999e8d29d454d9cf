-- Adds to the history that users read later. No decision depends on it.
-- KEYS  shard, commits, ends
-- ARGV  incarnation, channel, origin, milliseconds to keep it, how many ends to keep, number of commits,
--       partition, commit, ..., end, ... (newest last)
-- {'OK'}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local shard, commits, ends = KEYS[1], KEYS[2], KEYS[3]
local first_end = 7 + 2 * tonumber(ARGV[6])
for index = 7, first_end - 1, 2 do redis.call('HSET', commits, ARGV[index], ARGV[index + 1]) end
for index = first_end, #ARGV do redis.call('LPUSH', ends, ARGV[index]) end
redis.call('LTRIM', ends, 0, tonumber(ARGV[5]) - 1)
redis.call('PEXPIRE', commits, ARGV[4])
redis.call('PEXPIRE', ends, ARGV[4])
redis.call('HSETNX', shard, 'remembersSince', format_integer(milliseconds()))
return {'OK'}
