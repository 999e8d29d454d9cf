-- Sets offsets, in either direction, under new epochs. Takes every partition from its owner under a new fence and ends
-- the reset. The fence of a partition that it moves is not below the new epoch: refill/merge knows by that which owners
-- are from before. Without offsets it only ends the reset.
-- KEYS  shard, dirty, meta, owners, offsets, sessions
-- ARGV  incarnation, channel, origin, subscription, number of the reset, then per partition: partition, offset
-- {'OK', partition, offset@epoch, ...} | {'LOST'} when its mark was lost, and streams have opened since, which would
-- undo the reset, or another reset is in progress
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local dirty, meta, owners, offsets = KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local resetting = is_resetting(meta)
if not resetting or redis.call('HGET', meta, 'resetBy') ~= ARGV[3] .. '/' .. ARGV[5] then
  if #ARGV == 5 then return {'OK'} end
  if resetting or redis.call('HLEN', KEYS[6]) > 0 then return {'LOST'} end
end
local reply = {'OK'}
local epochs = {}
for index = 6, #ARGV, 2 do
  local partition = ARGV[index]
  local epoch = initial_number()
  local encoded = redis.call('HGET', offsets, partition)
  if encoded then
    local _, current = read_offset(encoded)
    epoch = math.max(epoch, current + 1)
  else
    write_owner(owners, partition, {state = 'U', stream = '', next_stream = '', fence = initial_number()})
  end
  epochs[partition] = epoch
  encoded = ARGV[index + 1] .. '@' .. format_integer(epoch)
  redis.call('HSET', offsets, partition, encoded)
  redis.call('HSET', dirty, ARGV[4] .. '/' .. partition, encoded)
  reply[#reply + 1] = partition
  reply[#reply + 1] = encoded
end
if #reply > 1 then
  local all = redis.call('HGETALL', owners)
  for index = 1, #all, 2 do
    local fence = math.max(read_owner(all[index + 1]).fence + 1, epochs[all[index]] or 0)
    write_owner(owners, all[index], {state = 'U', stream = '', next_stream = '', fence = fence})
  end
end
redis.call('HDEL', meta, 'resetUntil', 'resetBy')
increment_generation(meta)
notify('offsets')
notify('topology')
return reply
