import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SqlServerKind } from './database-admin';
import { MissingForTests } from '../jest/missing-for-tests';

/** Names the file in which every test process notes what the end of the run has to know. */
export const LEDGER_VARIABLE = 'RAINDROP_TEST_LEDGER';

export interface MadeDatabase {
  readonly kind: SqlServerKind | 'sqlite';
  /** The database's name, or SQLite's directory. */
  readonly name: string;
}

/** A test that was left out for want of something. */
export interface LeftOutTest {
  readonly what: string;
  readonly reason: string;
}

export interface Ledger {
  readonly databases: readonly MadeDatabase[];
  readonly leftOut: readonly LeftOutTest[];
}

/** Begins an empty ledger and gives its path. */
export function openLedger(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'raindrop-ledger-')), 'notes');
  appendFileSync(file, '');
  return file;
}

/** Notes a database before it is made: what a killed test leaves behind is then still found. */
export function noteDatabase({ kind, name }: MadeDatabase): void {
  note({ kind, name });
}

export function noteLeftOut({ what, reason }: MissingForTests): void {
  note({ what, reason });
}

/** Reads and removes the ledger. */
export function closeLedger(file: string): Ledger {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  rmSync(dirname(file), { recursive: true, force: true });
  const notes = lines.map((line) => JSON.parse(line) as MadeDatabase | LeftOutTest);
  return {
    databases: notes.filter((entry) => 'kind' in entry),
    leftOut: notes.filter((entry) => 'what' in entry),
  };
}

function note(entry: MadeDatabase | LeftOutTest): void {
  const file = process.env[LEDGER_VARIABLE];
  if (file !== undefined) {
    appendFileSync(file, `${JSON.stringify(entry)}\n`);
  }
}
