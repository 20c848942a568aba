-- Some rows of a tenant's list, the latest first, as one JSON object; reads only.
-- KEYS  sessions, rows
-- ARGV  1 place of the first  2 how many  3 least second, or -inf
local members = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', ARGV[3], 'LIMIT', ARGV[1], ARGV[2])
local rows = #members > 0 and redis.call('HMGET', KEYS[2], unpack(members)) or {}
local parts = {}
for i, member in ipairs(members) do
  if rows[i] and rows[i] ~= '' then parts[#parts + 1] = '"' .. member .. '":' .. rows[i] end
end
return {#members, '{' .. table.concat(parts, ',') .. '}'}
