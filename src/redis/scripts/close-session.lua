-- Removes a session; its partitions go to their next stream where one is named and open, else to no stream.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, stream, '1' when it may still commit what goes to no stream
-- {'OK', '1' when it was there}
local wrong = wrong_incarnation()
if wrong then return wrong end
if not close_session(KEYS[2], KEYS[3], KEYS[4], ARGV[4], ARGV[5] == '1') then return {'OK', '0'} end
new_generation(KEYS[2])
tell('topology')
return {'OK', '1'}
