-- Checks the subscriptions of one shard that a process watches: closes the sessions of nodes whose lease has ended, as
-- reap-sessions does, and returns the generation of each subscription.
-- KEYS  shard, nodes, then per subscription: meta, owners, sessions
-- ARGV  incarnation, prefix of the channels, origin, '1' when sessions may be closed, then each node of this process,
--       which is alive even if its lease has ended, then the id of each subscription
-- {'OK', per subscription the generation, '0' for an unknown one}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local shard, nodes = KEYS[1], KEYS[2]
local now = milliseconds()
local subscription_count = (#KEYS - 2) / 3
local first_id = #ARGV - subscription_count + 1
local may_close = ARGV[4] == '1' and tonumber(redis.call('HGET', shard, 'returnUntil') or '0') <= now

local alive = {}
if may_close then
  local leases = redis.call('HGETALL', nodes)
  for index = 1, #leases, 2 do alive[leases[index]] = tonumber(leases[index + 1]) > now end
  for index = 5, first_id - 1 do alive[ARGV[index]] = true end
end

local function close_dead_sessions(meta, owners, sessions)
  local count = 0
  local all = redis.call('HGETALL', sessions)
  for index = 1, #all, 2 do
    local is_alive = alive[cjson.decode(all[index + 1]).nodeId]
    if not is_alive and close_session(meta, owners, sessions, all[index], true) then count = count + 1 end
  end
  return count
end

local reply = {'OK'}
for number = 0, subscription_count - 1 do
  local meta, owners, sessions = KEYS[3 + number * 3], KEYS[4 + number * 3], KEYS[5 + number * 3]
  if may_close and not is_recovering(meta) and close_dead_sessions(meta, owners, sessions) > 0 then
    increment_generation(meta)
    redis.call('PUBLISH', ARGV[2] .. ARGV[first_id + number], ARGV[3] .. ' topology')
  end
  reply[#reply + 1] = redis.call('HGET', meta, 'generation') or '0'
end
return reply
