-- Shared by all scripts: this file stands before each of them when it is sent to Redis.
--
-- A script runs as one step: no other client sees or changes anything in between. That is what every script
-- here is for. Conventions: KEYS and ARGV are listed in each script by number, but "a whole session" is every key
-- of SESSION_PARTS (keys.py), taken by name: part('events'). Times to live and leases are in milliseconds (ms),
-- times and ages in seconds (s) since 1970; "session", "claims" and so on are the keys of docs/redis.md. All
-- processes go by the clock of Redis, so that their own clocks need not agree. Before this file stand the
-- constants that scripts.py hands over: MOST_EVENTS, MOST_LABELS and PLACES.
--   now      the present time in ms, a whole number
--   moment   the present time in s with six decimals, as text: a number of Lua would lose digits

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local moment = time[1] .. string.format('.%06d', time[2])

-- Returns the key of a part, in a script that takes a whole session.
local function part(name) return KEYS[PLACES[name]] end

-- The parts that stand for a session's versions: what takes all of these back takes back these parts.
local VERSION_PARTS = {'compactions', 'used', 'retired'}

-- Tells whether what was decided under a generation must not be written any more, because an operator has
-- changed it since or the session was erased. An empty generation is not compared.
local function is_void(session, generation)
  return generation ~= '' and generation ~= redis.call('HGET', session, 'generation')
end

-- Tells whether a session has begun since a generation, so that it is another one of the same name: the one that
-- was known then was erased. An empty generation is not compared.
local function is_another(session, generation)
  if generation == '' then return false end
  local begun = tonumber(redis.call('HGET', session, 'begun') or '')
  return not begun or begun > (tonumber(string.match(generation, '^[%d.]+')) or 0)
end

-- Gives a session the fields that it has from its beginning on, where it has none yet.
local function begin_session(session)
  redis.call('HSET', session, 'v', 1)
  redis.call('HSETNX', session, 'created', time[1])
  redis.call('HSETNX', session, 'begun', moment)
  redis.call('HSETNX', session, 'generation', moment)
end

-- Counts a field up and returns it; what is no number there (edited by hand) counts as 0.
local function count_up(key, field, amount)
  local counted = redis.pcall('HINCRBY', key, field, amount)
  if type(counted) == 'number' then return counted end
  redis.call('HSET', key, field, amount)
  return tonumber(amount)
end

-- Lets a key live for at least so many ms; never shortens its life.
local function extend_life(key, least)
  if redis.call('PTTL', key) < tonumber(least) then redis.call('PEXPIRE', key, least) end
end

-- Sets a fact of an owner. What several users or keys share is nobody's of them: then it becomes empty, and
-- stays so. A team's name is the exception: teams are renamed. Where an import left a fact unproven
-- ("said:…"), the first call since is the proof, or the end of it.
local function set_fact(key, field, name, value)
  local old = redis.call('HGET', key, field)
  local said = old == '' and redis.call('HGET', key, 'said:' .. name)
  if said then
    redis.call('HDEL', key, 'said:' .. name)
    if said == value then old = value end
  end
  if old and old ~= value and name ~= 'team' then value = '' end
  redis.call('HSET', key, field, value)
end

-- Returns the session's row as JSON; empty where there is no session. "rev" is the moment of writing, and
-- "expires" that at which the session will end, both in s; "claimed" the end of the longest lease, in ms.
-- Left out are fields that no list shows, empty ones, and what an import could not prove.
local hidden = {v = 1, fence = 1, begun = 1, generation = 1, sent = 1, pins = 1, told = 1, snapped = 1}
hidden.bounds, hidden.redact = 1, 1
local function build_row(session, claims)
  local fields, deadline = redis.call('HGETALL', session), 0
  if #fields == 0 then return '' end
  local shown = {rev = moment, expires = string.format('%.3f', (now + redis.call('PTTL', session)) / 1000)}
  for i = 1, #fields, 2 do
    local unseen = hidden[fields[i]] or string.find(fields[i], '^said:') or fields[i + 1] == ''
    if not unseen then shown[fields[i]] = fields[i + 1] end
  end
  for _, claim in ipairs(redis.call('HVALS', claims)) do
    deadline = math.max(deadline, tonumber(string.match(claim, ':(%d+)$')) or 0)
  end
  if deadline > now then shown.claimed = string.format('%.0f', deadline) end
  return cjson.encode(shown)
end

-- Does what every action of an operator does besides: changes the generation, so that nothing decided before is
-- written any more, ends all leases, so that no summary in flight is, and records the audit event. A second
-- action in the same microsecond still gets another generation.
local function operator_action(event)
  local session, events = part('session'), part('events')
  local old = redis.call('HGET', session, 'generation')
  redis.call('HSET', session, 'generation', moment .. (old == moment .. '*' and '**' or '*'))
  redis.call('DEL', part('claims'))
  redis.call('LPUSH', events, event)
  redis.call('LTRIM', events, 0, MOST_EVENTS - 1)
  extend_life(events, redis.call('PTTL', session))
end

