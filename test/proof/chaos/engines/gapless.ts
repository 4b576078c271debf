import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { readIds } from '../../../support/processes/id-file.js';
import type { Way } from './engine.js';
import type { GaplessVerdict } from './engine-report.js';
import { DOCUMENTS } from './number-messages.js';

/** Holds the rows of documents against what processes were told. @throws Error when the table cannot be read */
export async function readGapless(database: Way, directory: string): Promise<GaplessVerdict> {
  const source = await new DataSource(database as unknown as DataSourceOptions).initialize();
  try {
    const rows = await source.query<{ number: unknown }[]>(`SELECT number FROM ${DOCUMENTS}`);
    const numbers = rows.map(({ number }) => BigInt(String(number)));
    const there = new Set(numbers);
    const last = numbers.reduce((most, number) => (number > most ? number : most), 0n);
    // A number that was acknowledged twice has one row: the other one is lost.
    let lost = 0;
    for (const acknowledged of readAcknowledged(directory)) if (!there.delete(acknowledged)) lost++;
    const distinct = new Set(numbers).size;
    return { rows: numbers.length, repeated: numbers.length - distinct, gaps: Number(last) - distinct, lost };
  } finally {
    await source.destroy();
  }
}

function readAcknowledged(directory: string): bigint[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.gapless'));
  return files.flatMap((name) => [...readIds(join(directory, name))]);
}
