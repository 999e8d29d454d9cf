-- Removes a session. Its partitions go to their next stream when one is named and open, otherwise to no stream.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, stream, '1' when it may still commit partitions without a next stream
-- {'OK', '1' when the session existed}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
if not close_session(KEYS[2], KEYS[3], KEYS[4], ARGV[4], ARGV[5] == '1') then return {'OK', '0'} end
increment_generation(KEYS[2])
notify('topology')
return {'OK', '1'}
