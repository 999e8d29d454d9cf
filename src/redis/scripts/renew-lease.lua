-- Keeps a node's sessions of this shard alive, and forgets nodes whose lease has ended: none and an old one are alike.
-- Where no node has been heard of for a while, it was this Redis that could not be reached: no session ends then before
-- the other nodes have had the time to come back as well.
-- KEYS  shard, nodes
-- ARGV  incarnation, channel, origin, node, milliseconds, milliseconds of silence that make an outage, milliseconds in
--       which others may come back from one
-- {'OK'}
local wrong = wrong_incarnation()
if wrong then return wrong end
local shard, nodes = KEYS[1], KEYS[2]
local now = milliseconds()
local all = redis.call('HGETALL', nodes)
for index = 1, #all, 2 do
  if tonumber(all[index + 1]) <= now then redis.call('HDEL', nodes, all[index]) end
end
redis.call('HSET', nodes, ARGV[4], text(now + tonumber(ARGV[5])))
local heard_at = tonumber(redis.call('HGET', shard, 'heardAt') or text(now))
if now - heard_at > tonumber(ARGV[6]) then
  redis.call('HSET', shard, 'returnUntil', text(now + tonumber(ARGV[7])))
end
redis.call('HSET', shard, 'heardAt', text(now))
return {'OK'}
