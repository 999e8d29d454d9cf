-- Begins a new incarnation of a shard that holds again all that is known.
-- KEYS  shard
-- ARGV  token, the highest incarnation known, channel of incarnations
-- {'OK'} | {'LOST'} when the token is not there: the refill has to be done again
if redis.call('HGET', KEYS[1], 'refill') ~= ARGV[1] then return {'LOST'} end
redis.call('HDEL', KEYS[1], 'refill')
local incarnation = text(math.max(fresh(), tonumber(ARGV[2]) + 1))
redis.call('HSET', KEYS[1], 'incarnation', incarnation)
redis.call('PUBLISH', ARGV[3], incarnation)
return {'OK'}
