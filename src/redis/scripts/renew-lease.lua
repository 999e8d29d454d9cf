-- Keeps a node's sessions of this shard alive, and forgets nodes whose lease has ended: none and an old one are alike.
-- KEYS  shard, nodes
-- ARGV  incarnation, channel, origin, node, milliseconds
-- {'OK'}
local wrong = wrong_incarnation()
if wrong then return wrong end
local now = milliseconds()
local all = redis.call('HGETALL', KEYS[2])
for index = 1, #all, 2 do
  if tonumber(all[index + 1]) <= now then redis.call('HDEL', KEYS[2], all[index]) end
end
redis.call('HSET', KEYS[2], ARGV[4], text(now + tonumber(ARGV[5])))
return {'OK'}
