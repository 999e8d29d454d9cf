-- Moves committed offsets forward. Session and owners are checked first: all or nothing. Then the cursors of each
-- partition are judged in order against the running maximum. A stream that was closed may commit what it owned last.
-- KEYS  shard, dirty, meta, owners, offsets, sessions
-- ARGV  incarnation, channel, origin, subscription, stream, then per cursor: place, fence or empty, offset
-- {'OK', per cursor the epoch it was committed in, or '0' when it was outdated}
-- | {'SESSION_NOT_FOUND'} | {'NOT_OWNER', place} | {'RECOVERING'}
local wrong = wrong_incarnation()
if wrong then return wrong end
local dirty, meta, owners, offsets, sessions = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local stream = ARGV[5]

-- While nodes are still bringing back what they know, no stream is refused for what it may not have lost.
local function refuse(refusal)
  if is_recovering(meta) then return {'RECOVERING'} end
  return refusal
end

local is_open = redis.call('HEXISTS', sessions, stream) == 1
if not is_open and #ARGV < 6 then return refuse({'SESSION_NOT_FOUND'}) end

local function refuse_place(place)
  return refuse(is_open and {'NOT_OWNER', place} or {'SESSION_NOT_FOUND'})
end

local reached = {}
for index = 6, #ARGV, 3 do
  local place, fence = ARGV[index], ARGV[index + 1]
  local cursor = reached[place]
  if not cursor then
    local owner, present = string.match(redis.call('HGET', owners, place) or '', '^%a|([^|]*)|[^|]*|(%d+)|')
    if is_open then
      if owner ~= stream then return refuse_place(place) end
    elseif owner ~= '' or late_commit_fence(meta, place, stream) ~= present then
      return refuse_place(place)
    end
    cursor = {fence = present}
    reached[place] = cursor
  end
  if fence ~= '' and fence ~= cursor.fence then return refuse_place(place) end
end

local answer = {'OK'}
for index = 6, #ARGV, 3 do
  local place, offset = ARGV[index], tonumber(ARGV[index + 2])
  local cursor = reached[place]
  if not cursor.epoch then
    local present
    present, cursor.epoch = string.match(redis.call('HGET', offsets, place), '^(%-?%d+)@(%d+)$')
    cursor.offset = tonumber(present)
  end
  if offset > cursor.offset then
    cursor.offset = offset
    cursor.moved = true
    answer[#answer + 1] = cursor.epoch
  else
    answer[#answer + 1] = '0'
  end
end

local moved = false
for place, cursor in pairs(reached) do
  if cursor.moved then
    local written = text(cursor.offset) .. '@' .. cursor.epoch
    redis.call('HSET', offsets, place, written)
    redis.call('HSET', dirty, ARGV[4] .. '/' .. place, written)
    moved = true
  end
end
if moved then tell('offsets') end
return answer
