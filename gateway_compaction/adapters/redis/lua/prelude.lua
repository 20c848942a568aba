-- What the scripts share: it stands before each of them. All processes go by this one clock.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local moment = time[1] .. string.format('.%06d', time[2])

-- Whether what was decided under a generation must not be written any more.
local function void(session, generation)
  return generation ~= '' and generation ~= redis.call('HGET', session, 'generation')
end

local function begin(session)
  redis.call('HSET', session, 'v', 1)
  redis.call('HSETNX', session, 'created', time[1])
  redis.call('HSETNX', session, 'begun', moment)
  redis.call('HSETNX', session, 'generation', moment)
end

-- Counts a field up; what is no number there counts as 0.
local function up(key, field, amount)
  local counted = redis.pcall('HINCRBY', key, field, amount)
  if type(counted) == 'number' then return counted end
  redis.call('HSET', key, field, amount)
  return tonumber(amount)
end

local function live(key, least)
  if redis.call('PTTL', key) < tonumber(least) then redis.call('PEXPIRE', key, least) end
end

-- A fact of an owner. What several users or keys share is nobody's of them: then it is empty. Teams are renamed.
-- Of what an import could not prove, the first call since is the proof, or the end.
local function fact(key, field, name, value)
  local old = redis.call('HGET', key, field)
  local said = old == '' and redis.call('HGET', key, 'said:' .. name)
  if said then
    redis.call('HDEL', key, 'said:' .. name)
    if said == value then old = value end
  end
  if old and old ~= value and name ~= 'team' then value = '' end
  redis.call('HSET', key, field, value)
end

-- The session's line in the list, as JSON; empty where there is no session.
local hidden = {v = 1, fence = 1, begun = 1, generation = 1, sent = 1, pins = 1}
local function row(session, claims)
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

-- What every deed of an operator does besides: nothing decided before it is valid, no summary in flight is.
local function operator_action(session, claims, events, event)
  local old = redis.call('HGET', session, 'generation')
  redis.call('HSET', session, 'generation', moment .. (old == moment .. '*' and '**' or '*'))
  redis.call('DEL', claims)
  redis.call('LPUSH', events, event)
  redis.call('LTRIM', events, 0, 199)
  live(events, redis.call('PTTL', session))
end

