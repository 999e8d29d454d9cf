-- The owner hands a partition to its next stream, or to no stream.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, stream, partition, fence
-- {'RELEASED', new owner or empty, fence} | {'FENCED'}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local meta, owners, sessions = KEYS[2], KEYS[3], KEYS[4]
local stream, partition, fence = ARGV[4], ARGV[5], tonumber(ARGV[6])
local encoded = redis.call('HGET', owners, partition)
if not encoded then return {'FENCED'} end
local owner = read_owner(encoded)
if owner.stream ~= stream then return {'FENCED'} end
if owner.fence ~= fence then return {'FENCED'} end
owner = hand_over(owners, sessions, partition, owner)
increment_generation(meta)
notify('topology')
return {'RELEASED', owner.stream, format_integer(owner.fence)}
