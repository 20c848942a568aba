-- Lets a session be bypassed, or back off, for a while; never shortens an earlier pause. Returns 1.
-- KEYS  session
-- ARGV  1 bypass or backoff  2 reason  3 pause, ms  4 least TTL, ms
local time = redis.call('TIME')
local field = ARGV[1] .. '_until'
local deadline = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[3]
redis.call('HSET', KEYS[1], 'v', 1)
redis.call('HSETNX', KEYS[1], 'created', time[1])
if deadline > (tonumber(redis.call('HGET', KEYS[1], field) or 0) or 0) then
  redis.call('HSET', KEYS[1], field, string.format('%.0f', deadline), ARGV[1] .. '_reason', ARGV[2])
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[4]) then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
return 1
