import { createHash } from 'node:crypto';

/** A Lua script and the SHA-1 that Redis knows it by. */
export interface RedisScript {
  readonly lua: string;
  readonly sha: string;
}

/**
 * Every script first asks the server that executes it for its term: the `run_id` of the process and the
 * `master_replid` of its time as a primary, which is another one after every promotion. A range lives under the term in
 * which it was pushed, so a range that comes back with an old snapshot, with a replica's copy, or on a server that was
 * demoted and promoted again, has a key that no process asks for. A term that was asked for before, on the same
 * connection, would not do: a failover may come between the two commands.
 */
const TERM = `
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local replication = redis.call('INFO', 'replication')
local replid = string.match(replication, 'master_replid:(%w+)')
if not run or not replid then return redis.error_reply('RAINDROP this server tells no run_id and master_replid') end
if not string.find(replication, 'role:master') then return redis.error_reply('READONLY this server is a replica') end
local term = run .. '.' .. replid
if ARGV[1] ~= term then return {'term', term} end
`;

/** Numbers are decimal texts: Lua's own are doubles. */
const ABOVE = `
local function isAbove(a, b) return #a > #b or (#a == #b and a > b) end
`;

/**
 * Takes a run of up to ARGV[2] numbers, all above ARGV[3]; and the refill lock when too little is left, in the same
 * round trip.
 *
 * Ranges that end at or below ARGV[3] are dropped: the caller reserved past them while Redis was out of reach.
 */
const POP = `${TERM}${ABOVE}
local count, above, idle, token, lockMs = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
local r = redis.call('HMGET', KEYS[1], 'first', 'last', 'size', 'taken', 'nextFirst', 'nextLast', 'nextSize', 'newest')
local first, last, size, taken, newest = r[1], r[2], tonumber(r[3] or 0), tonumber(r[4] or 0), r[8] or '0'
local nextSize = tonumber(r[7] or 0)
local function isSpent() return taken >= size or not isAbove(last, above) end
if first and isSpent() and r[5] then
  first, last, size, taken, nextSize = r[5], r[6], nextSize, 0, 0
  redis.call('HSET', KEYS[1], 'first', first, 'last', last, 'size', size, 'taken', 0)
  redis.call('HDEL', KEYS[1], 'nextFirst', 'nextLast', 'nextSize')
end
if first and isSpent() and taken < size then
  redis.call('HSET', KEYS[1], 'taken', size)
  redis.call('HINCRBY', KEYS[1], 'version', 1)
  taken = size
end
local run, version, locked = math.min(count, size - taken), 0, 0
if run > 0 then
  redis.call('HINCRBY', KEYS[1], 'taken', run)
  version = redis.call('HINCRBY', KEYS[1], 'version', 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[7])
end
if nextSize == 0 and size - taken - run <= idle * size then
  if redis.call('SET', KEYS[2], token, 'NX', 'PX', lockMs) or redis.call('GET', KEYS[2]) == token then locked = 1 end
end
return {'run', first or '0', taken, run, version, locked, newest}
`;

/**
 * Appends a range that was reserved under the lock. The token is used up first: a command that is sent twice, by a
 * client that reconnects say, adds nothing the second time, whatever was flushed in between. Ranges only move forward.
 */
const PUSH = `${TERM}${ABOVE}
local token, first, last, size, keepMs = ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('GET', KEYS[2]) ~= token then return {'refused'} end
redis.call('DEL', KEYS[2])
local r = redis.call('HMGET', KEYS[1], 'size', 'taken', 'nextFirst', 'newest')
if r[3] or (r[4] and not isAbove(first, r[4])) then return {'refused'} end
if r[1] and tonumber(r[2]) < tonumber(r[1]) then
  redis.call('HSET', KEYS[1], 'nextFirst', first, 'nextLast', last, 'nextSize', size, 'newest', last)
else
  redis.call('HSET', KEYS[1], 'first', first, 'last', last, 'size', size, 'taken', 0, 'newest', last)
end
redis.call('PEXPIRE', KEYS[1], keepMs)
return {'pushed'}
`;

/** Releases the lock, if it is still the caller's. */
const RELEASE = `${TERM}
if redis.call('GET', KEYS[2]) == ARGV[2] then redis.call('DEL', KEYS[2]) end
return {'released'}
`;

/**
 * Takes the end of a run back, provided that nothing has happened to the range since: every pop and every return counts
 * the version up, so a return that is sent twice, or late, finds another version.
 */
const GIVE_BACK = `${TERM}
local first, version, unused = ARGV[2], ARGV[3], tonumber(ARGV[4])
local r = redis.call('HMGET', KEYS[1], 'first', 'version')
if r[1] ~= first or r[2] ~= version then return {'refused'} end
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HINCRBY', KEYS[1], 'taken', -unused)
return {'returned'}
`;

/** Removes a range and its lock: the push of a process that is refilling it is refused. */
const DROP = `${TERM}
redis.call('DEL', KEYS[1], KEYS[2])
return {'dropped'}
`;

/**
 * KEYS[1] is the range, KEYS[2] the lock, ARGV[1] the term that both keys end with. The answer is `term` and the right
 * one when that is another one.
 */
export const redisScripts = {
  pop: script(POP),
  push: script(PUSH),
  release: script(RELEASE),
  giveBack: script(GIVE_BACK),
  drop: script(DROP),
};

export type RedisScriptName = keyof typeof redisScripts;

export function script(lua: string): RedisScript {
  return { lua, sha: createHash('sha1').update(lua).digest('hex') };
}
