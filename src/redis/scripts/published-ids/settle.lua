-- Ends claims. An id that is claimed by others by now, or stored, stays as it is.
-- KEYS  shard, ids
-- ARGV  incarnation, channel, origin, milliseconds to keep the key, id, score of the claim, 1 when the event is stored, ...
-- {'OK'}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local ids = KEYS[2]
for argument = 5, #ARGV, 3 do
  local id, claim = ARGV[argument], tonumber(ARGV[argument + 1])
  local score = redis.call('ZSCORE', ids, id)
  if not score or tonumber(score) == claim then
    if ARGV[argument + 2] == '1' then redis.call('ZADD', ids, format_integer(claim + 1024), id)
    elseif score then redis.call('ZREM', ids, id) end
  end
end
redis.call('PEXPIRE', ids, ARGV[4])
return {'OK'}
