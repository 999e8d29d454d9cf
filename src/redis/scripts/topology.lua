-- Sessions and ownership of a subscription.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin
-- {'OK', generation, resetting '1' or '0', {stream, session, ...}, {partition, owner, ...}}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local meta, owners, sessions = KEYS[2], KEYS[3], KEYS[4]
return {
  'OK',
  redis.call('HGET', meta, 'generation') or '0',
  is_resetting(meta) and '1' or '0',
  redis.call('HGETALL', sessions),
  redis.call('HGETALL', owners),
}
