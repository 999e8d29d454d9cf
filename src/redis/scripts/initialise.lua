-- Registers partitions, unassigned, each with the offset to start after. Known partitions stay unchanged.
-- KEYS  shard, dirty, meta, owners, offsets
-- ARGV  incarnation, channel, origin, subscription, then per partition: partition, offset
-- {'OK', partition, offset@epoch, ...} of the added ones
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local dirty, meta, owners, offsets = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local reply = {'OK'}
for index = 5, #ARGV, 2 do
  local partition = ARGV[index]
  if redis.call('HEXISTS', owners, partition) == 0 then
    local encoded = ARGV[index + 1] .. '@' .. format_integer(initial_number())
    write_owner(owners, partition, {state = 'U', stream = '', next_stream = '', fence = initial_number()})
    redis.call('HSET', offsets, partition, encoded)
    redis.call('HSET', dirty, ARGV[4] .. '/' .. partition, encoded)
    reply[#reply + 1] = partition
    reply[#reply + 1] = encoded
  end
end
if #reply > 1 then
  increment_generation(meta)
  notify('topology')
end
return reply
