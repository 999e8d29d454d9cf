-- Committed offsets of a subscription.
-- KEYS  shard, offsets
-- ARGV  incarnation, channel, origin
-- {'OK', {partition, offset@epoch, ...}}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
return {'OK', redis.call('HGETALL', KEYS[2])}
