-- Closes the sessions of nodes whose lease has ended, but not while nodes may still come back from an outage or a loss.
-- KEYS  shard, nodes, meta, owners, sessions
-- ARGV  incarnation, channel, origin
-- {'OK', count}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local shard, nodes, meta, owners, sessions = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now = milliseconds()
if is_recovering(meta) or tonumber(redis.call('HGET', shard, 'returnUntil') or '0') > now then return {'OK', '0'} end
local count = 0
local all = redis.call('HGETALL', sessions)
for index = 1, #all, 2 do
  local lease_until = tonumber(redis.call('HGET', nodes, cjson.decode(all[index + 1]).nodeId) or '0')
  if lease_until <= now and close_session(meta, owners, sessions, all[index], true) then count = count + 1 end
end
if count > 0 then
  increment_generation(meta)
  notify('topology')
end
return {'OK', format_integer(count)}
