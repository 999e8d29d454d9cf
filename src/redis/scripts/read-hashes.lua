-- All fields of hashes. Nothing is decided, so no incarnation is compared.
-- KEYS  any number of hashes
-- {{field, value, ...}, ...}, one for each key
local reply = {}
for index = 1, #KEYS do reply[index] = redis.call('HGETALL', KEYS[index]) end
return reply
