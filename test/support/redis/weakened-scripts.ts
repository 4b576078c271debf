import { redisScripts, script, type RedisScriptName } from '../../../libs/node/src/redis/redis-scripts.js';

/** Replaces a safeguard in all scripts that have it; `jest.restoreAllMocks` puts it back. */
export function weakenScripts(safeguard: string, replacement: string): void {
  const names = Object.keys(redisScripts) as RedisScriptName[];
  const concerned = names.filter((name) => redisScripts[name].lua.includes(safeguard));
  if (concerned.length === 0) throw new Error(`no script has ${safeguard}`);
  for (const name of concerned) {
    jest.replaceProperty(redisScripts, name, script(redisScripts[name].lua.replace(safeguard, replacement)));
  }
}
