import { script } from '../redis-scripts.js';

/**
 * Every script first judges the server that runs it, by the rule in the core's failover-guard.ts, and as the core's
 * `judgeServer` does: test/support/stores/failover-cases.ts has the cases of both.
 *
 * The record is the marker `generation`: the term of the server that wrote it, its `run_id` and the `master_replid` of its
 * time as a primary, and the moment when, which is the failover number. It is missing after a flush, and of another term
 * after a restart or a promotion: then what Redis shows may be older than what it has acknowledged. The core takes a
 * server without a record for the first of all; a Redis without one may have lost all, unless initRedisWorkers() says
 * that it has not.
 *
 * After a loss no row is believed below `lostUntil` (stored as `floor`), which is past all that can have been granted
 * before: the longest reach (`grantReachMs`) that any process has asked for, also one that comes later, and the least,
 * since the longest may be lost as well. It is the end of a fence, too.
 *
 * The caller tells the marker that it has seen last (`own`), up to when it knows the server of that marker to have served
 * or granted (`known`; 0 where it has seen no row in use), and the row that it has written last under it.
 *
 * A server whose clock the caller refuses gets no marker: its moment would count for all.
 *
 * Numbers are kept as decimal texts. All are below 2^53, which Lua's doubles hold, and printed with every digit.
 */
const JUDGE = String.raw`
local key = KEYS[1]
local ownReach, leastReach, wall, maxSkew, known, rowId, rowVersion, own =
  string.match(ARGV[1], '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (.*)$')
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
local marker, lostUntil, lostAt = meta[1] or '', tonumber(meta[2] or 0), tonumber(meta[3] or 0)
local isRecorded = string.sub(marker, 1, #term) == term
local isNew = not isRecorded
local isSame, recorded, believed = string.sub(own, 1, #term) == term, momentOf(marker), momentOf(own)
local isFormer = not isNew and not isSame and recorded < believed
local isBehind, judgesRow = false, isSame
if own ~= '' and own ~= marker and not isFormer then
  -- Its memory went back; two servers were recorded side by side; or no bar covers what the caller knows.
  local bar = lostAt > 0 and math.max(lostUntil, lostAt + tonumber(ownReach)) or lostUntil
  -- A time that no loss recorded now would reach is of a clock that was ahead: then it is enough that a bar is there.
  local longest = math.max(tonumber(ownReach), tonumber(meta[4] or 0))
  local least = tonumber(known) > now + longest and now or tonumber(known)
  isNew = isNew or recorded <= believed or bar < least
  isBehind = tonumber(known) > now + longest
  judgesRow = isSame and bar < now
end
local isOfRow = false
if judgesRow and not isNew and tonumber(rowVersion) > 0 then
  -- A row that is there, and shows no version, tells nothing.
  local row = redis.call('HGET', key, rowId)
  local version = row and (string.match(row, '^(%d+)\n') or rowVersion)
  isOfRow = not version or tonumber(version) < tonumber(rowVersion)
  isNew = isOfRow
end
local knownReach = tonumber(meta[4] or 0)
local reach = math.max(tonumber(ownReach), knownReach, isNew and tonumber(leastReach) or 0)
local function answer(...) return {marker, digits(lostUntil), digits(now), digits(reach), ...} end
if isFormer then return answer('former') end
if (isNew or isBehind) and math.abs(tonumber(wall) - now) > tonumber(maxSkew) then return answer('skew') end
if isNew or reach > knownReach then
  if isNew then
    -- A loss that only a row tells of may be one of a former primary: its successor stays later.
    local moment = isOfRow and 0 or tonumber(time[1]) * 1000000 + tonumber(time[2])
    -- Two servers that were recorded with one moment never get one again.
    local isBeside = isRecorded and not isSame and recorded == believed
    local step = isBeside and string.match(own, '^[^:]*:') < term and 2 or 1
    marker, lostAt = markerOf(math.max(moment, recorded + step, believed + step)), math.max(lostAt, now)
  end
  if lostAt > 0 then lostUntil = math.max(lostUntil, lostAt + reach) end
end
`;

/** Writes what JUDGE has found, so that every process goes by it. */
const MARK = String.raw`${JUDGE}
if isNew or reach > knownReach then
  redis.call('HSET', key, 'generation', marker, 'floor', digits(lostUntil), 'lostAt', digits(lostAt), 'reach', digits(reach))
  if isNew then redis.call('HDEL', key, 'servedAlone', 'aloneFloor') end
end
`;

/** In pieces: Lua's stack ends at some thousand values. */
const SET_ALL = `
local function setAll(fields)
  for i = 1, #fields, 1000 do redis.call('HSET', key, unpack(fields, i, math.min(i + 999, #fields))) end
end`;

/**
 * Patterns of a row's text, see LINES in worker-text.ts: HOLDER_PARTS finds the holder's part, FENCED_PARTS all
 * that a fence keeps.
 */
