/**
 * Every script first judges the memory that it works on. The marker `generation` is the term of the server that wrote
 * it, its `run_id` and the `master_replid` of its time as a primary, and the moment when. It is missing after a flush, and
 * of another term after a restart or a promotion: then what Redis shows may be older than what it has acknowledged. No row
 * is believed below the `floor` from then on, which is past everything that can have been granted before: the longest
 * reach (`reachOf`) that anybody has asked for, also who comes later, and the least, for that may be lost as well.
 *
 * The moment in the marker is later than that of any marker that was seen before. So a primary that was replaced, and lives
 * on, has an earlier one than the caller knows, and is refused. A server whose clock the caller refuses gets no marker: its
 * moment would count for all.
 *
 * Numbers are kept as decimal texts. All are below 2^53, which Lua's doubles hold, and printed with every digit.
 */
export const JUDGE = String.raw`
local key = KEYS[1]
local ownReach, leastReach, wall, maxSkew, own = string.match(ARGV[1], '^(%d+) (%d+) (%d+) (%d+) (.*)$')
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local replication = redis.call('INFO', 'replication')
local replid = string.match(replication, 'master_replid:(%w+)')
if not run or not replid then return redis.error_reply('RAINDROP this server tells no run_id and master_replid') end
if not string.find(replication, 'role:master') then return redis.error_reply('READONLY this server is a replica') end
local term = run .. '.' .. replid .. ':'
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local function digits(number) return string.format('%.0f', number) end
local function momentOf(marker)
  local seconds, micros = string.match(marker, ':(%d+)%.(%d+)$')
  return seconds and tonumber(seconds) * 1000000 + tonumber(micros) or 0
end
local function markerOf(moment) return term .. digits(math.floor(moment / 1000000)) .. '.' .. digits(moment % 1000000) end
local meta = redis.call('HMGET', key, 'generation', 'floor', 'lostAt', 'reach')
local generation, floor, lostAt = meta[1] or '', tonumber(meta[2] or 0), tonumber(meta[3] or 0)
local isNew = string.sub(generation, 1, #term) ~= term
local knownReach = tonumber(meta[4] or 0)
local reach = math.max(tonumber(ownReach), knownReach, isNew and tonumber(leastReach) or 0)
local function answer(...) return {generation, digits(floor), digits(now), digits(reach), ...} end
local isSame = string.sub(own, 1, #term) == term
if not isNew and not isSame and momentOf(generation) < momentOf(own) then return answer('former') end
if isNew and math.abs(tonumber(wall) - now) > tonumber(maxSkew) then return answer('skew') end
if isNew or reach > knownReach then
  if isNew then
    local moment = tonumber(time[1]) * 1000000 + tonumber(time[2])
    generation, lostAt = markerOf(math.max(moment, momentOf(generation) + 1, momentOf(own) + 1)), now
  end
  if lostAt > 0 then floor = math.max(floor, lostAt + reach) end
end
`;

/** What it finds is written, so that everybody goes by it from then on. */
export const MARK = String.raw`${JUDGE}
if isNew or reach > knownReach then
  redis.call('HSET', key, 'generation', generation, 'floor', digits(floor), 'lostAt', digits(lostAt), 'reach', digits(reach))
end
`;
