-- Makes a claim last longer, if this process still holds it.
-- KEYS  claim
-- ARGV  origin, milliseconds from now
-- {'OK', '1' when it holds the claim, otherwise '0'}
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'OK', '0'} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {'OK', '1'}
