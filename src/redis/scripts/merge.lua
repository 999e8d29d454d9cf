-- Brings what the mirror or a node knows of a subscription into a Redis that may know less. Offsets: the higher epoch,
-- then the larger one. Fences: above whatever is known. Sessions that the node has open are put back, with what they own
-- as far as no other node was quicker; those that it has closed, of which this Redis has not heard, are closed. What was
-- removed stays removed. May come any number of times, from any number of nodes, in any order.
-- KEYS  shard, nodes, dirty, meta, owners, offsets, sessions, removed
-- ARGV  'unused', channel, origin, subscription, milliseconds in which others may still come (0: none were asked to),
--       the highest generation known, '1' to make known what is not,
--       count of partitions, per partition: place, offset@epoch or empty, fence known or 0, stream of this node that owns
--       it or empty; count of sessions, per session: stream, session (JSON); then per node: node, milliseconds
-- {'OK', '1' when anything changed}
local nodes, dirty, meta, owners, offsets, sessions = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local others_milliseconds, generation, creates = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1'
if not creates and redis.call('EXISTS', meta) == 0 then return {'OK', '0'} end
local removed_below = tonumber(redis.call('GET', KEYS[8]) or '0')
local changed = false

local function take_offset(place, given)
  local present = redis.call('HGET', offsets, place)
  if given == '' or (not present and not creates) then return present end
  local given_offset, given_epoch = read_offset(given)
  if given_epoch < removed_below then return present end
  if present then
    local offset, epoch = read_offset(present)
    if not is_newer(given_offset, given_epoch, offset, epoch) then return present end
  end
  redis.call('HSET', offsets, place, given)
  redis.call('HSET', dirty, ARGV[4] .. '/' .. place, given)
  changed = true
  return given
end

local function own(place, stream, fence)
  local state = stream == '' and 'U' or 'A'
  write_owner(owners, place, {state = state, stream = stream, next_stream = '', fence = fence})
  changed = true
end

-- While nodes come back, a partition without an owner may be another node's.
local recovering = others_milliseconds > 0 or is_recovering(meta)
local index = 9
for _ = 1, tonumber(ARGV[8]) do
  local place, known, stream = ARGV[index], tonumber(ARGV[index + 2]), ARGV[index + 3]
  if take_offset(place, ARGV[index + 1]) then
    local written = redis.call('HGET', owners, place)
    local owner = written and read_owner(written)
    if not owner or known > owner.fence then
      own(place, stream, math.max(fresh(), known + 1))
    elseif stream ~= '' and owner.stream == '' and recovering then
      own(place, stream, owner.fence + 1)
    end
  end
  index = index + 4
end
local session_count = tonumber(ARGV[index])
local open = {}
index = index + 1
for _ = 1, session_count do
  open[ARGV[index]] = true
  if redis.call('HSETNX', sessions, ARGV[index], ARGV[index + 1]) == 1 then changed = true end
  index = index + 2
end
local own_nodes = {}
while index < #ARGV do
  own_nodes[ARGV[index]] = true
  local lease_until = milliseconds() + tonumber(ARGV[index + 1])
  if lease_until > tonumber(redis.call('HGET', nodes, ARGV[index]) or '0') then
    redis.call('HSET', nodes, ARGV[index], text(lease_until))
  end
  index = index + 2
end
local all = redis.call('HGETALL', sessions)
for session = 1, #all, 2 do
  if not open[all[session]] and own_nodes[cjson.decode(all[session + 1]).nodeId] then
    close_session(meta, owners, sessions, all[session], false)
    changed = true
  end
end
if others_milliseconds > 0 then
  redis.call('HSET', meta, 'recoverUntil', text(milliseconds() + others_milliseconds))
  changed = true
end
if changed then
  local present = tonumber(redis.call('HGET', meta, 'generation') or text(fresh()))
  redis.call('HSET', meta, 'generation', text(math.max(present, generation) + 1))
  tell('offsets')
  tell('topology')
end
return {'OK', changed and '1' or '0'}
