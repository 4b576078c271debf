import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'yaml';

const ROOT = resolve(__dirname, '../../..');

/** A file of the repository. */
export function readText(path: string): string {
  return readFileSync(resolve(ROOT, path), 'utf8');
}

/**
 * A YAML or JSON file of the repository.
 * @throws what the parser throws, also for a key that is there twice
 */
export function readData<Data>(path: string): Data {
  return parse(readText(path), { strict: true, uniqueKeys: true }) as Data;
}
