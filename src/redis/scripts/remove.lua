-- Deletes a subscription. The floor keeps every new count of this shard above the counts that it had. For a while the
-- shard knows that all below is gone, because a process may have read the mirror before.
-- KEYS  shard, dirty, meta, owners, offsets, sessions, removed, commits, ends
-- ARGV  incarnation, channel, origin, subscription, milliseconds to know it
-- {'OK', place, ...} that it had
local wrong = wrong_incarnation()
if wrong then return wrong end
local shard, dirty, meta, owners, offsets, sessions = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local floor = math.max(
  tonumber(redis.call('HGET', shard, 'floor') or '0'),
  tonumber(redis.call('HGET', meta, 'generation') or '0') + 1)
for _, written in ipairs(redis.call('HVALS', owners)) do floor = math.max(floor, read_owner(written).fence + 1) end
local answer = {'OK'}
local all = redis.call('HGETALL', offsets)
for index = 1, #all, 2 do
  local _, epoch = read_offset(all[index + 1])
  floor = math.max(floor, epoch + 1)
  redis.call('HSET', dirty, ARGV[4] .. '/' .. all[index], '-')
  answer[#answer + 1] = all[index]
end
redis.call('HSET', shard, 'floor', text(floor))
redis.call('DEL', meta, owners, offsets, sessions, KEYS[8], KEYS[9])
redis.call('SET', KEYS[7], text(floor), 'PX', ARGV[5])
tell('removed')
return answer
