-- Whether the watched subscriptions of shards have to be checked: what has not changed since the last check needs none.
-- KEYS  per shard: shard, nodes
-- ARGV  incarnation of the first shard, channel, origin, then the incarnation of each further one
-- {'OK', per shard: count of changes, '1' when a lease has ended or nodes may still come back from an outage}
local now = milliseconds()
local reply = {'OK'}
for index = 1, #KEYS, 2 do
  local shard, nodes = KEYS[index], KEYS[index + 1]
  local mismatch = incarnation_mismatch(shard, index == 1 and ARGV[1] or ARGV[3 + (index - 1) / 2])
  if mismatch then return mismatch end
  local is_unsettled = tonumber(redis.call('HGET', shard, 'returnUntil') or '0') > now
  for _, lease_until in ipairs(redis.call('HVALS', nodes)) do
    if tonumber(lease_until) <= now then is_unsettled = true end
  end
  reply[#reply + 1] = redis.call('HGET', shard, 'changes') or '0'
  reply[#reply + 1] = is_unsettled and '1' or '0'
end
return reply
