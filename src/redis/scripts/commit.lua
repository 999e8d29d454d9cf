-- Moves committed offsets forward. Session and owners are checked first: all or nothing. Then the cursors of each
-- partition are judged in order against the highest one so far. A closed stream may commit what it owned last. A strict
-- session commits nothing beyond what it was sent.
-- KEYS  shard, dirty, meta, owners, offsets, sessions
-- ARGV  incarnation, channel, origin, subscription, stream, then per cursor: partition, fence or empty, offset
-- {'OK', per cursor the epoch in which it was committed, or '0' when it was outdated, 'HEARTBEAT' when it is one}
-- | {'SESSION_NOT_FOUND'} | {'NOT_OWNER', partition} | {'NOT_SENT', partition, offset} | {'RECOVERING'}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local dirty, meta, owners, offsets, sessions = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local stream = ARGV[5]

-- While nodes still restore what they know, no stream is refused because of a session that may come back.
local function refuse(refusal)
  if is_recovering(meta) then return {'RECOVERING'} end
  return refusal
end

local session = redis.call('HGET', sessions, stream)
local is_open = session ~= false
local counts_heartbeats = session and string.find(session, '"countsHeartbeats":true', 1, true)
local strict_session = session and string.find(session, '"sentOffsets"', 1, true) and cjson.decode(session)
if not is_open and #ARGV < 6 then return refuse({'SESSION_NOT_FOUND'}) end

local function refuse_partition(partition)
  return refuse(is_open and {'NOT_OWNER', partition} or {'SESSION_NOT_FOUND'})
end

local progress = {}
for index = 6, #ARGV, 3 do
  local partition, fence = ARGV[index], ARGV[index + 1]
  local cursor = progress[partition]
  if not cursor then
    local owner, current = string.match(redis.call('HGET', owners, partition) or '', '^%a|([^|]*)|[^|]*|(%d+)')
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
for index = 6, #ARGV, 3 do
  local partition, offset = ARGV[index], tonumber(ARGV[index + 2])
  local cursor = progress[partition]
  if not cursor.epoch then
    local current
    current, cursor.epoch = string.match(redis.call('HGET', offsets, partition), '^(%-?%d+)@(%d+)$')
    cursor.offset = tonumber(current)
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
    local encoded = format_integer(cursor.offset) .. '@' .. cursor.epoch
    redis.call('HSET', offsets, partition, encoded)
    redis.call('HSET', dirty, ARGV[4] .. '/' .. partition, encoded)
    advanced = true
  end
end
if not advanced and is_heartbeat then
  redis.call('HINCRBY', meta, 'beats/' .. stream, 1)
  reply[#reply + 1] = 'HEARTBEAT'
  advanced = true
end
if advanced then notify('offsets') end
return reply
