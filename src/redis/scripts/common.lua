-- What every script has at hand; the loader puts this in front of each.
--
-- Every script that serves a subscription takes first
--   KEYS[1]  the shard: hash of incarnation, floor, refill
--   ARGV[1]  the incarnation that the caller knows   ARGV[2]  channel of the subscription   ARGV[3]  origin
-- and answers a list. {'INCARNATION', found} means that this Redis does not hold what the caller believes it holds:
-- nothing was done, and the caller recovers before it asks again.
--
-- Time is the time of this Redis. Numbers are doubles, exact below 2^53, and always written by text().

local function microseconds()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function milliseconds()
  return math.floor(microseconds() / 1000)
end

-- Lua would write 1e+15 for what is a fence.
local function text(number)
  return string.format('%.0f', number)
end

-- A first generation, fence or epoch: microseconds since 1970, so it lies above everything that was ever counted up
-- from an earlier one, also by a Redis whose memory is gone.
local function fresh()
  local floor = tonumber(redis.call('HGET', KEYS[1], 'floor') or '0')
  return math.max(microseconds(), floor)
end

local function wrong_incarnation()
  local found = redis.call('HGET', KEYS[1], 'incarnation')
  if found ~= ARGV[1] then return {'INCARNATION', found or ''} end
end

local function tell(change)
  redis.call('PUBLISH', ARGV[2], ARGV[3] .. ' ' .. change)
end

-- Sessions or ownership have changed: a decision on the state before is made again.
local function new_generation(meta)
  local generation = redis.call('HGET', meta, 'generation')
  redis.call('HSET', meta, 'generation', text(generation and tonumber(generation) + 1 or fresh()))
end

local function is_resetting(meta)
  return tonumber(redis.call('HGET', meta, 'resetUntil') or '0') > milliseconds()
end

-- After a loss each node brings back what it knows; until then a session that is not here may still be open.
local function is_recovering(meta)
  return tonumber(redis.call('HGET', meta, 'recoverUntil') or '0') > milliseconds()
end

-- An owner is written state|stream|next|fence|: state U unassigned, A assigned, R reassigning. Earlier versions wrote
-- another number behind the fence.
local function read_owner(written)
  local state, stream, next_stream, fence = string.match(written, '^(%a)|([^|]*)|([^|]*)|(%d+)|')
  return {state = state, stream = stream, next_stream = next_stream, fence = tonumber(fence)}
end

local function write_owner(owners, place, owner)
  local written = table.concat({owner.state, owner.stream, owner.next_stream, text(owner.fence), ''}, '|')
  redis.call('HSET', owners, place, written)
end

-- The owner releases the partition: to the next stream where that is open, else to no stream.
local function hand_over(owners, sessions, place, owner)
  local next_stream = owner.state == 'R' and owner.next_stream or ''
  if next_stream ~= '' and redis.call('HEXISTS', sessions, next_stream) == 1 then
    owner = {state = 'A', stream = next_stream, next_stream = '', fence = owner.fence + 1}
  else
    owner = {state = 'U', stream = '', next_stream = '', fence = owner.fence}
  end
  write_owner(owners, place, owner)
  return owner
end

-- A session that closes as the owner of a partition that goes to no stream may still commit it for a while: as long
-- as its fence stays.
-- That is written in meta as closed/place -> stream|fence|end of the while.
local function close_session(meta, owners, sessions, stream, accepts_late_commits)
  local session = redis.call('HGET', sessions, stream)
  if not session then return false end
  redis.call('HDEL', sessions, stream)
  local commit_timeout = accepts_late_commits and cjson.decode(session).commitTimeoutMilliseconds or 0
  local all = redis.call('HGETALL', owners)
  for index = 1, #all, 2 do
    local place, owner = all[index], read_owner(all[index + 1])
    if owner.stream == stream then
      owner = hand_over(owners, sessions, place, owner)
      if owner.stream == '' and commit_timeout > 0 then
        local closed = table.concat({stream, text(owner.fence), text(milliseconds() + commit_timeout)}, '|')
        redis.call('HSET', meta, 'closed/' .. place, closed)
      end
    end
  end
  return true
end

-- The fence under which a stream that was closed may still commit the place, as it is written; nil when it may not.
local function late_commit_fence(meta, place, stream)
  local written = redis.call('HGET', meta, 'closed/' .. place) or ''
  local closed_stream, fence, commits_until = string.match(written, '^([^|]*)|(%d+)|(%d+)$')
  if closed_stream == stream and milliseconds() < tonumber(commits_until) then return fence end
end

-- A committed offset is written offset@epoch; the epoch grows with each reset of the partition.
local function read_offset(written)
  local offset, epoch = string.match(written, '^(%-?%d+)@(%d+)$')
  return tonumber(offset), tonumber(epoch)
end

local function is_newer(offset, epoch, than_offset, than_epoch)
  if epoch ~= than_epoch then return epoch > than_epoch end
  return offset > than_offset
end
