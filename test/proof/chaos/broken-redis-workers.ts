import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** What bars all worker ids for a while when Redis has lost its memory. */
const SAFEGUARD = 'if lostAt > 0 then lostUntil';
const BROKEN = 'if false then lostUntil';

type Scripts = Record<string, { lua: string; sha: string }>;

/** Takes that safeguard out of the scripts that keep worker ids in Redis: the negative control. It must repeat IDs. */
export function breakRedisWorkers(): void {
  // No export: no other code should do that.
  const file = join(process.env['NODE_PATH']!, '@raindrop/node/dist/redis/worker-store/worker-scripts.js');
  // eslint-disable-next-line @typescript-eslint/no-require-imports
  const { workerScripts } = require(file) as { workerScripts: Scripts };
  for (const each of Object.values(workerScripts)) {
    each.lua = each.lua.replace(SAFEGUARD, BROKEN);
    each.sha = createHash('sha1').update(each.lua).digest('hex');
  }
  if (!workerScripts['write']!.lua.includes(BROKEN)) throw new Error(`no script has ${SAFEGUARD}`);
}
