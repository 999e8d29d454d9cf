-- Replaces a strict session by one with what it is about to be sent. Only the node of the session calls it.
-- KEYS  shard, sessions
-- ARGV  incarnation, channel, origin, stream, session (JSON)
-- {'OK', '1' when the session is open}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local current = redis.call('HGET', KEYS[2], ARGV[4])
if not current then return {'OK', '0'} end
replace_session(KEYS[2], ARGV[4], ARGV[5], current)
return {'OK', '1'}
