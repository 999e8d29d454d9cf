-- Compare-and-set of ownership. Applies all changes, or none when the generation differs, when a named stream is not
-- open, or when an open owner would lose its partition.
-- KEYS  shard, meta, owners, sessions
-- ARGV  incarnation, channel, origin, generation, then per change: partition, state A or R, stream, next stream or empty
-- {'APPLIED'} | {'CONFLICT'}
local mismatch = incarnation_mismatch()
if mismatch then return mismatch end
local meta, owners, sessions = KEYS[2], KEYS[3], KEYS[4]
if (redis.call('HGET', meta, 'generation') or '0') ~= ARGV[4] then return {'CONFLICT'} end

local function is_open(stream)
  return stream ~= '' and redis.call('HEXISTS', sessions, stream) == 1
end

local recovering = is_recovering(meta)
local changes = {}
for index = 5, #ARGV, 4 do
  local partition, state, stream, next_stream = ARGV[index], ARGV[index + 1], ARGV[index + 2], ARGV[index + 3]
  local encoded = redis.call('HGET', owners, partition)
  if not encoded or not is_open(stream) then return {'CONFLICT'} end
  local owner = read_owner(encoded)
  local is_owner = owner.stream == stream
  if state == 'R' then
    if not is_owner or not is_open(next_stream) then return {'CONFLICT'} end
  elseif not is_owner then
    if is_open(owner.stream) then return {'CONFLICT'} end
    -- The owner may be open on a node that has not come back yet.
    if recovering then return {'CONFLICT'} end
  end
  local fence = is_owner and owner.fence or owner.fence + 1
  local changed = {state = state, stream = stream, next_stream = next_stream, fence = fence, record = owner.record}
  changes[#changes + 1] = {partition, changed}
end
for _, change in ipairs(changes) do write_owner(owners, change[1], change[2]) end
if #changes > 0 then
  increment_generation(meta)
  notify('topology')
end
return {'APPLIED'}