const HOLDER_PARTS = String.raw`
local HOLDER_PARTS = '^(%d+)\n(%d+)\n([^\n]*)\n([^\n]*)\n(%-?%d+)\n%-?%d+\n[01]\n%-?%d+\n%-?%d+\n%-?%d+\n%-?%d+\n%d+\n([^\n]*)\n[^\n]*$'
`;
const FENCED_PARTS = String.raw`
local FENCED_PARTS = '^(%d+)\n(%d+)\n[^\n]*\n([^\n]*)\n%-?%d+\n(%-?%d+\n[01])\n(%-?%d+)\n(%-?%d+)\n(%-?%d+)\n(%-?%d+)\n(%d+\n[^\n]*)\n[^\n]*$'
`;

/** Reads all fields of the key, by kind. */
const ALL = String.raw`
local all, rows, deleted, layouts = redis.call('HGETALL', key), {}, {}, {}
for i = 1, #all, 2 do
  local name, value = all[i], all[i + 1]
  if not string.find(name, '%D') then rows[name] = value
  elseif string.sub(name, 1, 7) == 'layout:' then layouts[#layouts + 1] = string.sub(name, 8)
  elseif string.sub(name, 1, 8) == 'deleted:' then deleted[string.sub(name, 9)] = true end
end
`;

/**
 * Adds the rows from ARGV[2] to ARGV[3] that are missing, each with the text ARGV[4], and notes the layouts after that.
 */
const COMPLETE = String.raw`${MARK}${SET_ALL}
local missing, ids = {}, {}
for id = tonumber(ARGV[2]), tonumber(ARGV[3]) do ids[#ids + 1] = digits(id) end
for from = 1, #ids, 1000 do
  for i, row in ipairs(redis.call('HMGET', key, unpack(ids, from, math.min(from + 999, #ids)))) do
    if not row then
      missing[#missing + 1] = ids[from + i - 1]
      missing[#missing + 1] = ARGV[4]
    end
  end
end
setAll(missing)
for i = 5, #ARGV do redis.call('HSETNX', key, 'layout:' .. ARGV[i], digits(now)) end
return answer()
`;

/** All fields as they are. */
const TABLE = String.raw`${MARK}
return answer(redis.call('HGETALL', key))
`;

/** The same for a caller that only reads: no marker is written. */
const PEEK = String.raw`${JUDGE}
return answer(redis.call('HGETALL', key))
`;

/** The row ARGV[2]; false when it is missing or marked deleted. */
const ONE = String.raw`${MARK}
local found = redis.call('HMGET', key, ARGV[2], 'deleted:' .. ARGV[2])
return answer(not found[2] and found[1])
`;

/** Up to ARGV[5] free rows from ARGV[2] to ARGV[3], beginning with ARGV[4] among equals; ARGV[6] is the grace. */
const SAMPLE = String.raw`${MARK}${HOLDER_PARTS}${ALL}
local used, seen = {}, {['']= true}
local function use(layout)
  if not seen[layout] then
    seen[layout] = true
    used[#used + 1] = layout
  end
end
local min, max, from, atMost, grace = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local free, total, live, foreign = {}, 0, 0, 0
for name, row in pairs(rows) do
  local version, own, token, layout, leaseUntil, code = string.match(row, HOLDER_PARTS)
  if version then use(layout) elseif not deleted[name] then return answer('corrupt', name) end
  local id = tonumber(name)
  local isOfOthers = code ~= '' and own ~= version
  if version and not deleted[name] and isOfOthers then foreign = foreign + 1 end
  if version and not deleted[name] and id >= min and id <= max then
    total = total + 1
    if token ~= '' and now < tonumber(leaseUntil) + grace then live = live + 1
    elseif not isOfOthers then
      free[#free + 1] = {token == '' and 0 or tonumber(leaseUntil), id < from and 1 or 0, id, name, row}
    end
  end
end
table.sort(free, function(a, b)
  if a[1] ~= b[1] then return a[1] < b[1] end
  if a[2] ~= b[2] then return a[2] < b[2] end
  return a[3] < b[3]
end)
local sample = {}
for i = 1, math.min(atMost, #free) do
  sample[#sample + 1] = free[i][4]
  sample[#sample + 1] = free[i][5]
end
return answer('sample', sample, layouts, used, total, live, foreign)
`;

/**
 * Writes the row ARGV[3] if it has still the version ARGV[4] and the token ARGV[5], and if Redis has lost nothing since
 * they were read under marker ARGV[2]: what comes back with an old memory can look the same. The new text is the
 * version ARGV[6], the token and layout ARGV[7], a lease of ARGV[8], and ARGV[9].
 */
const WRITE = String.raw`${MARK}
local seen, id, version, token = ARGV[2], ARGV[3], ARGV[4], ARGV[5]
if seen ~= marker then return answer(0) end
local found = redis.call('HMGET', key, id, 'deleted:' .. id)
if not found[1] or found[2] then return answer(0) end
local foundVersion, foundToken = string.match(found[1], '^(%d+)\n%d+\n([^\n]*)\n')
if foundVersion ~= version or foundToken ~= token then return answer(0) end
local row = {ARGV[6], ARGV[6], ARGV[7], digits(now + tonumber(ARGV[8])), digits(now), ARGV[9]}
redis.call('HSET', key, id, table.concat(row, '\n'))
return answer(1)
`;

