import type { MemoryWorkerTable } from '@raindrop/core/internal';
import { StateDirectory } from '../../../libs/node/src/state-file/state-directory.js';
import { decodeWorkers, encodeWorkers } from '../../../libs/node/src/state-file/file-worker-store.js';

/** Another program changes the file, as one that knows its format might. */
export async function changeWorkers(path: string, change: (table: MemoryWorkerTable) => void): Promise<void> {
  const directory = new StateDirectory(path);
  for (;;) {
    const version = await directory.read();
    if (version === undefined) throw new Error(`${path} is missing`);
    const table = decodeWorkers(version.text);
    change(table);
    if ((await directory.replace(version, encodeWorkers(table))) !== undefined) return;
  }
}
