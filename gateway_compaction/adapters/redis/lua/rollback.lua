-- Retires all compactions newer than a version, and uses that version again, if it was retired itself.
--
-- Returns 1; 0 where there is no session; -1 where there is no such version. Without atomicity a request could
-- load a mixture of old and new versions, or a summary in flight be stored on top of those that were retired.
--
-- KEYS  1 session  2 claims  3 events  4 compactions  5 used  6 retired
-- ARGV  1 the audit event, JSON
--       2 version; 0 retires all
--       3 most versions that are kept retired
--       4 a field of the session to set ("rebuild"), or empty

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local wanted, records = tonumber(ARGV[2]), redis.call('HGETALL', KEYS[4])
local function version_of(record) return tonumber(string.match(record, '"version":(%d+)}$')) or 0 end
local function retire(digest, record)
  redis.call('HSET', KEYS[6], version_of(record), record)
  redis.call('HDEL', KEYS[4], digest)
  redis.call('ZREM', KEYS[5], digest)
end
local back, there = redis.call('HGET', KEYS[6], ARGV[2]), wanted == 0
for i = 2, #records, 2 do there = there or version_of(records[i]) == wanted end
if not there and not back then return -1 end

for i = 1, #records, 2 do
  if version_of(records[i + 1]) > wanted then retire(records[i], records[i + 1]) end
end
if not there then
  local digest = string.match(back, '"digest":"(%w+)"')
  local other = redis.call('HGET', KEYS[4], digest)
  if other then retire(digest, other) end
  redis.call('HSET', KEYS[4], digest, back)
  redis.call('ZADD', KEYS[5], moment, digest)
  redis.call('HDEL', KEYS[6], ARGV[2])
end
local versions = redis.call('HKEYS', KEYS[6])
table.sort(versions, function(a, b) return tonumber(a) > tonumber(b) end)
for i = ARGV[3] + 1, #versions do redis.call('HDEL', KEYS[6], versions[i]) end
operator_action(KEYS[1], KEYS[2], KEYS[3], ARGV[1])
redis.call('HDEL', KEYS[1], 'rebuild')
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[4], 1)
  redis.call('HDEL', KEYS[1], 'backoff_until', 'backoff_reason', 'failures')
end
for i = 4, 6 do redis.call('PEXPIRE', KEYS[i], redis.call('PTTL', KEYS[1])) end
return 1
