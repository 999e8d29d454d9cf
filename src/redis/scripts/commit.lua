-- Moves committed offsets forward. One call serves commits of any number of subscriptions of one shard. Each commit is
-- judged by itself, after those before it: session and owners first, all or nothing, then the cursors of each partition
-- in order against the highest one so far. A closed stream may commit what it owned last. A strict session commits
-- nothing beyond what it was sent.
-- KEYS  shard, dirty, then per subscription: meta, owners, offsets, sessions
-- ARGV  incarnation, prefix of the channels, origin, then per subscription: its id, count of commits, per commit:
--       stream, '1' when it is not open on the calling process, count of cursors, per cursor: partition, fence or
--       empty, offset
-- {'OK', per commit one of
--   {'OK', per cursor the epoch in which it was committed, or '0' when it was outdated, 'HEARTBEAT' when it is one}
--   | {'SESSION_NOT_FOUND'} | {'NOT_OWNER', partition} | {'NOT_SENT', partition, offset} | {'RECOVERING'}}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local dirty = KEYS[2]

-- Returns a function that returns the field of a hash, which it reads once. No commit changes owners or sessions.
local function reader(key)
  local found = {}
  return function(field)
    if found[field] == nil then found[field] = redis.call('HGET', key, field) end
    return found[field]
  end
end

-- The cursors are the values from first to last. stored has the committed offsets that were read, with the changes of
-- earlier commits.
local function commit(meta, owner_of, session_of, stored, stream, first, last)
  -- While nodes still restore what they know, no stream is refused because of a session that may come back.
  local function refuse(refusal)
    if is_recovering(meta) then return {'RECOVERING'} end
    return refusal
  end

  local session = session_of(stream)
  local is_open = session ~= false
  local counts_heartbeats = session and string.find(session, '"countsHeartbeats":true', 1, true)
  local strict_session = session and string.find(session, '"sentOffsets"', 1, true) and cjson.decode(session)
  if not is_open and last < first then return refuse({'SESSION_NOT_FOUND'}) end

  local function refuse_partition(partition)
    return refuse(is_open and {'NOT_OWNER', partition} or {'SESSION_NOT_FOUND'})
  end

  local progress = {}
  for index = first, last, 3 do
    local partition, fence = ARGV[index], ARGV[index + 1]
    local cursor = progress[partition]
    if not cursor then
      local owner, current = string.match(owner_of(partition) or '', '^%a|([^|]*)|[^|]*|(%d+)')
      local sent
      if is_open then
        if owner ~= stream then return refuse_partition(partition) end
        sent = strict_session and sent_through(strict_session, partition)
      else
        local fence_at_close
        fence_at_close, sent = late_commit_fence(meta, partition, stream)
        if owner ~= '' or fence_at_close ~= current then return refuse_partition(partition) end
      end
      cursor = {fence = current, sent = sent}
      progress[partition] = cursor
    end
    if fence ~= '' and fence ~= cursor.fence then return refuse_partition(partition) end
  end

  local reply = {'OK'}
  local is_heartbeat = false
  for index = first, last, 3 do
    local partition, offset = ARGV[index], tonumber(ARGV[index + 2])
    local cursor = progress[partition]
    if not cursor.epoch then
      local current = stored(partition)
      cursor.offset, cursor.epoch = current.offset, current.epoch
    end
    if offset > cursor.offset then
      if cursor.sent and offset > cursor.sent then return {'NOT_SENT', partition, ARGV[index + 2]} end
      cursor.offset = offset
      cursor.advanced = true
      reply[#reply + 1] = cursor.epoch
    else
      if offset == cursor.offset then is_heartbeat = counts_heartbeats end
      reply[#reply + 1] = '0'
    end
  end

  local advanced = false
  for partition, cursor in pairs(progress) do
    if cursor.advanced then
      local current = stored(partition)
      current.offset = cursor.offset
      current.advanced = true
      advanced = true
    end
  end
  if not advanced and is_heartbeat then
    redis.call('HINCRBY', meta, 'beats/' .. stream, 1)
    reply[#reply + 1] = 'HEARTBEAT'
    advanced = true
  end
  return reply, advanced
end

local replies = {'OK'}
local index = 4
for key = 3, #KEYS, 4 do
  local meta, offsets = KEYS[key], KEYS[key + 2]
  local owner_of, session_of = reader(KEYS[key + 1]), reader(KEYS[key + 3])
  local read = {}
  local function stored(partition)
    if not read[partition] then
      local offset, epoch = string.match(redis.call('HGET', offsets, partition), '^(%-?%d+)@(%d+)$')
      read[partition] = {offset = tonumber(offset), epoch = epoch}
    end
    return read[partition]
  end

  local subscription, commit_count = ARGV[index], tonumber(ARGV[index + 1])
  index = index + 2
  local is_notified = false
  for _ = 1, commit_count do
    local stream, is_elsewhere = ARGV[index], ARGV[index + 1] == '1'
    local last = index + 2 + 3 * tonumber(ARGV[index + 2])
    local reply, advanced = commit(meta, owner_of, session_of, stored, stream, index + 3, last)
    replies[#replies + 1] = reply
    if advanced and is_elsewhere then is_notified = true end
    index = last + 1
  end
  for partition, cursor in pairs(read) do
    if cursor.advanced then
      local encoded = format_integer(cursor.offset) .. '@' .. cursor.epoch
      redis.call('HSET', offsets, partition, encoded)
      redis.call('HSET', dirty, subscription .. '/' .. partition, encoded)
    end
  end
  if is_notified then notify('offsets', subscription) end
end
return replies
