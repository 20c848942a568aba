-- Adds to the counts of the present hour: one JSON object for each hour, in it one for each model. Returns 1.
--
-- Without atomicity two calls at once would both add to the old counts, and one of them would be lost.
--
-- KEYS  1 hours of the tenant  2 hours of the API key that called, only where its tenant has several keys
-- ARGV  1 time to live, ms
--       2 hours that are kept
--       3 most models that are told apart; the rest is counted as "others"
--       4 model
--       5 and on: names and amounts

local hour = math.floor(time[1] / 3600)
for _, key in ipairs(KEYS) do
  local old = redis.call('HGET', key, hour)
  if not old then
    for _, field in ipairs(redis.call('HKEYS', key)) do
      if (tonumber(field) or 0) <= hour - ARGV[2] then redis.call('HDEL', key, field) end
    end
  end
  local readable, models = pcall(cjson.decode, old or '{}')
  if not readable or type(models) ~= 'table' then models = {} end
  local model, many = ARGV[4], 0
  for _ in pairs(models) do many = many + 1 end
  if not models[model] and many >= tonumber(ARGV[3]) then model = 'others' end
  local counts = type(models[model]) == 'table' and models[model] or {}
  for i = 5, #ARGV, 2 do counts[ARGV[i]] = (tonumber(counts[ARGV[i]]) or 0) + ARGV[i + 1] end
  models[model] = counts
  redis.call('HSET', key, hour, cjson.encode(models))
  redis.call('PEXPIRE', key, ARGV[1])
end
return 1
