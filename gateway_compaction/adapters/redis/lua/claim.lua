-- Leases the right to summarise one digest, so that of many replicas only one pays for a summary.
--
-- Returns the fencing token, greater than every earlier one of the session; 0 where one of the digests is leased or
-- has a model summary, where the session backs off, or where the generation has changed. Without atomicity two
-- processes could both find the digest free, and both summarise it.
--
-- KEYS  1 compactions  2 claims  3 session
-- ARGV  1 digest
--       2 the request's other digests, each between line feeds: a summary of one of them that was stored meanwhile
--         stands for much of the same messages
--       3 length of the lease, ms
--       4 least time to live of claims and session, ms
--       5 how a record of today's schema begins
--       6 generation, or empty where it is not compared

if is_void(KEYS[3], ARGV[6]) then return 0 end
local claims = redis.call('HGETALL', KEYS[2])
for i = 1, #claims, 2 do
  local deadline = tonumber(string.match(claims[i + 1], ':(%d+)$')) or 0
  if deadline <= now then
    redis.call('HDEL', KEYS[2], claims[i])
  elseif claims[i] == ARGV[1] or string.find(ARGV[2], '\n' .. claims[i] .. '\n', 1, true) then
    return 0
  end
end

-- What nobody can read keeps nobody out: of another schema, under another key, cut off, or no summary at all.
local function is_summary(record)
  if string.sub(record, 1, #ARGV[5]) ~= ARGV[5] then return false end
  local readable, told = pcall(cjson.decode, record)
  return readable and told.kind == 'model' and type(told.segments) == 'table' and type(told.covers) == 'number'
end
for _, digest in ipairs(redis.call('HKEYS', KEYS[1])) do
  local is_asked = digest == ARGV[1] or string.find(ARGV[2], '\n' .. digest .. '\n', 1, true)
  if is_asked and is_summary(redis.call('HGET', KEYS[1], digest)) then return 0 end
end
if (tonumber(redis.call('HGET', KEYS[3], 'backoff_until') or 0) or 0) > now then return 0 end

-- Never below the clock: a session that expired or was evicted must not hand out an old token again.
local token = math.max((tonumber(redis.call('HGET', KEYS[3], 'fence') or 0) or 0) + 1, now)
local shown = string.format('%.0f', token)
begin_session(KEYS[3])
redis.call('HSET', KEYS[3], 'fence', shown)
redis.call('HSET', KEYS[2], ARGV[1], shown .. ':' .. string.format('%.0f', now + ARGV[3]))
for i = 2, 3 do extend_life(KEYS[i], ARGV[4]) end
return token
