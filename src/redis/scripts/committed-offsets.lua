-- Committed offsets of a subscription.
-- KEYS  shard, offsets
-- ARGV  incarnation, channel, origin
-- {'OK', {place, offset@epoch, ...}}
local wrong = wrong_incarnation()
if wrong then return wrong end
return {'OK', redis.call('HGETALL', KEYS[2])}
