-- Adds a session when no reset is in progress and a slot is free. An existing session is no error.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, stream, session (JSON), then each requested partition
-- {'OPENED', '1' when it was added} | {'RESETTING'} | {'FULL', slots} | {'TAKEN', partition, ...}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local meta, owners, sessions = KEYS[2], KEYS[3], KEYS[4]
if redis.call('HEXISTS', sessions, ARGV[4]) == 1 then return {'OPENED', '0'} end
if is_resetting(meta) then return {'RESETTING'} end
local requested, requested_count, auto_streams = {}, 0, 0
for _, session in ipairs(redis.call('HVALS', sessions)) do
  local partitions = cjson.decode(session).requestedPlaces
  if #partitions == 0 then auto_streams = auto_streams + 1 end
  for _, partition in ipairs(partitions) do
    if not requested[partition] then requested_count = requested_count + 1 end
    requested[partition] = true
  end
end
if #ARGV > 5 then
  local reply = {'TAKEN'}
  for index = 6, #ARGV do
    if requested[ARGV[index]] then reply[#reply + 1] = ARGV[index] end
  end
  if #reply > 1 then return reply end
else
  local slots = redis.call('HLEN', owners)
  if auto_streams >= slots - requested_count then return {'FULL', format_integer(slots)} end
end
redis.call('HSET', sessions, ARGV[4], ARGV[5])
increment_generation(meta)
notify('topology')
return {'OPENED', '1'}
