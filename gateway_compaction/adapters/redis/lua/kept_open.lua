-- Reads a kept conversation and takes the lease on it, so that one call at a time goes on with it.
--
-- Returns {status, fields}: "none" where there is no such conversation, "busy" where another call holds the
-- lease, "open" else; then all fields and values. Without atomicity two calls could both find it free, and
-- the second would answer without knowing what the first was told.
--
-- KEYS  1 kept
-- ARGV  1 token of the lease, or empty to read without one
--       2 length of the lease, ms
--       3 time to live of a conversation that begins with this call, ms; empty to begin none

if redis.call('EXISTS', KEYS[1]) == 0 then
  if ARGV[3] == '' then return {'none', {}} end
  redis.call('HSET', KEYS[1], 'v', 1, 'created', time[1], 'version', 0, 'head', 0, 'count', 0, 'size', 0)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
if ARGV[1] ~= '' then
  local lease = redis.call('HGET', KEYS[1], 'lease') or ''
  local deadline = tonumber(string.match(lease, ':(%d+)$')) or 0
  if deadline > now and string.match(lease, '^[^:]*') ~= ARGV[1] then return {'busy', {}} end
  redis.call('HSET', KEYS[1], 'lease', ARGV[1] .. ':' .. string.format('%.0f', now + ARGV[2]))
end
return {'open', redis.call('HGETALL', KEYS[1])}
