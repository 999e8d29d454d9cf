-- Sessions, ownership and committed offsets of subscriptions of one shard.
-- KEYS  shard, then per subscription: meta, owners, sessions, offsets
-- ARGV  incarnation, channel, origin
-- {'OK', per subscription {generation, resetting '1' or '0', {stream, session, ...}, {partition, owner, ...},
--       {partition, offset@epoch, ...}}}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local reply = {'OK'}
for index = 2, #KEYS, 4 do
  reply[#reply + 1] = {
    redis.call('HGET', KEYS[index], 'generation') or '0',
    is_resetting(KEYS[index]) and '1' or '0',
    redis.call('HGETALL', KEYS[index + 2]),
    redis.call('HGETALL', KEYS[index + 1]),
    redis.call('HGETALL', KEYS[index + 3]),
  }
end
return reply
