-- What is remembered of a subscription, and since when anything is.
-- KEYS  shard, commits, ends
-- ARGV  incarnation, channel, origin, milliseconds that it is kept
-- {'OK', milliseconds since 1970, {place, commit, ...}, {end, ...} the newest first}
local wrong = wrong_incarnation()
if wrong then return wrong end
local shard, commits, ends = KEYS[1], KEYS[2], KEYS[3]
local now = milliseconds()
redis.call('HSETNX', shard, 'remembersSince', text(now))
local since = math.max(tonumber(redis.call('HGET', shard, 'remembersSince')), now - tonumber(ARGV[4]))
return {'OK', text(since), redis.call('HGETALL', commits), redis.call('LRANGE', ends, 0, -1)}
