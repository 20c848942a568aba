-- Reads what one request can use of a session. Writes nothing.
--
-- Returns {fits, leased, bypass, backoff, controls, told, snapped}: digests and records of the compactions that fit,
-- one after the other; digests that are being summarised; why the session is bypassed and why it backs off, or empty;
-- its generation, pins, compact, rebuild and rate; what its client told of its work, and the second of its last
-- snapshot, or empty. A session that does not exist has the generation "+" and the moment.
-- Without atomicity a request could take records from before an operator's action and the generation from after
-- it, and what it decides would be written as if it knew of the action.
--
-- KEYS  1 compactions  2 claims  3 session
-- ARGV  1 the first 16 characters of every digest of the request, each between line feeds

-- Short names, and a search instead of a table: a long conversation has thousands of digests, its session
-- a few records. The caller compares the whole digest.
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

local names = {'bypass_until', 'bypass_reason', 'backoff_until', 'backoff_reason', 'told', 'snapped'}
local known = redis.call('HMGET', KEYS[3], 'generation', 'pins', 'compact', 'rebuild', 'rate', unpack(names))
local function reason(i)
  local deadline = tonumber(known[i] or 0) or 0
  return deadline > now and (known[i + 1] or 'unspecified') or ''
end
local controls = {known[1] or '+' .. moment, known[2] or '', known[3] or '', known[4] or '', known[5] or ''}
return {fits, leased, reason(6), reason(8), controls, known[10] or '', known[11] or ''}
