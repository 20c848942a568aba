-- Notes that a member was seen just now, in sorted sets by time, and facts in a hash. A TTL only grows here:
-- sessions with a short and with a long life share an index. Returns 1.
-- KEYS  the sorted sets, then the hash if there are facts
-- ARGV  1 member  2 TTL, ms  3 age at which members are forgotten, s  4 most members  5 number of sorted sets
--       6… field and value of each fact
local seen = redis.call('TIME')[1]
local sets = tonumber(ARGV[5])
for i = 1, sets do
  redis.call('ZADD', KEYS[i], seen, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[i], '-inf', '(' .. (seen - ARGV[3]))
  redis.call('ZREMRANGEBYRANK', KEYS[i], 0, -1 - ARGV[4])
end
for i = 6, #ARGV, 2 do redis.call('HSET', KEYS[#KEYS], ARGV[i], ARGV[i + 1]) end
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) < tonumber(ARGV[2]) then redis.call('PEXPIRE', key, ARGV[2]) end
end
return 1
