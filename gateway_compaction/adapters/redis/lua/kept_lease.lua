-- Prolongs the lease of a call on a kept conversation, or gives it back. Returns 1, or 0 where it is not its.
--
-- Without atomicity a late call could take back a lease that another one has taken by now.
--
-- KEYS  1 kept
-- ARGV  1 token of the lease
--       2 length of the lease from now on, ms; 0 to give it back

local lease = redis.call('HGET', KEYS[1], 'lease') or ''
if ARGV[1] == '' or string.match(lease, '^[^:]*') ~= ARGV[1] then return 0 end
if ARGV[2] == '0' then return redis.call('HDEL', KEYS[1], 'lease') end
redis.call('HSET', KEYS[1], 'lease', ARGV[1] .. ':' .. string.format('%.0f', now + ARGV[2]))
return 1
