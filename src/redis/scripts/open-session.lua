-- Adds a session when no reset is in progress and a slot is free. An existing session is no error. A session that is
-- refused gets a place among those that wait, if it asks for one and accepts any partition. Of these the one that has
-- waited longest comes first; a session without a place comes after all of them.
-- KEYS  shard, meta, owners, sessions, places, nodes
-- ARGV  incarnation, channel, origin, stream, session (JSON), node, milliseconds that a place is kept (0: no place),
-- then
--       each requested partition
-- {'OPENED', '1' when it was added} | {'RESETTING'} | {'FULL', slots} | {'TAKEN', partition, ...}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local meta, owners, sessions, places, nodes = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local stream = ARGV[4]
if redis.call('HEXISTS', sessions, stream) == 1 then return {'OPENED', '0'} end

-- While nodes still come back after a loss or an outage, none counts as dead.
local function is_dead(node)
  local return_until = tonumber(redis.call('HGET', KEYS[1], 'returnUntil') or '0')
  if is_recovering(meta) or return_until > milliseconds() then return false end
  return tonumber(redis.call('HGET', nodes, node) or '0') <= milliseconds()
end

-- How many sessions have waited longer. Places whose time or node has ended are removed.
local function places_before()
  local own, own_until = string.match(redis.call('HGET', places, stream) or '', '^(%d+)|(%d+)|')
  own = own and tonumber(own_until) > milliseconds() and tonumber(own)
  local count = 0
  local all = redis.call('HGETALL', places)
  for index = 1, #all, 2 do
    local since, place_until, node = string.match(all[index + 1], '^(%d+)|(%d+)|(.*)$')
    if tonumber(place_until) <= milliseconds() or is_dead(node) then
      redis.call('HDEL', places, all[index])
    elseif all[index] ~= stream and (not own or tonumber(since) < own) then
      count = count + 1
    end
  end
  return count
end

-- Returns the reply for a refused session.
local function refuse(reply)
  local kept = tonumber(ARGV[7])
  if kept > 0 and #ARGV == 7 then
    local since = string.match(redis.call('HGET', places, stream) or '', '^(%d+)|') or format_integer(microseconds())
    local place = table.concat({since, format_integer(milliseconds() + kept), ARGV[6]}, '|')
    redis.call('HSET', places, stream, place)
    -- Nothing is left of those who wait for a subscription that is never used again.
    redis.call('PEXPIRE', places, format_integer(math.max(kept, redis.call('PTTL', places))))
  end
  return reply
end

if is_resetting(meta) then return refuse({'RESETTING'}) end
local requested, requested_count, auto_streams = {}, 0, 0
for _, session in ipairs(redis.call('HVALS', sessions)) do
  local partitions = cjson.decode(session).requestedPlaces
  if #partitions == 0 then auto_streams = auto_streams + 1 end
  for _, partition in ipairs(partitions) do
    if not requested[partition] then requested_count = requested_count + 1 end
    requested[partition] = true
  end
end
if #ARGV > 7 then
  local reply = {'TAKEN'}
  for index = 8, #ARGV do
    if requested[ARGV[index]] then reply[#reply + 1] = ARGV[index] end
  end
  if #reply > 1 then return reply end
else
  local slots = redis.call('HLEN', owners)
  if auto_streams + places_before() >= slots - requested_count then return refuse({'FULL', format_integer(slots)}) end
end
redis.call('HDEL', places, stream)
redis.call('HSET', sessions, stream, ARGV[5])
increment_generation(meta)
notify('topology')
return {'OPENED', '1'}
