-- Whether the watched subscriptions of a shard have to be checked: what has not changed since the last check needs none.
-- KEYS  shard, nodes
-- ARGV  incarnation, channel, origin
-- {'OK', count of changes, '1' when a lease has ended or nodes may still come back from an outage}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local shard, nodes = KEYS[1], KEYS[2]
local now = milliseconds()
local is_unsettled = tonumber(redis.call('HGET', shard, 'returnUntil') or '0') > now
for _, lease_until in ipairs(redis.call('HVALS', nodes)) do
  if tonumber(lease_until) <= now then is_unsettled = true end
end
return {'OK', redis.call('HGET', shard, 'changes') or '0', is_unsettled and '1' or '0'}
