-- Records an event, what was used, and what operators may know. Returns 1.
-- KEYS  session, events, compactions, used, claims
-- ARGV  1 TTL, ms  2 event, JSON  3 digest of the compaction that was sent, or empty  4 most events
--       5 most labels  6 number of labels  7… the labels, newest first, then field and value of each fact
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'v', 1, 'seen', time[1])
redis.call('HSETNX', KEYS[1], 'created', time[1])
redis.call('LPUSH', KEYS[2], ARGV[2])
redis.call('LTRIM', KEYS[2], 0, ARGV[4] - 1)

if ARGV[3] ~= '' then
  redis.call('ZADD', KEYS[4], 'XX', time[1] .. string.format('.%06d', time[2]), ARGV[3])
  redis.call('HSET', KEYS[1], 'unused', 0)
end

local count = tonumber(ARGV[6])
if count > 0 then
  local readable, known = pcall(cjson.decode, redis.call('HGET', KEYS[1], 'labels') or '[]')
  local labels, listed = {}, {}
  local function add(label)
    if #labels < tonumber(ARGV[5]) and not listed[label] then labels[#labels + 1] = label end
    listed[label] = true
  end
  for i = 7, 6 + count do add(ARGV[i]) end
  for _, label in ipairs(readable and type(known) == 'table' and known or {}) do add(label) end
  redis.call('HSET', KEYS[1], 'labels', cjson.encode(labels))
end
for i = 7 + count, #ARGV, 2 do redis.call('HSET', KEYS[1], 'about:' .. ARGV[i], ARGV[i + 1]) end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
return 1
