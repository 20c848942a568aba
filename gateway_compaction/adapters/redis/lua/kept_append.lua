-- Appends an exchange to a kept conversation, and gives back the lease of the call that made it.
--
-- Returns {number, version}: the exchange's number and the conversation's version; {} where nothing was
-- written: it was forgotten (be it that it has begun anew under its name since), another call holds it, or it has gone on since the call read it (then, with
-- "branch", the exchange becomes a branch of its own and the head stays). Without atomicity two calls could
-- both become the head, and one would lose its messages.
--
-- KEYS  1 kept
-- ARGV  1 token of the lease, or empty where the call holds none
--       2 version that the call read
--       3 the exchange, JSON
--       4 its bytes
--       5 number of the exchange whose place it takes, 0 for none
--       6 form of the messages
--       7 time to live, ms
--       8 "branch", or empty
--       9 when the conversation began that the call read, or empty where that is not known

if redis.call('EXISTS', KEYS[1]) == 0 then return {} end
if ARGV[9] ~= '' and redis.call('HGET', KEYS[1], 'begun') ~= ARGV[9] then return {} end
local lease = redis.call('HGET', KEYS[1], 'lease') or ''
local holder, deadline = string.match(lease, '^([^:]*):(%d+)$')
local is_mine = ARGV[1] ~= '' and holder == ARGV[1]
local version = redis.call('HGET', KEYS[1], 'version') or '0'
local is_held = holder and not is_mine and tonumber(deadline) > now
local is_next = version == ARGV[2] and not (is_held and ARGV[8] == '')
-- Whatever becomes of it, the call is over.
if is_mine then redis.call('HDEL', KEYS[1], 'lease') end
if not is_next and ARGV[8] == '' then return {} end
local form = redis.call('HGET', KEYS[1], 'form') or ARGV[6]
if form ~= ARGV[6] then return {} end
local number = count_up(KEYS[1], 'count', 1)
redis.call('HSET', KEYS[1], 'form', form, 'x:' .. string.format('%d', number), ARGV[3])
count_up(KEYS[1], 'size', ARGV[4])
if is_next then
  redis.call('HSET', KEYS[1], 'head', string.format('%d', number))
  version = string.format('%d', count_up(KEYS[1], 'version', 1))
  local replaced = ARGV[5] ~= '0' and redis.call('HGET', KEYS[1], 'x:' .. ARGV[5])
  if replaced then
    redis.call('HDEL', KEYS[1], 'x:' .. ARGV[5])
    count_up(KEYS[1], 'size', -#replaced)
  end
end
extend_life(KEYS[1], ARGV[7])
return {number, tonumber(version)}
