-- What was written to the mirror is no longer dirty, unless it has changed since. Where the mirror must be written
-- again because the writer came late, the value that belongs there is answered. Where this Redis is behind the mirror,
-- it has lost that commit, and gets it back.
-- KEYS  shard, dirty, then the offsets of each subscription
-- ARGV  incarnation, channel, origin, then per record: index of the offsets among these, place, dirty member,
--       what was written: offset@epoch, or - for a removal
-- {'OK', dirty member, offset@epoch or -, ...}
local wrong = wrong_incarnation()
if wrong then return wrong end
local dirty = KEYS[2]
local answer = {'OK'}
for index = 4, #ARGV, 4 do
  local offsets = KEYS[2 + tonumber(ARGV[index])]
  local place, member, written = ARGV[index + 1], ARGV[index + 2], ARGV[index + 3]
  local present = redis.call('HGET', offsets, place) or '-'
  if present == written then
    if redis.call('HGET', dirty, member) == written then redis.call('HDEL', dirty, member) end
  else
    local is_behind = present == '-' or written == '-'
    if not is_behind then
      local offset, epoch = read_offset(present)
      local written_offset, written_epoch = read_offset(written)
      is_behind = is_newer(offset, epoch, written_offset, written_epoch)
      if not is_behind then redis.call('HSET', offsets, place, written) end
    end
    if is_behind then
      answer[#answer + 1] = member
      answer[#answer + 1] = present
    end
  end
end
return answer
