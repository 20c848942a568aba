-- Keeps who signed in to the page, and lets go of those whose time is over; where there are too many, of the
-- one that ends first.
--
-- Without atomicity two sign-ins at once could exceed the bound.
--
-- KEYS  1 sign-ins: name -> "deadline (ms):sealed key"
-- ARGV  1 name
--       2 sealed key
--       3 life, ms
--       4 most of them

local ends = {}
local stored = redis.call('HGETALL', KEYS[1])
for i = 1, #stored, 2 do
  local deadline = tonumber(string.match(stored[i + 1], '^(%d+):')) or 0
  if deadline <= now then
    redis.call('HDEL', KEYS[1], stored[i])
  else
    table.insert(ends, {deadline, stored[i]})
  end
end
table.sort(ends, function(a, b) return a[1] < b[1] end)
for i = 1, #ends - ARGV[4] + 1 do redis.call('HDEL', KEYS[1], ends[i][2]) end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f:', now + ARGV[3]) .. ARGV[2])
extend_life(KEYS[1], ARGV[3])
return 1
