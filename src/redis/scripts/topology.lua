-- Sessions and ownership of a subscription.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin
-- {'OK', generation, resetting '1' or '0', {stream, session, ...}, {place, owner, ...}}
local wrong = wrong_incarnation()
if wrong then return wrong end
local meta, owners, sessions = KEYS[2], KEYS[3], KEYS[4]
return {
  'OK',
  redis.call('HGET', meta, 'generation') or '0',
  is_resetting(meta) and '1' or '0',
  redis.call('HGETALL', sessions),
  redis.call('HGETALL', owners),
}
