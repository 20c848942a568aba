-- Keeps a snapshot of a session, and drops the oldest of those that are too many or too old.
--
-- Returns 1; 0 where there is no session, or it was erased since what the snapshot tells of was read. Without atomicity a snapshot could be written just after its session was
-- erased, and stay.
--
-- KEYS  a whole session
-- ARGV  1 name: the second in which it was taken
--       2 the snapshot, JSON
--       3 most snapshots
--       4 age at which they go, s
--       5 generation under which it was read, or empty where it is not compared

local session, points = part('session'), part('points')
if redis.call('EXISTS', session) == 0 or is_another(session, ARGV[5]) then return 0 end
-- Of two in one second the first is kept: it is of before the first deed.
redis.call('HSETNX', points, ARGV[1], ARGV[2])
redis.call('HSET', session, 'snapped', ARGV[1])
local names = redis.call('HKEYS', points)
table.sort(names, function(a, b) return (tonumber(a) or 0) > (tonumber(b) or 0) end)
for i, name in ipairs(names) do
  if i > tonumber(ARGV[3]) or (tonumber(name) or 0) < time[1] - ARGV[4] then redis.call('HDEL', points, name) end
end
redis.call('PEXPIRE', points, redis.call('PTTL', session))
return 1
