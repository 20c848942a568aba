-- Puts a session's row into its tenant's list, and notes what is known of the tenant.
--
-- Rows of sessions that the list forgets go with them, and those of expired sessions little by little. An older
-- row never replaces a newer one. Returns 1, or 0 for an older one. Without atomicity two writers at once could
-- leave the older row, and readers, who go by the counts "written" and "dropped", would not see the change.
--
-- KEYS  1 sessions  2 rows  3 about, all of the tenant
-- ARGV  1 session hash
--       2 the row, JSON
--       3 time to live, ms
--       4 age at which sessions are forgotten, s
--       5 most sessions
--       6 rows looked at for expired ones
--       7 and on: names and values of the owner

local function second(text, name) return tonumber(string.match(text or '', '"' .. name .. '":"([%d.]+)"')) end
local function revision(text) return second(text, 'rev') or 0 end
if revision(redis.call('HGET', KEYS[2], ARGV[1]) or '') > revision(ARGV[2]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[1], time[1], ARGV[1])

local function drop(members)
  for _, member in ipairs(members) do
    redis.call('ZREM', KEYS[1], member)
    redis.call('HDEL', KEYS[2], member)
  end
  if #members > 0 then count_up(KEYS[2], 'dropped', #members) end
end
drop(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. (time[1] - ARGV[4]), 'LIMIT', 0, 500))
drop(redis.call('ZRANGE', KEYS[1], 0, -1 - ARGV[5]))

-- Readers pass over these anyway: nothing is counted.
for _, member in ipairs(redis.call('HRANDFIELD', KEYS[2], ARGV[6])) do
  local expires = second(redis.call('HGET', KEYS[2], member), 'expires')
  if expires and expires * 1000 < now then
    redis.call('ZREM', KEYS[1], member)
    redis.call('HDEL', KEYS[2], member)
  end
end

redis.call('HSETNX', KEYS[2], 'begun', moment)
count_up(KEYS[2], 'written', 1)
for i = 7, #ARGV, 2 do set_fact(KEYS[3], ARGV[i], ARGV[i], ARGV[i + 1]) end
for _, key in ipairs(KEYS) do extend_life(key, ARGV[3]) end
return 1
