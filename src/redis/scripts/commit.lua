-- Moves committed offsets forward. One call serves commits of any number of subscriptions, of one shard or, where all
-- shards are in one Redis, of several. Each commit is judged by itself, after those before it: session and owners
-- first, all or nothing, then the cursors of each partition in order against the highest one so far. A closed stream
-- may commit what it owned last. A strict session commits nothing beyond what it was sent.
-- KEYS  per shard: shard, dirty, then per subscription, in the order of the shards: meta, owners, offsets, sessions
-- ARGV  count of shards, prefix of the channels, origin, then per shard: incarnation, count of subscriptions, then per
--       subscription: its id, count of commits, per commit: stream, '1' when it is not open on the calling process,
--       count of cursors, per cursor: partition, fence or empty, offset
-- {'OK', per commit one of
--   'OK' and per cursor the epoch in which it was committed, or '0' when it was outdated, and 'HEARTBEAT' when it is
--   one, with spaces between: a list would cost both sides more
--   | {'SESSION_NOT_FOUND'} | {'NOT_OWNER', partition} | {'NOT_SENT', partition, offset} | {'RECOVERING'}}
local shard_count = tonumber(ARGV[1])
for number = 1, shard_count do
  local mismatch = incarnation_mismatch(KEYS[2 * number - 1], ARGV[2 * number + 2])
  if mismatch then return mismatch end
end

-- Returns a function that returns the field of a hash, which it reads once. No commit changes owners or sessions.
local function reader(key)
  local found = {}
  return function(field)
    if found[field] == nil then found[field] = redis.call('HGET', key, field) end
    return found[field]
  end
end

-- While nodes still restore what they know, no stream is refused because of a session that may come back.
local function refuse(of, refusal)
  if is_recovering(of.meta, of.shard) then return {'RECOVERING'} end
  return refusal
end

local function refuse_partition(of, is_open, partition)
  return refuse(of, is_open and {'NOT_OWNER', partition} or {'SESSION_NOT_FOUND'})
end

-- The cursors are the values from first to last. of is the subscription; its function stored has the committed offsets
-- that were read, with the changes of earlier commits.
local function commit(of, stream, first, last)
  local meta, stored = of.meta, of.stored
  local session = of.session_of(stream)
  local is_open = session ~= false
  local counts_heartbeats = session and string.find(session, '"countsHeartbeats":true', 1, true)
  local strict_session = session and string.find(session, '"sentOffsets"', 1, true) and cjson.decode(session)
  if not is_open and last < first then return refuse(of, {'SESSION_NOT_FOUND'}) end

  local progress = {}
  for index = first, last, 3 do
    local partition, fence = ARGV[index], ARGV[index + 1]
    local cursor = progress[partition]
    if not cursor then
      local owner, current = string.match(of.owner_of(partition) or '', '^%a|([^|]*)|[^|]*|(%d+)')
      local sent
      if is_open then
        if owner ~= stream then return refuse_partition(of, is_open, partition) end
        sent = strict_session and sent_through(strict_session, partition)
      else
        local fence_at_close
        fence_at_close, sent = late_commit_fence(meta, partition, stream)
        if owner ~= '' or fence_at_close ~= current then return refuse_partition(of, is_open, partition) end
      end
      cursor = {fence = current, sent = sent}
      progress[partition] = cursor
    end
    if fence ~= '' and fence ~= cursor.fence then return refuse_partition(of, is_open, partition) end
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
  return table.concat(reply, ' '), advanced
end

local replies = {'OK'}
local key, index = 2 * shard_count + 1, 2 * shard_count + 4
for number = 1, shard_count do
  local shard, dirty = KEYS[2 * number - 1], KEYS[2 * number]
  for _ = 1, tonumber(ARGV[2 * number + 3]) do
    local offsets = KEYS[key + 2]
    local read = {}
    local function stored(partition)
      if not read[partition] then
        local offset, epoch = string.match(redis.call('HGET', offsets, partition), '^(%-?%d+)@(%d+)$')
        read[partition] = {offset = tonumber(offset), epoch = epoch}
      end
      return read[partition]
    end
    local of = {
      shard = shard,
      meta = KEYS[key],
      owner_of = reader(KEYS[key + 1]),
      session_of = reader(KEYS[key + 3]),
      stored = stored,
    }
    key = key + 4

    local subscription, commit_count = ARGV[index], tonumber(ARGV[index + 1])
    index = index + 2
    local is_notified = false
    for _ = 1, commit_count do
      local stream, is_elsewhere = ARGV[index], ARGV[index + 1] == '1'
      local last = index + 2 + 3 * tonumber(ARGV[index + 2])
      local reply, advanced = commit(of, stream, index + 3, last)
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
end
return replies
