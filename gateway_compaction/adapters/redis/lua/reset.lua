-- Forgets compactions, pins, pauses and wishes of a session; events and labels stay. Returns 1, or 0.
-- KEYS  session, claims, events, compactions, used, retired
-- ARGV  1 event, JSON
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for i = 4, 6 do redis.call('DEL', KEYS[i]) end
redis.call('HDEL', KEYS[1], 'pins', 'compact', 'rebuild', 'failures')
redis.call('HDEL', KEYS[1], 'backoff_until', 'backoff_reason', 'bypass_until', 'bypass_reason')
operator_action(KEYS[1], KEYS[2], KEYS[3], ARGV[1])
return 1
