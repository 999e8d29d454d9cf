-- Removes a session, or its place among those that wait for a slot. Its partitions go to their next stream when one is
-- named and open, otherwise to no stream.
-- KEYS  shard, meta, owners, sessions, places
-- ARGV  incarnation, channel, origin, stream, '1' when it may still commit partitions without a next stream
-- {'OK', '1' when the session or the place existed}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local was_open = close_session(KEYS[2], KEYS[3], KEYS[4], ARGV[4], ARGV[5] == '1')
if redis.call('HDEL', KEYS[5], ARGV[4]) == 0 and not was_open then return {'OK', '0'} end
increment_generation(KEYS[2])
notify('topology')
return {'OK', '1'}
