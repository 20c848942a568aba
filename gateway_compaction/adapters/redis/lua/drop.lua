-- Takes a session out of its tenant's list. Returns how many are left in it.
-- KEYS  sessions, rows
-- ARGV  1 session
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('HDEL', KEYS[2], ARGV[1]) == 1 then up(KEYS[2], 'dropped', 1) end
local left = redis.call('ZCARD', KEYS[1])
if left == 0 then redis.call('DEL', KEYS[2]) end
return left
