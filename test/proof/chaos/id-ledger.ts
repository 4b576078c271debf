import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readAllIds, readIds } from '../../support/processes/id-file.js';

/** Who has returned an ID. */
export interface IdOrigin {
  /** Process and start, as `2-5`: the fifth process in place 2. */
  readonly process: string;
  /** Which of its IDs for that code, from 0. */
  readonly position: number;
}

export interface RepeatedId {
  readonly id: bigint;
  readonly code: string;
  readonly origins: readonly IdOrigin[];
}

export interface LedgerVerdict {
  readonly ids: number;
  /** How many IDs too many. */
  readonly duplicates: number;
  /** The first of them. */
  readonly examples: readonly RepeatedId[];
  /** IDs that cannot be any: 0 and less. */
  readonly impossible: number;
}

const SHOWN = 10;

/** Compares all IDs that were ever returned with each other, code by code. */
export function compareIds(directory: string, codes: readonly string[]): LedgerVerdict {
  const verdicts = codes.map((code) => compareCode(directory, code));
  const sum = (key: 'ids' | 'duplicates' | 'impossible'): number =>
    verdicts.reduce((total, verdict) => total + verdict[key], 0);
  return {
    ids: sum('ids'),
    duplicates: sum('duplicates'),
    examples: verdicts.flatMap(({ examples }) => examples).slice(0, SHOWN),
    impossible: sum('impossible'),
  };
}

function compareCode(directory: string, code: string): LedgerVerdict {
  const names = readdirSync(directory).filter((name) => name.endsWith(`.${code}`));
  const files = names.map((name) => join(directory, name));
  const all = readAllIds(files);
  all.sort();
  const repeated = new Map<bigint, IdOrigin[]>();
  let duplicates = 0;
  for (let index = 1; index < all.length; index++) {
    if (all[index] !== all[index - 1]) continue;
    duplicates++;
    if (repeated.size < SHOWN) repeated.set(all[index]!, []);
  }
  if (repeated.size > 0) names.forEach((name, index) => findOrigins(repeated, files[index]!, name));
  let impossible = 0;
  while (impossible < all.length && all[impossible]! <= 0n) impossible++;
  const examples = [...repeated].map(([id, origins]) => ({ id, code, origins }));
  return { ids: all.length, duplicates, examples, impossible };
}

function findOrigins(repeated: Map<bigint, IdOrigin[]>, file: string, name: string): void {
  readIds(file).forEach((id, position) =>
    repeated.get(id)?.push({ process: name.slice(0, name.indexOf('.')), position }),
  );
}
