-- Marks a reset. The mark ends by itself, in case the process that resets dies before the end.
-- KEYS  shard, meta
-- ARGV  incarnation, channel, origin, milliseconds
-- {'OK', '1' when it has begun, '0' when one was under way}
local wrong = wrong_incarnation()
if wrong then return wrong end
if is_resetting(KEYS[2]) then return {'OK', '0'} end
redis.call('HSET', KEYS[2], 'resetUntil', text(milliseconds() + tonumber(ARGV[4])))
new_generation(KEYS[2])
tell('reset')
return {'OK', '1'}
