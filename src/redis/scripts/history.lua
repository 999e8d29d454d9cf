-- The recorded history of a subscription, and since when it is recorded.
-- KEYS  shard, commits, ends
-- ARGV  incarnation, channel, origin, milliseconds for which it is kept
-- {'OK', milliseconds since 1970, {partition, commit, ...}, {end, ...} newest first}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local shard, commits, ends = KEYS[1], KEYS[2], KEYS[3]
local now = milliseconds()
redis.call('HSETNX', shard, 'remembersSince', format_integer(now))
local since = math.max(tonumber(redis.call('HGET', shard, 'remembersSince')), now - tonumber(ARGV[4]))
return {'OK', format_integer(since), redis.call('HGETALL', commits), redis.call('LRANGE', ends, 0, -1)}
