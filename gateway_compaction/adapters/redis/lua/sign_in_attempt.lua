-- Counts attempts to sign in by where they come from, and returns what they come to in this minute; -1 where
-- too many others are counted to count another one.
--
-- Without atomicity a count could outlive its minute: it would be written after its end was asked for.
--
-- KEYS  1 attempts: hash of an address -> number
-- ARGV  1 hash of the address
--       2 what to add, 0 or less to take back
--       3 length of the minute, ms
--       4 most addresses

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  if tonumber(ARGV[2]) <= 0 then return 0 end
  if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[4]) then return -1 end
end
local counted = count_up(KEYS[1], ARGV[1], ARGV[2])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return counted
