import { script } from '../../../libs/node/src/redis/redis-scripts.js';
import { workerScripts, type WorkerScriptName } from '../../../libs/node/src/redis/worker-store/worker-scripts.js';

/** Replaces a safeguard in all scripts that have it; `jest.restoreAllMocks` puts it back. */
export function weakenWorkerScripts(safeguard: string, replacement: string): void {
  const names = Object.keys(workerScripts) as WorkerScriptName[];
  const concerned = names.filter((name) => workerScripts[name].lua.includes(safeguard));
  if (concerned.length === 0) throw new Error(`no script has ${safeguard}`);
  for (const name of concerned) {
    jest.replaceProperty(workerScripts, name, script(workerScripts[name].lua.replace(safeguard, replacement)));
  }
}
