-- Withdraws an incarnation, so that no process uses a shard while it is refilled. At the end the token proves that
-- nothing was lost in the meantime.
-- KEYS  shard
-- ARGV  the incarnation to withdraw, or empty; token
-- {'OK'} | {'OTHER'} when another incarnation has begun
local found = redis.call('HGET', KEYS[1], 'incarnation')
if found and found ~= ARGV[1] then return {'OTHER'} end
redis.call('HDEL', KEYS[1], 'incarnation')
redis.call('HSET', KEYS[1], 'refill', ARGV[2])
return {'OK'}
