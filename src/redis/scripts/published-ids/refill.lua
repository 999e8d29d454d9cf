-- Adds the ids of events that the log has. An id that is here already gets the time of a later copy, and keeps its own
-- otherwise, as does a claim: one that a later copy replaces was stored.
-- KEYS  shard, ids
-- ARGV  incarnation, channel, origin, milliseconds to keep the key, token, step, ...
--       begin
--       add, most ids, id, score, ...: the oldest ones beyond that number are removed
--       finish, the time after which every event is here
-- {'OK', how old this incarnation is, in milliseconds} | {'LOST'} when the token is missing: begin again
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local ids, token, step = KEYS[2], '?' .. ARGV[5], ARGV[6]
if step == 'begin' then
  redis.call('ZADD', ids, -1, token)
elseif not redis.call('ZSCORE', ids, token) then
  return {'LOST'}
elseif step == 'add' then
  for argument = 8, #ARGV, 2 do redis.call('ZADD', ids, 'GT', ARGV[argument + 1], ARGV[argument]) end
  local surplus = redis.call('ZCOUNT', ids, 0, '+inf') - tonumber(ARGV[7])
  if surplus > 0 then
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', ids, 0, '+inf', 'LIMIT', 0, surplus)) do
      redis.call('ZREM', ids, id)
    end
  end
else
  redis.call('ZREMRANGEBYSCORE', ids, '-inf', '(0')
  redis.call('ZADD', ids, format_integer(-tonumber(ARGV[7])), '!' .. ARGV[1])
end
redis.call('PEXPIRE', ids, ARGV[4])
return {'OK', format_integer(math.floor((microseconds() - tonumber(ARGV[1])) / 1000))}
