-- Takes a session out of its tenant's list. Returns the number of sessions left in it.
--
-- Without atomicity the count could be that of another moment, and a tenant with a new session would be taken
-- out of all lists.
--
-- KEYS  1 sessions  2 rows, both of the tenant
-- ARGV  1 session hash

redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('HDEL', KEYS[2], ARGV[1]) == 1 then count_up(KEYS[2], 'dropped', 1) end
local left = redis.call('ZCARD', KEYS[1])
if left == 0 then redis.call('DEL', KEYS[2]) end
return left
