-- Stores a session that was exported. Returns 1, or 0 where there is a session of this name already.
--
-- Without atomicity a call of the same conversation could begin the session in between, and its keys would mix
-- with the document's.
--
-- KEYS  1 session  2 claims  3 events  4 compactions  5 used  6 retired  7 last
-- ARGV  1 time to live, ms
--       2 the audit event of the import, JSON
--       3 the last call, JSON, or empty
--       4 and on: five lists, each behind the number of its items: names and values of fields; events, the newest
--         first; digests and records of compactions; seconds and digests of "used", the second first; versions and
--         records of "retired"

if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
for i = 2, #KEYS do redis.call('DEL', KEYS[i]) end
-- Nothing is written that does not expire, even where a later line fails.
local function write(...)
  redis.call(...)
  redis.call('PEXPIRE', select(2, ...), ARGV[1])
end
local place = 4
local function each(step, take)
  local last = place + ARGV[place]
  for i = place + 1, last, step do take(ARGV[i], ARGV[i + 1]) end
  place = last + 1
end
write('HSET', KEYS[1], 'v', 1)
each(2, function(name, value) redis.call('HSET', KEYS[1], name, value) end)
begin_session(KEYS[1])
each(1, function(event) write('RPUSH', KEYS[3], event) end)
each(2, function(digest, record) write('HSET', KEYS[4], digest, record) end)
each(2, function(second, digest) write('ZADD', KEYS[5], second, digest) end)
each(2, function(version, record) write('HSET', KEYS[6], version, record) end)
if ARGV[3] ~= '' then write('SET', KEYS[7], ARGV[3]) end
operator_action(KEYS[1], KEYS[2], KEYS[3], ARGV[2])
return 1
