-- Committed offsets of subscriptions of one shard.
-- KEYS  shard, then per subscription: offsets
-- ARGV  incarnation, channel, origin
-- {'OK', per subscription {partition, offset@epoch, ...}}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local reply = {'OK'}
for index = 2, #KEYS do reply[index] = redis.call('HGETALL', KEYS[index]) end
return reply
