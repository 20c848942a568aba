-- Reads a page of a tenant's list, the latest first. Writes nothing.
--
-- Returns {number, object}: the number of members looked at, and one JSON object of rows by session hash; rows
-- that are missing are left out. Without atomicity a page could lack a row that moved while it was read.
--
-- KEYS  1 sessions  2 rows, both of the tenant
-- ARGV  1 place of the first member, from 0
--       2 most members
--       3 least second at which they were seen, or "-inf"

local members = redis.call('ZREVRANGEBYSCORE', KEYS[1], '+inf', ARGV[3], 'LIMIT', ARGV[1], ARGV[2])
local rows = #members > 0 and redis.call('HMGET', KEYS[2], unpack(members)) or {}
local parts = {}
for i, member in ipairs(members) do
  if rows[i] and rows[i] ~= '' then parts[#parts + 1] = '"' .. member .. '":' .. rows[i] end
end
return {#members, '{' .. table.concat(parts, ',') .. '}'}
