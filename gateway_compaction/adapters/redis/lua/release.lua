-- Gives a lease back. After a failure the session backs off: 5 s, 10 s, 20 s and so on up to a longest pause.
--
-- Returns 1, or 0 where the lease is not this token's any more. Without atomicity a late worker could free a
-- lease that is another's by now.
--
-- KEYS  1 claims  2 session
-- ARGV  1 digest
--       2 fencing token
--       3 what failed, or empty
--       4 time to live, ms
--       5 the longest pause, s

local held = redis.call('HGET', KEYS[1], ARGV[1])
if not held or string.match(held, '^(%d+):') ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])

if ARGV[3] == '' then
  redis.call('HDEL', KEYS[2], 'failures')
else
  local failures = count_up(KEYS[2], 'failures', 1)
  local deadline = now + math.min(tonumber(ARGV[5]), 5 * 2 ^ (failures - 1)) * 1000
  if deadline > (tonumber(redis.call('HGET', KEYS[2], 'backoff_until') or 0) or 0) then
    redis.call('HSET', KEYS[2], 'backoff_until', string.format('%.0f', deadline), 'backoff_reason', ARGV[3])
  end
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
