-- Claims the ids of events that are about to be appended, all that were not stored within the window, or none.
--
-- A score has the time in milliseconds, a bit that is 1 once the event is stored, and ten bits of its partition: it is
-- below 2^53 until 2109. Scores below zero are no ids: !<incarnation> -> minus the time after which every event in the
-- window is here, ?<token> of a refill. An id is within the window when it is younger than it.
-- KEYS  shard, ids
-- ARGV  incarnation, channel, origin, now, window, most ids, milliseconds to keep the key, id, partition, ...
-- {'OK', index of a stored id, partition, ...} | {'CLAIMED', index, score, ...} by others: nothing was claimed
-- | {'FULL'} | {'INCOMPLETE'} when the ids must be read from the log first
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local ids, now, window = KEYS[2], tonumber(ARGV[4]), tonumber(ARGV[5])
local threshold = now - window
local complete = redis.call('ZSCORE', ids, '!' .. ARGV[1])
if not complete or -tonumber(complete) > threshold then return {'INCOMPLETE'} end

-- A few at a time: Redis does nothing else meanwhile. More leave than come.
local first_inside = format_integer((threshold + 1) * 2048)
local old = redis.call('ZRANGEBYSCORE', ids, '0', '(' .. first_inside, 'LIMIT', 0, 1000 + #ARGV)
for first = 1, #old, 1000 do
  redis.call('ZREM', ids, unpack(old, first, math.min(first + 999, #old)))
end
if #old > 0 and threshold > -tonumber(complete) then
  redis.call('ZADD', ids, format_integer(-threshold), '!' .. ARGV[1])
end

local stored, claimed, new = {'OK'}, {'CLAIMED'}, {}
for argument = 8, #ARGV, 2 do
  local score = redis.call('ZSCORE', ids, ARGV[argument])
  local number = score and tonumber(score)
  local index = tostring((argument - 8) / 2)
  if not number or number < tonumber(first_inside) then
    table.insert(new, format_integer(now * 2048 + tonumber(ARGV[argument + 1])))
    table.insert(new, ARGV[argument])
  elseif math.floor(number / 1024) % 2 == 1 then
    table.insert(stored, index)
    table.insert(stored, tostring(number % 1024))
  else
    table.insert(claimed, index)
    table.insert(claimed, format_integer(number))
  end
end
if #claimed > 1 then return claimed end
local count = redis.call('ZCOUNT', ids, first_inside, '+inf')
if count + #new / 2 > tonumber(ARGV[6]) then return {'FULL'} end
for first = 1, #new, 1000 do
  redis.call('ZADD', ids, unpack(new, first, math.min(first + 999, #new)))
end
redis.call('PEXPIRE', ids, ARGV[7])
return stored
