-- Gives a claim back, if it is still this process's.
-- KEYS  claim
-- ARGV  origin
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return {'OK'}
