-- Adds a session when no reset is under way and there is room for it. A session that is there is no error.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, stream, session (JSON), then each requested place
-- {'OPENED', '1' when it was added} | {'RESETTING'} | {'FULL', slots} | {'TAKEN', place, ...}
local wrong = wrong_incarnation()
if wrong then return wrong end
local meta, owners, sessions = KEYS[2], KEYS[3], KEYS[4]
if redis.call('HEXISTS', sessions, ARGV[4]) == 1 then return {'OPENED', '0'} end
if is_resetting(meta) then return {'RESETTING'} end
local requested, requested_count, auto_streams = {}, 0, 0
for _, session in ipairs(redis.call('HVALS', sessions)) do
  local places = cjson.decode(session).requestedPlaces
  if #places == 0 then auto_streams = auto_streams + 1 end
  for _, place in ipairs(places) do
    if not requested[place] then requested_count = requested_count + 1 end
    requested[place] = true
  end
end
if #ARGV > 5 then
  local answer = {'TAKEN'}
  for index = 6, #ARGV do
    if requested[ARGV[index]] then answer[#answer + 1] = ARGV[index] end
  end
  if #answer > 1 then return answer end
else
  local slots = redis.call('HLEN', owners)
  if auto_streams >= slots - requested_count then return {'FULL', text(slots)} end
end
redis.call('HSET', sessions, ARGV[4], ARGV[5])
new_generation(meta)
tell('topology')
return {'OPENED', '1'}
