-- Offsets written to the mirror are no longer dirty, unless they have changed since. Where the writer was late and the
-- mirror must be written again, the reply has the current value. Where this Redis is behind the mirror, it has lost that
-- commit, and takes it back.
-- KEYS  shard, dirty, then the offsets of each subscription
-- ARGV  incarnation, channel, origin, then per record: index of the offsets among these, partition, dirty member,
--       the written value: offset@epoch, or - for a removal
-- {'OK', dirty member, offset@epoch or -, ...}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local dirty = KEYS[2]
local reply = {'OK'}
for index = 4, #ARGV, 4 do
  local offsets = KEYS[2 + tonumber(ARGV[index])]
  local partition, member, mirrored = ARGV[index + 1], ARGV[index + 2], ARGV[index + 3]
  local current = redis.call('HGET', offsets, partition) or '-'
  if current == mirrored then
    if redis.call('HGET', dirty, member) == mirrored then redis.call('HDEL', dirty, member) end
  else
    local is_mirror_behind = current == '-' or mirrored == '-'
    if not is_mirror_behind then
      local offset, epoch = read_offset(current)
      local mirrored_offset, mirrored_epoch = read_offset(mirrored)
      is_mirror_behind = is_newer(offset, epoch, mirrored_offset, mirrored_epoch)
      if not is_mirror_behind then redis.call('HSET', offsets, partition, mirrored) end
    end
    if is_mirror_behind then
      reply[#reply + 1] = member
      reply[#reply + 1] = current
    end
  end
end
return reply
