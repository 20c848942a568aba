-- Stores a compaction, gives it its version, and drops what the session holds too many of.
--
-- Returns the version, or 0 where it was refused: the lease is not this token's any more, a better record is
-- there, or the generation has changed. Without atomicity a worker that lost its lease could overwrite a newer
-- summary, and two records could get the same version.
--
-- KEYS  1 compactions  2 used  3 claims  4 session
-- ARGV  1 digest
--       2 the record: JSON up to the number of its version, which stands last
--       3 kind: "cleared", "extractive" or "model"
--       4 digest of its parent, or empty
--       5 fencing token, or empty where nobody claimed
--       6 most records of the session
--       7 most records along one line of parents
--       8 time to live, ms
--       9 generation, or empty where it is not compared

if is_void(KEYS[4], ARGV[9]) then return 0 end
local rank = {cleared = 0, extractive = 1, model = 2}
if ARGV[5] ~= '' then
  local held = redis.call('HGET', KEYS[3], ARGV[1])
  if not held or string.match(held, '^(%d+):') ~= ARGV[5] then return 0 end
  redis.call('HDEL', KEYS[3], ARGV[1])
end
local old = redis.call('HGET', KEYS[1], ARGV[1]) or ''
-- A record of another schema begins otherwise; nobody can use it, so it keeps nobody out.
local readable = string.match(old, '^[^,]*') == string.match(ARGV[2], '^[^,]*')
local better = (readable and rank[string.match(old, '"kind":"(%l+)"') or ''] or -1) - rank[ARGV[3]]
if better > 0 or (better == 0 and ARGV[5] == '') then return 0 end
begin_session(KEYS[4])
local version = count_up(KEYS[4], 'version', 1)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. version .. '}')
redis.call('ZADD', KEYS[2], moment, ARGV[1])
redis.call('HSET', KEYS[4], 'seen', time[1])
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[4], 'failures', 0)
  redis.call('HDEL', KEYS[4], 'rebuild')
end
local function drop(digest)
  redis.call('ZREM', KEYS[2], digest)
  return redis.call('HDEL', KEYS[1], digest)
end
local length, ancestor = 1, ARGV[4]
while ancestor and ancestor ~= '' and ancestor ~= ARGV[1] do
  local record = redis.call('HGET', KEYS[1], ancestor)
  length = length + 1
  if length > tonumber(ARGV[7]) then drop(ancestor) end
  ancestor = record and string.match(record, '"parent":"([^"]+)"')
end

local extra = redis.call('HLEN', KEYS[1]) - ARGV[6]
if extra > 0 then
  -- The server may have evicted the times alone: what has none counts as the oldest.
  for _, digest in ipairs(redis.call('HKEYS', KEYS[1])) do redis.call('ZADD', KEYS[2], 'NX', 0, digest) end
  for _, digest in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
    if extra > 0 and digest ~= ARGV[1] then extra = extra - drop(digest) end
  end
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[8]) end
return version
