import type { Phase } from './uuid-key.js';

/** The table whose keys are numbered, and under which name the old ones are kept. */
interface Numbered {
  readonly path: string;
  readonly table: string;
  readonly kept: string;
  /** So many rows have numbers. */
  readonly room: bigint;
}

/** What is looked at before anything is written, on every database. @param isSwapped SQL with a row when that was done */
export function firstLooks({ path, table, kept, room }: Numbered, isSwapped: string): Phase[] {
  return [
    {
      name: 'nothing was swapped yet',
      none: isSwapped,
      says: `${table} has a column ${kept} already: its keys were swapped before`,
    },
    {
      name: 'enough numbers',
      none: `SELECT 1 FROM ${path} HAVING COUNT(*) >= ${room}`,
      says: `${table} has grown past the numbers that were set aside: run raindrop adopt again`,
    },
  ];
}
