import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { DatabaseKind } from './test-databases';

/** Names the file in which every test process notes the databases it made. */
export const LEDGER_VARIABLE = 'RAINDROP_TEST_LEDGER';

export interface LedgerEntry {
  readonly kind: DatabaseKind;
  /** The database's name, or SQLite's directory. */
  readonly name: string;
}

/** Begins an empty ledger and gives its path. */
export function openLedger(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'raindrop-ledger-')), 'databases');
  appendFileSync(file, '');
  return file;
}

/** Notes a database before it is made: what a killed test leaves behind is then still found. */
export function noteDatabase(entry: LedgerEntry): void {
  const file = process.env[LEDGER_VARIABLE];
  if (file !== undefined) {
    appendFileSync(file, `${entry.kind} ${entry.name}\n`);
  }
}

/** Reads and removes the ledger. */
export function closeLedger(file: string): LedgerEntry[] {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
  rmSync(dirname(file), { recursive: true, force: true });
  return lines.map((line) => {
    const space = line.indexOf(' ');
    return { kind: line.slice(0, space) as DatabaseKind, name: line.slice(space + 1) };
  });
}
