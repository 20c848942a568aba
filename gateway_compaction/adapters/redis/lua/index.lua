-- Notes that a member was seen just now, in sorted sets by time. A TTL only grows here: sessions with a short
-- and with a long life share an index. Returns 1.
-- KEYS  the sorted sets
-- ARGV  1 member  2 TTL, ms  3 age at which members are forgotten, s  4 most members
for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, time[1], ARGV[1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. (time[1] - ARGV[3]))
  redis.call('ZREMRANGEBYRANK', key, 0, -1 - ARGV[4])
  live(key, ARGV[2])
end
return 1
