-- The owner hands a partition to its next stream, or to no stream.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, stream, place, fence
-- {'RELEASED', owner now or empty, fence} | {'FENCED'}
local wrong = wrong_incarnation()
if wrong then return wrong end
local meta, owners, sessions = KEYS[2], KEYS[3], KEYS[4]
local stream, place, fence = ARGV[4], ARGV[5], tonumber(ARGV[6])
local written = redis.call('HGET', owners, place)
if not written then return {'FENCED'} end
local owner = read_owner(written)
if owner.stream ~= stream then return {'FENCED'} end
if owner.fence ~= fence then return {'FENCED'} end
owner = hand_over(owners, sessions, place, owner)
new_generation(meta)
tell('topology')
return {'RELEASED', owner.stream, text(owner.fence)}
