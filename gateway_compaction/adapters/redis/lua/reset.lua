-- Forgets compactions, pins, pauses and requests of a session; its events and labels stay.
--
-- Returns 1, or 0 where there is no session. Without atomicity a summary in flight could be stored between the
-- deletion and the new generation, and so survive.
--
-- KEYS  a whole session
-- ARGV  1 the audit event, JSON

local session = part('session')
if redis.call('EXISTS', session) == 0 then return 0 end
for _, name in ipairs(VERSION_PARTS) do redis.call('DEL', part(name)) end
redis.call('HDEL', session, 'pins', 'compact', 'rebuild', 'rate', 'failures')
redis.call('HDEL', session, 'backoff_until', 'backoff_reason', 'bypass_until', 'bypass_reason')
operator_action(ARGV[1])
return 1
