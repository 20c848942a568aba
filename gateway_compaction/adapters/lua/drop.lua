-- Takes sessions out of their tenant's list. Returns how many are left in it.
-- KEYS  sessions, rows, then sorted sets of labels
-- ARGV  the sessions
for _, session in ipairs(ARGV) do
  for i, key in ipairs(KEYS) do
    if i ~= 2 then redis.call('ZREM', key, session) end
  end
  if redis.call('HDEL', KEYS[2], session) == 1 then up(KEYS[2], 'dropped', 1) end
end
local left = redis.call('ZCARD', KEYS[1])
if left == 0 then redis.call('DEL', KEYS[2]) end
return left
