-- Begins a new incarnation of a shard that has been refilled with everything known.
-- KEYS  shard
-- ARGV  token, the highest incarnation known, channel of incarnations, milliseconds in which other nodes may come back
-- {'OK'} | {'LOST'} when the token is missing and the refill has to be done again
if redis.call('HGET', KEYS[1], 'refill') ~= ARGV[1] then return {'LOST'} end
redis.call('HDEL', KEYS[1], 'refill')
redis.call('HSET', KEYS[1], 'recoverUntil', format_integer(milliseconds() + tonumber(ARGV[4])))
local incarnation = format_integer(math.max(initial_number(), tonumber(ARGV[2]) + 1))
redis.call('HSET', KEYS[1], 'incarnation', incarnation)
redis.call('PUBLISH', ARGV[3], incarnation)
return {'OK'}
