-- Functions for all scripts. The loader puts this file in front of each script.
--
-- The first parameters of every script that serves a subscription are
--   KEYS[1]  the shard: hash of incarnation, floor, refill, recoverUntil
--   ARGV[1]  the incarnation that the caller knows   ARGV[2]  channel of the subscription   ARGV[3]  origin
-- The reply is a list. {'INCARNATION', found} means that this Redis does not have the data that the caller expects:
-- nothing was done, and the caller recovers before it tries again.
--
-- Time is the time of this Redis. Numbers are doubles, exact below 2^53, and always written by format_integer().

local function microseconds()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function milliseconds()
  return math.floor(microseconds() / 1000)
end

-- Lua itself would write a fence as 1e+15.
local function format_integer(number)
  return string.format('%.0f', number)
end

-- A first generation, fence or epoch: microseconds since 1970. So it is above every number that was counted up from an
-- earlier one, even by a Redis that has lost its data.
local function initial_number()
  local floor = tonumber(redis.call('HGET', KEYS[1], 'floor') or '0')
  return math.max(microseconds(), floor)
end

-- A script that serves several shards names each, and the incarnation that the caller knows of it.
local function incarnation_mismatch(shard, incarnation)
  local found = redis.call('HGET', shard or KEYS[1], 'incarnation')
  if found ~= (incarnation or ARGV[1]) then return {'INCARNATION', found or ''} end
end

-- A script that serves several subscriptions has the prefix of their channels, and names the subscription.
local function notify(change, subscription)
  redis.call('PUBLISH', ARGV[2] .. (subscription or ''), ARGV[3] .. ' ' .. change)
end

-- Counts what a check of the watched subscriptions of the shard may find.
local function count_change(shard)
  redis.call('HINCRBY', shard or KEYS[1], 'changes', 1)
end

-- Sessions or ownership have changed, so a decision on the earlier state is made again.
local function increment_generation(meta)
  count_change()
  local generation = redis.call('HGET', meta, 'generation')
  redis.call('HSET', meta, 'generation', format_integer(generation and tonumber(generation) + 1 or initial_number()))
end

local function is_resetting(meta)
  return tonumber(redis.call('HGET', meta, 'resetUntil') or '0') > milliseconds()
end

-- How long the nodes still have to restore what they know, after a refill.
local function recovery_milliseconds(shard)
  return math.max(0, tonumber(redis.call('HGET', shard or KEYS[1], 'recoverUntil') or '0') - milliseconds())
end

-- Until then, a session that is missing here may still be open, unless the subscription is newer than the refill.
local function is_recovering(meta, shard)
  return recovery_milliseconds(shard) > 0 and redis.call('HEXISTS', meta, 'refilled') == 1
end

-- An owner is encoded as state|stream|next|fence: state U unassigned, A assigned, R reassigning. After a failed delivery
-- |failures:first:through:one follows, the failure record of the partition: see record_failure.
local function read_owner(encoded)
  local state, stream, next_stream, fence, record = string.match(encoded, '^(%a)|([^|]*)|([^|]*)|(%d+)|?(.*)$')
  return {state = state, stream = stream, next_stream = next_stream, fence = tonumber(fence), record = record}
end

local function write_owner(owners, partition, owner)
  local encoded = table.concat({owner.state, owner.stream, owner.next_stream, format_integer(owner.fence)}, '|')
  if (owner.record or '') ~= '' then encoded = encoded .. '|' .. owner.record end
  redis.call('HSET', owners, partition, encoded)
end

-- The failure record after one more stream ended without the commit of the event at an offset: how many did in a row,
-- that offset, the last one to look at, and 1 when events up to it are delivered one by one. The port has this rule as
-- recordFailure.
local function record_failure(record, first, through, maximum)
  local known, known_first, known_through, one = string.match(record, '^(%d+):(%d+):(%d+):([01])$')
  local failures = known_first == first and tonumber(known) + 1 or 1
  if one == '1' and tonumber(first) <= tonumber(known_through) then
    through = known_through
  else
    one = '0'
    if known_first == first and tonumber(known_through) > tonumber(through) then through = known_through end
    if failures >= tonumber(maximum) then
      failures = 0
      one = '1'
    end
  end
  return table.concat({failures, first, through, one}, ':')
