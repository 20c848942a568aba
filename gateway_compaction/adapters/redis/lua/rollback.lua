-- Retires all compactions newer than a version, and uses that version again, if it was retired itself.
--
-- Returns 1; 0 where there is no session; -1 where there is no such version. Without atomicity a request could
-- load a mixture of old and new versions, or a summary in flight be stored on top of those that were retired.
--
-- KEYS  a whole session
-- ARGV  1 the audit event, JSON
--       2 version; 0 retires all
--       3 most versions that are kept retired
--       4 a field of the session to set ("rebuild"), or empty

local session, compactions, used, retired = part('session'), part('compactions'), part('used'), part('retired')
if redis.call('EXISTS', session) == 0 then return 0 end
local wanted, records = tonumber(ARGV[2]), redis.call('HGETALL', compactions)
local function version_of(record) return tonumber(string.match(record, '"version":(%d+)}$')) or 0 end
local function retire(digest, record)
  redis.call('HSET', retired, version_of(record), record)
  redis.call('HDEL', compactions, digest)
  redis.call('ZREM', used, digest)
end
local back, there = redis.call('HGET', retired, ARGV[2]), wanted == 0
for i = 2, #records, 2 do there = there or version_of(records[i]) == wanted end
if not there and not back then return -1 end

for i = 1, #records, 2 do
  if version_of(records[i + 1]) > wanted then retire(records[i], records[i + 1]) end
end
if not there then
  local digest = string.match(back, '"digest":"(%w+)"')
  local other = redis.call('HGET', compactions, digest)
  if other then retire(digest, other) end
  redis.call('HSET', compactions, digest, back)
  redis.call('ZADD', used, moment, digest)
  redis.call('HDEL', retired, ARGV[2])
end
local versions = redis.call('HKEYS', retired)
table.sort(versions, function(a, b) return tonumber(a) > tonumber(b) end)
for i = ARGV[3] + 1, #versions do redis.call('HDEL', retired, versions[i]) end
operator_action(ARGV[1])
redis.call('HDEL', session, 'rebuild')
if ARGV[4] ~= '' then
  redis.call('HSET', session, ARGV[4], 1)
  redis.call('HDEL', session, 'backoff_until', 'backoff_reason', 'failures')
end
for _, name in ipairs(VERSION_PARTS) do redis.call('PEXPIRE', part(name), redis.call('PTTL', session)) end
return 1
