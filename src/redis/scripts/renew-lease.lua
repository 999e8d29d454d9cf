-- Renews the lease of a node in this shard, and deletes ended leases, which mean the same as missing ones.
-- When no node has renewed for a while, this Redis was unreachable. Then no session ends until the other nodes have had
-- time to come back too.
-- KEYS  shard, nodes
-- ARGV  incarnation, channel, origin, node, milliseconds, milliseconds without a renewal that count as an outage,
--       milliseconds in which other nodes may come back from it
-- {'OK'}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local shard, nodes = KEYS[1], KEYS[2]
local now = milliseconds()
local all = redis.call('HGETALL', nodes)
for index = 1, #all, 2 do
  if tonumber(all[index + 1]) <= now then
    redis.call('HDEL', nodes, all[index])
    count_change()
  end
end
redis.call('HSET', nodes, ARGV[4], format_integer(now + tonumber(ARGV[5])))
local last_renewal = tonumber(redis.call('HGET', shard, 'heardAt') or format_integer(now))
if now - last_renewal > tonumber(ARGV[6]) then
  redis.call('HSET', shard, 'returnUntil', format_integer(now + tonumber(ARGV[7])))
end
redis.call('HSET', shard, 'heardAt', format_integer(now))
return {'OK'}
