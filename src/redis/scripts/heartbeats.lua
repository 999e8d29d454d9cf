-- How many heart-beats a session has had.
-- KEYS  shard, meta
-- ARGV  incarnation, channel, origin, stream
-- {'OK', count}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
return {'OK', redis.call('HGET', KEYS[2], 'beats/' .. ARGV[4]) or '0'}
