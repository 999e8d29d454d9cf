-- Merges what the mirror or a node knows of subscriptions of one shard into a Redis that may know less.
-- Offsets: the higher epoch wins, then the larger offset. Fences: above every known one.
-- Open sessions of the node are restored, with their partitions unless another node was faster. Sessions that the node
-- has closed in the meantime are closed, and so is a stream that a reset should have ended: it owned a partition under a
-- fence below the epoch of its offset. During a reset no stream comes back. What was removed stays removed.
-- Can be repeated any number of times, by any number of nodes, in any order.
-- KEYS  shard, nodes, dirty, then per subscription: meta, owners, offsets, sessions, removed
-- ARGV  'unused', prefix of the channels, origin, '1' for a refill, count of nodes, per node: node, milliseconds; then
--       per subscription: its id, the highest known generation, '1' to create what is unknown, count of partitions, per
--       partition: partition, offset@epoch or empty, known fence or 0, owning stream of this node or empty, '1' when the
--       mirror has the offset; count of sessions, per session: stream, session (JSON)
-- {'OK', milliseconds in which other nodes may still come back, per subscription '1' when anything changed or '0'}
local nodes, dirty = KEYS[2], KEYS[3]
local is_refill, node_count = ARGV[4] == '1', tonumber(ARGV[5])
local index = 6
local own_nodes = {}
for _ = 1, node_count do
  own_nodes[ARGV[index]] = true
  local lease_until = milliseconds() + tonumber(ARGV[index + 1])
  if lease_until > tonumber(redis.call('HGET', nodes, ARGV[index]) or '0') then
    redis.call('HSET', nodes, ARGV[index], format_integer(lease_until))
  end
  index = index + 2
end

-- Moves index to the next subscription.
local function merge(meta, owners, offsets, sessions, removed)
  local subscription, generation, may_create = ARGV[index], tonumber(ARGV[index + 1]), ARGV[index + 2] == '1'
  local is_unknown = not may_create and redis.call('EXISTS', meta) == 0
  local removed_below = tonumber(redis.call('GET', removed) or '0')
  local changed = false

  local function merge_offset(partition, incoming, is_mirrored)
    local current = redis.call('HGET', offsets, partition)
    if incoming == '' or (not current and not may_create) then return current end
    local incoming_offset, incoming_epoch = read_offset(incoming)
    if incoming_epoch < removed_below then return current end
    if current then
      local offset, epoch = read_offset(current)
      if not is_newer(incoming_offset, incoming_epoch, offset, epoch) then return current end
    end
    redis.call('HSET', offsets, partition, incoming)
    if not is_mirrored then redis.call('HSET', dirty, subscription .. '/' .. partition, incoming) end
    changed = true
    return incoming
  end

  local function set_owner(partition, stream, fence)
    local state = stream == '' and 'U' or 'A'
    write_owner(owners, partition, {state = state, stream = stream, next_stream = '', fence = fence})
    changed = true
  end

  -- Each partition has five values.
  local partition_count = tonumber(ARGV[index + 3])
  local first, last = index + 4, index + 3 + 5 * partition_count
  local resetting = is_resetting(meta)
  local merged, reset_streams = {}, {}
  local function may_come_back(stream)
    return not resetting or redis.call('HEXISTS', sessions, stream) == 1
  end
  for at = first, last, 5 do
    local partition, known_fence, stream = ARGV[at], tonumber(ARGV[at + 2]), ARGV[at + 3]
    local encoded = not is_unknown and merge_offset(partition, ARGV[at + 1], ARGV[at + 4] == '1')
    if encoded then
      merged[partition] = true
      local _, epoch = read_offset(encoded)
      if stream ~= '' and (known_fence < epoch or not may_come_back(stream)) then reset_streams[stream] = true end
    end
  end
  -- While nodes come back, a partition without an owner may belong to another node.
  local recovering = is_refill or is_recovering(meta)
  for at = first, last, 5 do
    local partition, known_fence, stream = ARGV[at], tonumber(ARGV[at + 2]), ARGV[at + 3]
    if reset_streams[stream] then stream = '' end
    if merged[partition] then
      local encoded = redis.call('HGET', owners, partition)
      local owner = encoded and read_owner(encoded)
      if not owner or known_fence > owner.fence then
        set_owner(partition, stream, math.max(initial_number(), known_fence + 1))
      elseif stream ~= '' and owner.stream == '' and recovering then
        set_owner(partition, stream, owner.fence + 1)
      end
    end
  end
  index = last + 1
  local session_count = tonumber(ARGV[index])
  local open_streams = {}
  index = index + 1
  for _ = 1, session_count do
    open_streams[ARGV[index]] = not reset_streams[ARGV[index]] and may_come_back(ARGV[index])
    if not is_unknown and open_streams[ARGV[index]] then
      if redis.call('HSETNX', sessions, ARGV[index], ARGV[index + 1]) == 1 then
        changed = true
      else
        -- An older state of Redis may know less of what a strict session was sent.
        replace_session(sessions, ARGV[index], ARGV[index + 1], redis.call('HGET', sessions, ARGV[index]))
      end
    end
    index = index + 2
  end
  if is_unknown then return false end
  local all = redis.call('HGETALL', sessions)
  for session = 1, #all, 2 do
    if not open_streams[all[session]] and own_nodes[cjson.decode(all[session + 1]).nodeId] then
      close_session(meta, owners, sessions, all[session], false)
      changed = true
    end
  end
  if changed or is_refill then
    count_change()
    local current = tonumber(redis.call('HGET', meta, 'generation') or format_integer(initial_number()))
    redis.call('HSET', meta, 'generation', format_integer(math.max(current, generation) + 1))
    if is_refill then redis.call('HSET', meta, 'refilled', '1') end
    -- After a refill every process recovers, and then reads everything again anyway.
    if not is_refill then notify('topology', subscription) end
  end
  return changed
end

local reply = {'OK', format_integer(recovery_milliseconds())}
for key = 4, #KEYS, 5 do
  local changed = merge(KEYS[key], KEYS[key + 1], KEYS[key + 2], KEYS[key + 3], KEYS[key + 4])
  reply[#reply + 1] = changed and '1' or '0'
end
return reply
