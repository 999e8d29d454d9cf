-- Releases a claim, if this process still holds it.
-- KEYS  claim
-- ARGV  origin
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return {'OK'}
