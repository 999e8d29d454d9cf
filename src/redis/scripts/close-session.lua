-- Removes a session, or its place among those that wait for a slot. Its partitions go to their next stream when one is
-- named and open, otherwise to no stream.
-- KEYS  shard, meta, owners, sessions, places, offsets
-- ARGV  incarnation, channel, origin, stream, '1' when it may still commit partitions without a next stream, then
--       optionally: how many failures of a batch make the next stream deliver one by one, and per partition with events
--       that were sent and not committed: partition, offset of the first, offset of the last one to look at. A first
--       one that is committed says nothing: the stream has not heard of the commit
-- {'OK', '1' when the session or the place existed}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local failed = {}
for index = 7, #ARGV, 3 do
  local partition, first = ARGV[index], ARGV[index + 1]
  local committed = redis.call('HGET', KEYS[6], partition)
  if not committed or tonumber(first) > read_offset(committed) then
    failed[partition] = {first = first, through = ARGV[index + 2], maximum = ARGV[6]}
  end
end
local was_open = close_session(KEYS[2], KEYS[3], KEYS[4], ARGV[4], ARGV[5] == '1', failed)
if redis.call('HDEL', KEYS[5], ARGV[4]) == 0 and not was_open then return {'OK', '0'} end
increment_generation(KEYS[2])
notify('topology')
return {'OK', '1'}
