-- Notes that a member was seen just now, in sorted sets by time. Returns 1.
--
-- A time to live only grows here: sessions with a short and with a long life share an index. Without atomicity
-- the set could stay above its bound, or without a time to live if the client is lost in between.
--
-- KEYS  the sorted sets, any number; all of one slot
-- ARGV  1 member
--       2 time to live, ms
--       3 age at which members are forgotten, s
--       4 most members

for _, key in ipairs(KEYS) do
  redis.call('ZADD', key, time[1], ARGV[1])
  redis.call('ZREMRANGEBYSCORE', key, '-inf', '(' .. (time[1] - ARGV[3]))
  redis.call('ZREMRANGEBYRANK', key, 0, -1 - ARGV[4])
  extend_life(key, ARGV[2])
end
return 1
