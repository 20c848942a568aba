-- Prolongs a lease. Returns 1, or 0 when it is no longer this token's.
-- KEYS  claims
-- ARGV  1 digest  2 token  3 lease, ms  4 least TTL, ms
local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or string.match(held, '^(%d+):') ~= ARGV[2] then return 0 end

redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ':' .. string.format('%.0f', now + ARGV[3]))
live(KEYS[1], ARGV[4])
return 1
