-- Makes partitions known, unassigned, each with the offset to start behind. Those already known stay as they are.
-- KEYS  shard, dirty, meta, owners, offsets
-- ARGV  incarnation, channel, origin, subscription, then per partition: place, offset
-- {'OK', place, offset@epoch, ...} of those that were added
local wrong = wrong_incarnation()
if wrong then return wrong end
local dirty, meta, owners, offsets = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local answer = {'OK'}
for index = 5, #ARGV, 2 do
  local place = ARGV[index]
  if redis.call('HEXISTS', owners, place) == 0 then
    local written = ARGV[index + 1] .. '@' .. text(fresh())
    write_owner(owners, place, {state = 'U', stream = '', next_stream = '', fence = fresh()})
    redis.call('HSET', offsets, place, written)
    redis.call('HSET', dirty, ARGV[4] .. '/' .. place, written)
    answer[#answer + 1] = place
    answer[#answer + 1] = written
  end
end
if #answer > 1 then
  new_generation(meta)
  tell('topology')
end
return answer
