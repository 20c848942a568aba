-- Asks for a compaction at the next call, sets the rate of the next summaries, or pins or unpins a text.
--
-- Returns 1; 0 where there is no session; -1 where there is no such pin; -2 where no more may be pinned. Without
-- atomicity one of two pins at once would be lost: the list is one field.
--
-- KEYS  a whole session
-- ARGV  1 the audit event, JSON
--       2 "compact", "rate", "pin" or "unpin"
--       3 the text or the rate, or empty: without a rate the policy's holds
--       4 most pins

local session = part('session')
if redis.call('EXISTS', session) == 0 then return 0 end
if ARGV[2] == 'compact' then
  redis.call('HSET', session, 'compact', 1)
elseif ARGV[2] == 'rate' then
  if ARGV[3] == '' then redis.call('HDEL', session, 'rate') else redis.call('HSET', session, 'rate', ARGV[3]) end
else
  local readable, known = pcall(cjson.decode, redis.call('HGET', session, 'pins') or '[]')
  local pins, there = {}, false
  for _, pin in ipairs(readable and type(known) == 'table' and known or {}) do
    there = there or pin == ARGV[3]
    if pin ~= ARGV[3] then pins[#pins + 1] = pin end
  end
  if ARGV[2] == 'unpin' and not there then return -1 end
  if ARGV[2] == 'pin' and #pins >= tonumber(ARGV[4]) then return -2 end
  if ARGV[2] == 'pin' then pins[#pins + 1] = ARGV[3] end
  if #pins > 0 then redis.call('HSET', session, 'pins', cjson.encode(pins)) end
  if #pins == 0 then redis.call('HDEL', session, 'pins') end
end
operator_action(ARGV[1])
return 1
