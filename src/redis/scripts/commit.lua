-- Moves committed offsets forward. Session and owners are checked first: all or nothing. Then the cursors of each
-- partition are judged in order against the running maximum.
-- KEYS  shard, dirty, meta, owners, offsets, sessions
-- ARGV  incarnation, channel, origin, subscription, stream, then per cursor: place, fence or empty, offset
-- {'OK', per cursor the epoch it was committed in, or '0' when it was outdated}
-- | {'SESSION_NOT_FOUND'} | {'NOT_OWNER', place} | {'RECOVERING'}
local wrong = wrong_incarnation()
if wrong then return wrong end
local dirty, meta, owners, offsets, sessions = KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local stream = ARGV[5]

-- While nodes are still bringing back what they know, nobody is told that he lost what he may not have lost.
local function refuse(refusal)
  if is_recovering(meta) then return {'RECOVERING'} end
  return refusal
end

if redis.call('HEXISTS', sessions, stream) == 0 then return refuse({'SESSION_NOT_FOUND'}) end
local reached = {}
for index = 6, #ARGV, 3 do
  local place = ARGV[index]
  if not reached[place] then
    local written = redis.call('HGET', owners, place)
    if not written then return refuse({'NOT_OWNER', place}) end
    local owner = read_owner(written)
    if owner.stream ~= stream then return refuse({'NOT_OWNER', place}) end
    reached[place] = {fence = owner.fence, moved = false}
  end
  local fence = tonumber(ARGV[index + 1])
  if fence and fence ~= reached[place].fence then return refuse({'NOT_OWNER', place}) end
end

local answer = {'OK'}
local moved = false
for index = 6, #ARGV, 3 do
  local cursor = reached[ARGV[index]]
  if not cursor.epoch then
    cursor.offset, cursor.epoch = read_offset(redis.call('HGET', offsets, ARGV[index]))
  end
  local offset = tonumber(ARGV[index + 2])
  if offset > cursor.offset then
    cursor.offset = offset
    cursor.moved = true
    moved = true
    answer[#answer + 1] = text(cursor.epoch)
  else
    answer[#answer + 1] = '0'
  end
end
for place, cursor in pairs(reached) do
  if cursor.moved then
    local written = text(cursor.offset) .. '@' .. text(cursor.epoch)
    redis.call('HSET', offsets, place, written)
    redis.call('HSET', dirty, ARGV[4] .. '/' .. place, written)
  end
end
if moved then tell('offsets') end
return answer
