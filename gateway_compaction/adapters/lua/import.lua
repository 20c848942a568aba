-- Stores a session that was exported. Returns 1, or 0 where there is one already.
-- KEYS  session, claims, events, compactions, used, retired, last
-- ARGV  1 TTL, ms  2 event, JSON  3 the last call, or empty  4… five lists, each behind its length: fields,
--       events, newest first; compactions by digest; digests by their time, time first; retired by version
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
local place = 4
local function each(step, write)
  local last = place + ARGV[place]
  for i = place + 1, last, step do write(ARGV[i], ARGV[i + 1]) end
  place = last + 1
end
each(2, function(name, value) redis.call('HSET', KEYS[1], name, value) end)
begin(KEYS[1])
each(1, function(event) redis.call('RPUSH', KEYS[3], event) end)
each(2, function(digest, record) redis.call('HSET', KEYS[4], digest, record) end)
each(2, function(second, digest) redis.call('ZADD', KEYS[5], second, digest) end)
each(2, function(version, record) redis.call('HSET', KEYS[6], version, record) end)
if ARGV[3] ~= '' then redis.call('SET', KEYS[7], ARGV[3]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
deed(KEYS[1], KEYS[2], KEYS[3], ARGV[2])
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
return 1
