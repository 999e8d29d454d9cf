-- Deletes a subscription. The floor keeps every new number of this shard above the numbers of the subscription. For a
-- while the shard stores that all lower epochs are gone, because a process may have read the mirror before.
-- KEYS  shard, dirty, meta, owners, offsets, sessions, removed, commits, ends, places
-- ARGV  incarnation, channel, origin, subscription, milliseconds to store that
-- {'OK', partition, ...} of the subscription
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local shard, dirty, meta, owners, offsets, sessions = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local floor = math.max(
  tonumber(redis.call('HGET', shard, 'floor') or '0'),
  tonumber(redis.call('HGET', meta, 'generation') or '0') + 1)
for _, encoded in ipairs(redis.call('HVALS', owners)) do floor = math.max(floor, read_owner(encoded).fence + 1) end
local reply = {'OK'}
local all = redis.call('HGETALL', offsets)
for index = 1, #all, 2 do
  local _, epoch = read_offset(all[index + 1])
  floor = math.max(floor, epoch + 1)
  redis.call('HSET', dirty, ARGV[4] .. '/' .. all[index], '-')
  reply[#reply + 1] = all[index]
end
redis.call('HSET', shard, 'floor', format_integer(floor))
redis.call('DEL', meta, owners, offsets, sessions, KEYS[8], KEYS[9], KEYS[10])
redis.call('SET', KEYS[7], format_integer(floor), 'PX', ARGV[5])
count_change()
notify('removed')
return reply
