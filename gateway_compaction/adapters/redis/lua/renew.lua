-- Prolongs a lease. Returns 1, or 0 where it is not this token's any more.
--
-- Without atomicity a late worker could take back a lease that another one has claimed by now.
--
-- KEYS  1 claims
-- ARGV  1 digest
--       2 fencing token
--       3 length of the lease from now on, ms
--       4 least time to live, ms

local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or string.match(held, '^(%d+):') ~= ARGV[2] then return 0 end

redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ':' .. string.format('%.0f', now + ARGV[3]))
extend_life(KEYS[1], ARGV[4])
return 1
