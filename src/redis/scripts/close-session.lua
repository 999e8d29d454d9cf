-- Removes a session; its partitions go to their next stream where one is named and open, else to nobody.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, stream
-- {'OK', '1' when it was there}
local wrong = wrong_incarnation()
if wrong then return wrong end
if not close_session(KEYS[3], KEYS[4], ARGV[4]) then return {'OK', '0'} end
new_generation(KEYS[2])
tell('topology')
return {'OK', '1'}
