-- Marks a reset with its process and number. The mark expires, in case the process dies before the end.
-- KEYS  shard, meta
-- ARGV  incarnation, channel, origin, milliseconds, number
-- {'OK', '1' when it has begun, '0' when another one is in progress}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
if is_resetting(KEYS[2]) then return {'OK', '0'} end
local reset_until = format_integer(milliseconds() + tonumber(ARGV[4]))
redis.call('HSET', KEYS[2], 'resetUntil', reset_until, 'resetBy', ARGV[3] .. '/' .. ARGV[5])
increment_generation(KEYS[2])
notify('reset')
return {'OK', '1'}
