-- Lets a session be bypassed, or back off, for a while; never shortens an earlier pause.
--
-- Returns 1, or 0 where the generation has changed. Without atomicity the shorter of two pauses at once could
-- win, or a session that was erased would be begun again by its pause.
--
-- KEYS  1 session
-- ARGV  1 "bypass" or "backoff"
--       2 reason
--       3 length of the pause, ms
--       4 least time to live, ms
--       5 generation, or empty where it is not compared

if is_void(KEYS[1], ARGV[5]) then return 0 end
local field = ARGV[1] .. '_until'
local deadline = now + ARGV[3]
begin_session(KEYS[1])
if deadline > (tonumber(redis.call('HGET', KEYS[1], field) or 0) or 0) then
  redis.call('HSET', KEYS[1], field, string.format('%.0f', deadline), ARGV[1] .. '_reason', ARGV[2])
end
extend_life(KEYS[1], ARGV[4])
return 1
