-- What one request can use of a session; writes nothing.
-- KEYS  compactions, claims, session
-- ARGV  1 the first 16 characters of every digest, each between line feeds
-- Short names, and a search instead of a table: a long conversation has thousands of digests, its session
-- a few records. The caller compares the whole digest.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local fits = {}
for _, digest in ipairs(redis.call('HKEYS', KEYS[1])) do
  if string.find(ARGV[1], '\n' .. string.sub(digest, 1, 16) .. '\n', 1, true) then
    fits[#fits + 1] = digest
    fits[#fits + 1] = redis.call('HGET', KEYS[1], digest)
  end
end

local leased = {}
local claims = redis.call('HGETALL', KEYS[2])
for i = 1, #claims, 2 do
  local deadline = tonumber(string.match(claims[i + 1], ':(%d+)$')) or 0
  if deadline > now then leased[#leased + 1] = claims[i] end
end

local function reason(name)
  local deadline = tonumber(redis.call('HGET', KEYS[3], name .. '_until') or 0) or 0
  if deadline <= now then return '' end
  return redis.call('HGET', KEYS[3], name .. '_reason') or 'unspecified'
end

return {fits, leased, reason('bypass'), reason('backoff'), redis.call('HGET', KEYS[3], 'unused') or '0'}
