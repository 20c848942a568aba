-- Forgets compactions, pins, pauses and requests of a session; its events and labels stay.
--
-- Returns 1, or 0 where there is no session. Without atomicity a summary in flight could be stored between the
-- deletion and the new generation, and so survive.
--
-- KEYS  1 session  2 claims  3 events  4 compactions  5 used  6 retired
-- ARGV  1 the audit event, JSON

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for i = 4, 6 do redis.call('DEL', KEYS[i]) end
redis.call('HDEL', KEYS[1], 'pins', 'compact', 'rebuild', 'failures')
redis.call('HDEL', KEYS[1], 'backoff_until', 'backoff_reason', 'bypass_until', 'bypass_reason')
operator_action(KEYS[1], KEYS[2], KEYS[3], ARGV[1])
return 1
