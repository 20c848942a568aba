-- Reads what one request can use of a session: the function of load.lua and kept_open.lua, before which this
-- file stands.
--
-- Returns {fits, leased, bypass, backoff, controls, told, snapped}: digests and records of compactions, one after
-- the other; digests that are being summarised; why the session is bypassed and why it backs off, or empty;
-- its generation, pins, compact, rebuild and rate; what its client told of its work, and the second of its last
-- snapshot, or empty. A session that does not exist has the generation "+" and the moment.
-- Without atomicity a request could take records from before an operator's action and the generation from after
-- it, and what it decides would be written as if it knew of the action.
--
-- "names" are the first 16 characters of every digest of the request, each between line feeds; nil where the
-- request's digests are not known yet: then all records are returned.
local function read_session(compactions, claims, session, names)
  -- Short names, and a search instead of a table: a long conversation has thousands of digests, its session
  -- a few records. The caller compares the whole digest.
  local fits = {}
  if names then
    for _, digest in ipairs(redis.call('HKEYS', compactions)) do
      if string.find(names, '\n' .. string.sub(digest, 1, 16) .. '\n', 1, true) then
        fits[#fits + 1] = digest
        fits[#fits + 1] = redis.call('HGET', compactions, digest)
      end
    end
  else
    fits = redis.call('HGETALL', compactions)
  end

  local leased = {}
  local all = redis.call('HGETALL', claims)
  for i = 1, #all, 2 do
    local deadline = tonumber(string.match(all[i + 1], ':(%d+)$')) or 0
    if deadline > now then leased[#leased + 1] = all[i] end
  end

  local fields = {'bypass_until', 'bypass_reason', 'backoff_until', 'backoff_reason', 'told', 'snapped'}
  local known = redis.call('HMGET', session, 'generation', 'pins', 'compact', 'rebuild', 'rate', unpack(fields))
  local function reason(i)
    local deadline = tonumber(known[i] or 0) or 0
    return deadline > now and (known[i + 1] or 'unspecified') or ''
  end
  local controls = {known[1] or '+' .. moment, known[2] or '', known[3] or '', known[4] or '', known[5] or ''}
  return {fits, leased, reason(6), reason(8), controls, known[10] or '', known[11] or ''}
end

