-- Merges what the mirror or a node knows of a subscription into a Redis that may know less.
-- Offsets: the higher epoch wins, then the larger offset. Fences: above every known one.
-- Open sessions of the node are restored, with their partitions unless another node was faster. Sessions that the node
-- has closed in the meantime are closed. What was removed stays removed.
-- Can be repeated any number of times, by any number of nodes, in any order.
-- KEYS  shard, nodes, dirty, meta, owners, offsets, sessions, removed
-- ARGV  'unused', channel, origin, subscription, milliseconds in which other nodes may still come back (0: none),
--       the highest known generation, '1' to create what is unknown,
--       count of partitions, per partition: partition, offset@epoch or empty, known fence or 0, owning stream of this
--       node or empty; count of sessions, per session: stream, session (JSON); then per node: node, milliseconds
-- {'OK', '1' when anything changed}
local nodes, dirty, meta, owners, offsets, sessions = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7]
local recovery_milliseconds, generation, may_create = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7] == '1'
if not may_create and redis.call('EXISTS', meta) == 0 then return {'OK', '0'} end
local removed_below = tonumber(redis.call('GET', KEYS[8]) or '0')
local changed = false

local function merge_offset(partition, incoming)
  local current = redis.call('HGET', offsets, partition)
  if incoming == '' or (not current and not may_create) then return current end
  local incoming_offset, incoming_epoch = read_offset(incoming)
  if incoming_epoch < removed_below then return current end
  if current then
    local offset, epoch = read_offset(current)
    if not is_newer(incoming_offset, incoming_epoch, offset, epoch) then return current end
  end
  redis.call('HSET', offsets, partition, incoming)
  redis.call('HSET', dirty, ARGV[4] .. '/' .. partition, incoming)
  changed = true
  return incoming
end

local function set_owner(partition, stream, fence)
  local state = stream == '' and 'U' or 'A'
  write_owner(owners, partition, {state = state, stream = stream, next_stream = '', fence = fence})
  changed = true
end

-- While nodes come back, a partition without an owner may belong to another node.
local recovering = recovery_milliseconds > 0 or is_recovering(meta)
local index = 9
for _ = 1, tonumber(ARGV[8]) do
  local partition, known_fence, stream = ARGV[index], tonumber(ARGV[index + 2]), ARGV[index + 3]
  if merge_offset(partition, ARGV[index + 1]) then
    local encoded = redis.call('HGET', owners, partition)
    local owner = encoded and read_owner(encoded)
    if not owner or known_fence > owner.fence then
      set_owner(partition, stream, math.max(initial_number(), known_fence + 1))
    elseif stream ~= '' and owner.stream == '' and recovering then
      set_owner(partition, stream, owner.fence + 1)
    end
  end
  index = index + 4
end
local session_count = tonumber(ARGV[index])
local open_streams = {}
index = index + 1
for _ = 1, session_count do
  open_streams[ARGV[index]] = true
  if redis.call('HSETNX', sessions, ARGV[index], ARGV[index + 1]) == 1 then changed = true end
  index = index + 2
end
local own_nodes = {}
while index < #ARGV do
  own_nodes[ARGV[index]] = true
  local lease_until = milliseconds() + tonumber(ARGV[index + 1])
  if lease_until > tonumber(redis.call('HGET', nodes, ARGV[index]) or '0') then
    redis.call('HSET', nodes, ARGV[index], format_integer(lease_until))
  end
  index = index + 2
end
local all = redis.call('HGETALL', sessions)
for session = 1, #all, 2 do
  if not open_streams[all[session]] and own_nodes[cjson.decode(all[session + 1]).nodeId] then
    close_session(meta, owners, sessions, all[session], false)
    changed = true
  end
end
if recovery_milliseconds > 0 then
  redis.call('HSET', meta, 'recoverUntil', format_integer(milliseconds() + recovery_milliseconds))
  changed = true
end
if changed then
  local current = tonumber(redis.call('HGET', meta, 'generation') or format_integer(initial_number()))
  redis.call('HSET', meta, 'generation', format_integer(math.max(current, generation) + 1))
  notify('offsets')
  notify('topology')
end
return {'OK', changed and '1' or '0'}
