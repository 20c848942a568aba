-- Notes names that every process is to read, each for some time. Returns the moment, s as text.
--
-- Without atomicity the set could outgrow its bound, or stay without a time to live.
--
-- KEYS  1 a sorted set of names, by the second until which they stand or in which they were noted
-- ARGV  1 time that a name is kept, ms
--       2 what the scores are: "until" or "at"
--       3 and on: the names

local second = ARGV[2] == 'until' and (now + ARGV[1]) / 1000 or moment
local oldest = ARGV[2] == 'until' and now / 1000 or (now - ARGV[1]) / 1000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.3f', oldest))
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], second, ARGV[i]) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -10001)
extend_life(KEYS[1], ARGV[1])
return moment