end

-- The owner releases the partition to the next stream when that is open, otherwise to no stream.
local function hand_over(owners, sessions, partition, owner)
  local next_stream = owner.state == 'R' and owner.next_stream or ''
  if next_stream ~= '' and redis.call('HEXISTS', sessions, next_stream) == 1 then
    owner = {state = 'A', stream = next_stream, next_stream = '', fence = owner.fence + 1, record = owner.record}
  else
    owner = {state = 'U', stream = '', next_stream = '', fence = owner.fence, record = owner.record}
  end
  write_owner(owners, partition, owner)
  return owner
end

-- The last offset of the partition that a session was sent; nil when its commits are not strict.
local function sent_through(session, partition)
  return session.sentOffsets and (session.sentOffsets[partition] or -1)
end

-- Writes a session in place of the one that is there, unless it comes late: what a strict session was sent only grows.
-- Returns whether it was written.
local function replace_session(sessions, stream, encoded, current)
  local incoming = cjson.decode(encoded)
  for partition, offset in pairs(cjson.decode(current).sentOffsets or {}) do
    if (sent_through(incoming, partition) or -1) < offset then return false end
  end
  redis.call('HSET', sessions, stream, encoded)
  return true
end

-- A session that closes as the owner of a partition without a next stream may still commit it until its commit timeout
-- has passed, as long as the fence stays. meta has this as closed/partition -> stream|fence|end of that time, followed
-- by |the last offset that it was sent when its commits are strict.
-- failed_deliveries, where given, has what was not committed, by partition.
local function close_session(meta, owners, sessions, stream, accepts_late_commits, failed_deliveries)
  local encoded = redis.call('HGET', sessions, stream)
  if not encoded then return false end
  redis.call('HDEL', sessions, stream)
  redis.call('HDEL', meta, 'beats/' .. stream)
  local session = cjson.decode(encoded)
  local commit_timeout = accepts_late_commits and session.commitTimeoutMilliseconds or 0
  local all = redis.call('HGETALL', owners)
  for index = 1, #all, 2 do
    local partition, owner = all[index], read_owner(all[index + 1])
    if owner.stream == stream then
      local failed = failed_deliveries and failed_deliveries[partition]
      if failed then owner.record = record_failure(owner.record, failed.first, failed.through, failed.maximum) end
      owner = hand_over(owners, sessions, partition, owner)
      if owner.stream == '' and commit_timeout > 0 then
        local commits_until = format_integer(milliseconds() + commit_timeout)
        local closed = table.concat({stream, format_integer(owner.fence), commits_until}, '|')
        local sent = sent_through(session, partition)
        if sent then closed = closed .. '|' .. format_integer(sent) end
        redis.call('HSET', meta, 'closed/' .. partition, closed)
      end
    end
  end
  return true
end

-- The encoded fence under which a closed stream may still commit the partition, nil when it may not, and the last
-- offset that it was sent when its commits are strict.
local function late_commit_fence(meta, partition, stream)
  local encoded = redis.call('HGET', meta, 'closed/' .. partition) or ''
  local closed_stream, fence, commits_until, sent = string.match(encoded, '^([^|]*)|(%d+)|(%d+)|?(%-?%d*)$')
  if closed_stream == stream and milliseconds() < tonumber(commits_until) then return fence, tonumber(sent) end
end

-- A committed offset is encoded as offset@epoch. The epoch grows with each reset of the partition.
local function read_offset(encoded)
  local offset, epoch = string.match(encoded, '^(%-?%d+)@(%d+)$')
  return tonumber(offset), tonumber(epoch)
end

local function is_newer(offset, epoch, than_offset, than_epoch)
  if epoch ~= than_epoch then return epoch > than_epoch end
  return offset > than_offset
end
