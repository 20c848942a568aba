-- Keeps a field of a hash that all replicas share, as far as there is room: one that is there changes, and a
-- new one is not taken where there are too many. Returns 1, or 0 where it was not taken.
--
-- Without atomicity several at once could exceed the bound.
--
-- KEYS  1 a hash
-- ARGV  1 "set" or "add", which adds to a number
--       2 field
--       3 value
--       4 life of the hash, ms
--       5 most fields

local is_there = redis.call('HGET', KEYS[1], ARGV[2])
if not is_there and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then return 0 end
redis.call(ARGV[1] == 'add' and 'HINCRBY' or 'HSET', KEYS[1], ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