/**
 * Frees every row, its odometers and lostUntil at the end of the fence at least: now + ARGV[2], or the end of the reach.
 * Versions are ARGV[3] more. The marker is later than that of any other server, by ARGV[4] ms. ARGV[5] is
 * `issuedUntilMs` or empty, ARGV[6] is `servedAlone` or empty. The fence counts from ARGV[7] on; clocks may be ARGV[8] ms
 * apart. See stateAfterFence. A server whose clock the caller refuses is never fenced, nor is one with a later loss.
 */
const FENCE = String.raw`${JUDGE}
maxSkew = tonumber(ARGV[8])
if math.abs(tonumber(wall) - now) > maxSkew then return answer('skew') end
local issuedUntil = tonumber(ARGV[5])
if not issuedUntil and lostAt > now + 2 * maxSkew then return answer('behind', digits(lostAt)) end
${SET_ALL}${FENCED_PARTS}${ALL}
local alone, aloneFloor = ARGV[6], lostUntil
local stated = redis.call('HMGET', key, 'servedAlone', 'aloneFloor')
-- The fence takes the place of what JUDGE has found: a restore into another server is no loss.
if isNew and meta[2] then aloneFloor, lostAt = tonumber(meta[2]), tonumber(meta[3] or 0) end
if stated[1] == alone then aloneFloor = tonumber(stated[2]) end
if lostAt > 0 then aloneFloor = math.max(aloneFloor, lostAt + reach) end
local ends = math.max(now, tonumber(ARGV[7])) + math.max(reach, tonumber(ARGV[2]))
if issuedUntil then lostAt, lostUntil = math.min(lostAt, now), math.max(ends, issuedUntil)
else lostUntil = math.max(lostUntil, ends) end
local leap, count = tonumber(ARGV[3]), 0
local later = markerOf(math.max(now * 1000, momentOf(marker)) + tonumber(ARGV[4]) * 1000)
local fenced = {'floor', digits(lostUntil), 'lostAt', digits(lostAt), 'generation', later, 'reach', digits(reach)}
local function odometer(ms, sequence, layout, isUsed)
  local isKept = alone ~= '' and isUsed and layout ~= alone
  if tonumber(ms) > lostUntil then isKept = not issuedUntil end
  if isKept then return ms .. '\n' .. sequence end
  return digits(lostUntil) .. '\n9007199254740991'
end
for id, row in pairs(rows) do
  count = count + 1
  local version, own, layout, heartbeatAndLane, ms0, seq0, ms1, seq1, unitAndCode = string.match(row, FENCED_PARTS)
  if version then
    version, own = digits(tonumber(version) + leap), digits(tonumber(own) + leap)
    local isUsed = layout ~= '' or string.find(unitAndCode, '\n.')
    local odometers = odometer(ms0, seq0, layout, isUsed) .. '\n' .. odometer(ms1, seq1, layout, isUsed)
    local parts = {version, own, '', layout, digits(now), heartbeatAndLane, odometers, unitAndCode, ''}
    fenced[#fenced + 1] = id
    fenced[#fenced + 1] = table.concat(parts, '\n')
  elseif not deleted[id] then return answer('corrupt', id) end
end
setAll(fenced)
if alone == '' then redis.call('HDEL', key, 'servedAlone', 'aloneFloor')
else redis.call('HSET', key, 'servedAlone', alone, 'aloneFloor', digits(math.min(aloneFloor, lostUntil))) end
marker = later
return answer('fenced', count)
`;

/** For a Redis that was never used: a marker without a loss. 0 when the key exists. */
const INIT = String.raw`
if redis.call('EXISTS', KEYS[1]) == 1 then return {redis.call('HLEN', KEYS[1])} end
${MARK}
redis.call('HSET', key, 'floor', '0', 'lostAt', '0')
return {0}
`;

/** The server's settings, as texts of INFO. */
const DURABILITY = String.raw`
return {redis.call('INFO', 'persistence'), redis.call('INFO', 'replication'), redis.call('INFO', 'memory')}
`;

/**
 * KEYS[1] is the hash that holds everything: a part of it cannot be lost, evicted or restored without the marker.
 * ARGV[1] is the longest reach that the caller knows, the least, the caller's clock, how far that may be from this
 * one's; up to when it knows of grants, the id and the version of the row that it has written last, 0 for none, and the
 * last marker that it has seen. The answer begins with marker, lostUntil, time, longest reach.
 */
export const workerScripts = {
  complete: script(COMPLETE),
  table: script(TABLE),
  peek: script(PEEK),
  one: script(ONE),
  sample: script(SAMPLE),
  write: script(WRITE),
  fence: script(FENCE),
  init: script(INIT),
  durability: script(DURABILITY),
};

export type WorkerScriptName = keyof typeof workerScripts;
