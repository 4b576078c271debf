import { ConfigurationError } from '@raindrop/core';
import { fencesOf } from '../key-values/worker-record.js';

const FENCE = 'fence';

/**
 * Refuses a prefix that lies inside the prefix of another table, or around it: deleting or restoring all keys of the one
 * takes along those of the other. A table is told by its key `fence`; an application may have keys that are called so,
 * with another text.
 *
 * @param inside the keys that begin with the prefix
 * @param read the text of a key; undefined where there is none, or the account may not read it
 * @throws ConfigurationError
 */
export async function refuseOverlap(
  prefix: string,
  inside: Iterable<string>,
  read: (key: string) => Promise<string | undefined>,
): Promise<void> {
  const isFence = (key: string): boolean => key.endsWith(`/${FENCE}`) && key !== `${prefix}${FENCE}`;
  for (const key of [...aroundOf(prefix).map((each) => `${each}${FENCE}`), ...[...inside].filter(isFence)]) {
    const text = await read(key);
    if (text === undefined || !areFences(key, text)) continue;
    const other = key.slice(0, -FENCE.length);
    const message =
      `of etcdWorkers() lies ${other.length > prefix.length ? 'around' : 'inside'} the prefix ${other} of another table ` +
      `of worker ids. Take a prefix that neither begins with another table's nor is the begin of one. If IDs were issued ` +
      `with this one, stop its processes, call fenceWorkers() with the new prefix before the next start, and name their ` +
      `layout in the options. If the table at ${other} is given up, delete its key ${key}`;
    throw new ConfigurationError([{ option: 'prefix', given: prefix, message }]);
  }
}

/** Of `a/b/c/`: `a/` and `a/b/`. */
function aroundOf(prefix: string): string[] {
  const names = prefix.split('/').slice(0, -2);
  return names.map((_, index) => `${names.slice(0, index + 1).join('/')}/`);
}

function areFences(key: string, text: string): boolean {
  try {
    fencesOf(key, text);
    return true;
  } catch {
    return false;
  }
}
