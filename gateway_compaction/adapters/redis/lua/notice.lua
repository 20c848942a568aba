-- Notes names for every process to read, each for some time. Returns the moment.
-- KEYS  a sorted set of names by the second until which they stand, or in which they were noted
-- ARGV  1 kept, ms  2 by: until, or at  3… the names
local second = ARGV[2] == 'until' and (now + ARGV[1]) / 1000 or moment
local oldest = ARGV[2] == 'until' and now / 1000 or (now - ARGV[1]) / 1000
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. string.format('%.3f', oldest))
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], second, ARGV[i]) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -10001)
live(KEYS[1], ARGV[1])
return moment
