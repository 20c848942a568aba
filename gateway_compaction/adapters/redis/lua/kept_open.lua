-- Reads a kept conversation and takes the lease on it, so that one call at a time goes on with it.
--
-- Returns {status, fields, session}: "none" where there is no such conversation, "busy" where another call holds
-- the lease, "open" else; then all fields and values, and what read_session returns: the call needs both, and
-- pays for one round trip. A session of very many compactions is left out; it is asked for once its digests are
-- known. Without atomicity two calls could both find the conversation free, and the second would answer without
-- knowing what the first was told.
--
-- KEYS  1 kept  2 compactions  3 claims  4 session
-- ARGV  1 token of the lease, or empty to read without one
--       2 length of the lease, ms
--       3 time to live of a conversation that begins with this call, ms; empty to begin none
--       4 most compactions of a session that is read with it

if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[3] == '' then return {'none', {}, {}} end
  redis.call('HSET', KEYS[1], 'v', 1, 'created', time[1], 'begun', moment)
  redis.call('HSET', KEYS[1], 'version', 0, 'head', 0, 'count', 0, 'size', 0)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
if ARGV[1] ~= '' then
  local lease = redis.call('HGET', KEYS[1], 'lease') or ''
  local deadline = tonumber(string.match(lease, ':(%d+)$')) or 0
  if deadline > now and string.match(lease, '^[^:]*') ~= ARGV[1] then return {'busy', {}, {}} end
  redis.call('HSET', KEYS[1], 'lease', ARGV[1] .. ':' .. string.format('%.0f', now + ARGV[2]))
end
local known = {}
if redis.call('HLEN', KEYS[2]) <= tonumber(ARGV[4]) then known = read_session(KEYS[2], KEYS[3], KEYS[4]) end
return {'open', redis.call('HGETALL', KEYS[1]), known}
