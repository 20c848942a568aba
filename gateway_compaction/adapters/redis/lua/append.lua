-- Records a decision about a call: the event, what was sent, and what operators may know of it.
--
-- Returns {row, broken}: the session's row as JSON, and 1 where the provider's cache broke because a compaction
-- was sent for the first time; {} where the session was erased since the call began, and nothing was written.
-- Without atomicity an erasure could come between the fields, and leave half a session that nobody finds.
--
-- KEYS  a whole session
-- ARGV  1 time to live, ms
--       2 the event, JSON
--       3 digest of the compaction that was sent, or empty
--       4 generation under which the call was decided, or empty where it is not compared
--       5 what stood for the beginning: kind and digest, "raw", or empty where nothing was sent
--       6 the last call, JSON, or empty
--       7 and on: four lists, each behind the number of its items: labels, the newest first; names and values of
--         the owner; names and values of fields to set; names and amounts of fields to count up

local session = part('session')
-- An action of an operator since does not matter: the call was made.
if is_another(session, ARGV[4]) then return {} end
begin_session(session)
redis.call('HSET', session, 'seen', time[1])
redis.call('LPUSH', part('events'), ARGV[2])
redis.call('LTRIM', part('events'), 0, MOST_EVENTS - 1)
if ARGV[3] ~= '' then redis.call('ZADD', part('used'), 'XX', moment, ARGV[3]) end
if ARGV[6] ~= '' then redis.call('SET', part('last'), ARGV[6]) end

local place = 7
local function list()
  local items = {unpack(ARGV, place + 1, place + ARGV[place])}
  place = place + #items + 1
  return items
end
local named, facts, latest, counts = list(), list(), list(), list()
if #named > 0 then
  local readable, known = pcall(cjson.decode, redis.call('HGET', session, 'labels') or '[]')
  local labels, listed = {}, {}
  local function add(label)
    if #labels < MOST_LABELS and not listed[label] then labels[#labels + 1] = label end
    listed[label] = true
  end
  for _, label in ipairs(named) do add(label) end
  for _, label in ipairs(readable and type(known) == 'table' and known or {}) do add(label) end
  redis.call('HSET', session, 'labels', cjson.encode(labels))
end
for i = 1, #facts, 2 do set_fact(session, 'about:' .. facts[i], facts[i], facts[i + 1]) end
for i = 1, #latest, 2 do redis.call('HSET', session, latest[i], latest[i + 1]) end
for i = 1, #counts, 2 do count_up(session, counts[i], counts[i + 1]) end

local sent, broken = redis.call('HGET', session, 'sent') or '', 0
if ARGV[5] ~= '' and ARGV[5] ~= 'raw' and not string.find(sent, ARGV[5], 1, true) then
  broken = 1
  redis.call('HSET', session, 'sent', string.sub(ARGV[5] .. ' ' .. sent, 1, 1000))
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
return {build_row(session, part('claims')), broken}
