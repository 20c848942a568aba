-- Stores a session that was exported. Returns 1, or 0 where there is a session of this name already.
--
-- Without atomicity a call of the same conversation could begin the session in between, and its keys would mix
-- with the document's.
--
-- KEYS  a whole session
-- ARGV  1 time to live, ms
--       2 the audit event of the import, JSON
--       3 and on, for each part that is brought: its name, the command that adds an item to it, arguments of an
--         item, number of arguments, and the arguments of all items

if redis.call('EXISTS', part('session')) == 1 then return 0 end
redis.call('DEL', unpack(KEYS))
-- Nothing is written that does not expire, even where a later line fails.
local function write(...)
  redis.call(...)
  redis.call('PEXPIRE', select(2, ...), ARGV[1])
end
write('HSET', part('session'), 'v', 1)
local place = 3
while place <= #ARGV do
  local name, command, size, count = unpack(ARGV, place, place + 3)
  local first = place + 4
  place = first + count
  for i = first, place - 1, tonumber(size) do write(command, part(name), unpack(ARGV, i, i + size - 1)) end
end
begin_session(part('session'))
operator_action(ARGV[2])
return 1
