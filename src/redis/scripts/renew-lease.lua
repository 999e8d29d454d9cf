-- Renews the lease of a node in shards, and deletes ended leases, which mean the same as missing ones.
-- When no node has renewed for a while, this Redis was unreachable. Then no session ends until the other nodes have had
-- time to come back too.
-- KEYS  per shard: shard, nodes
-- ARGV  incarnation of the first shard, channel, origin, node, milliseconds, milliseconds without a renewal that count as
--       an outage, milliseconds in which other nodes may come back from it, then the incarnation of each further shard
-- {'OK'}
for index = 1, #KEYS, 2 do
  local mismatch = incarnation_mismatch(KEYS[index], index == 1 and ARGV[1] or ARGV[7 + (index - 1) / 2])
  if mismatch then return mismatch end
end
local now = milliseconds()
for index = 1, #KEYS, 2 do
  local shard, nodes = KEYS[index], KEYS[index + 1]
  local all = redis.call('HGETALL', nodes)
  for lease = 1, #all, 2 do
    if tonumber(all[lease + 1]) <= now then
      redis.call('HDEL', nodes, all[lease])
      count_change(shard)
    end
  end
  redis.call('HSET', nodes, ARGV[4], format_integer(now + tonumber(ARGV[5])))
  local last_renewal = tonumber(redis.call('HGET', shard, 'heardAt') or format_integer(now))
  if now - last_renewal > tonumber(ARGV[6]) then
    redis.call('HSET', shard, 'returnUntil', format_integer(now + tonumber(ARGV[7])))
  end
  redis.call('HSET', shard, 'heardAt', format_integer(now))
end
return {'OK'}
