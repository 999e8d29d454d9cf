-- Sets offsets, in either direction, under new epochs, takes every partition from its owner under a new fence, and ends
-- the reset. Without offsets it only ends the reset.
-- KEYS  shard, dirty, meta, owners, offsets, sessions
-- ARGV  incarnation, channel, origin, subscription, then per partition: place, offset
-- {'OK', place, offset@epoch, ...} | {'LOST'} when the mark was lost and streams have opened since: they would undo it
local wrong = wrong_incarnation()
if wrong then return wrong end
local dirty, meta, owners, offsets = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
if #ARGV > 4 and not is_resetting(meta) and redis.call('HLEN', KEYS[6]) > 0 then return {'LOST'} end
local answer = {'OK'}
for index = 5, #ARGV, 2 do
  local place = ARGV[index]
  local epoch = fresh()
  local written = redis.call('HGET', offsets, place)
  if written then
    local _, present = read_offset(written)
    epoch = math.max(epoch, present + 1)
  else
    write_owner(owners, place, {state = 'U', stream = '', next_stream = '', fence = fresh()})
  end
  written = ARGV[index + 1] .. '@' .. text(epoch)
  redis.call('HSET', offsets, place, written)
  redis.call('HSET', dirty, ARGV[4] .. '/' .. place, written)
  answer[#answer + 1] = place
  answer[#answer + 1] = written
end
if #answer > 1 then
  local all = redis.call('HGETALL', owners)
  for index = 1, #all, 2 do
    local fence = read_owner(all[index + 1]).fence + 1
    write_owner(owners, all[index], {state = 'U', stream = '', next_stream = '', fence = fence})
  end
end
redis.call('HDEL', meta, 'resetUntil')
new_generation(meta)
tell('offsets')
tell('topology')
return answer
