-- Lets a session be bypassed, or back off, for a while; never shortens an earlier pause. Returns 1, or 0.
-- KEYS  session
-- ARGV  1 bypass or backoff  2 reason  3 pause, ms  4 least TTL, ms  5 generation, or empty
if void(KEYS[1], ARGV[5]) then return 0 end
local field = ARGV[1] .. '_until'
local deadline = now + ARGV[3]
begin(KEYS[1])
if deadline > (tonumber(redis.call('HGET', KEYS[1], field) or 0) or 0) then
  redis.call('HSET', KEYS[1], field, string.format('%.0f', deadline), ARGV[1] .. '_reason', ARGV[2])
end
live(KEYS[1], ARGV[4])
return 1
