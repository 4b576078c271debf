import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RaindropError, createLayout, parseId } from '@raindrop/core';
import { createTestIdService } from '@raindrop/nestjs/testing';
import { readDocument } from './typescript-blocks.js';

const GUIDE = readDocument('docs/how-it-works.md');
const LAYOUT = createLayout(
  { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 10, endBitsLength: 1 },
  Date.now(),
);

/** The cells of the table rows in a text, without heading and ruler. */
function rowsOf(text: string): string[][] {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('*', '').trim()),
  );
}

describe('The ID that docs/how-it-works.md takes apart', () => {
  const rows = rowsOf(/^\| field \|[\s\S]*?\n\n/m.exec(GUIDE)![0]);
  const [id] = rows.pop()!.slice(4);
  const { time, tick, workerId, clockBack, sequence, endBits } = parseId(LAYOUT, id!);

  it('has the fields that the table says', () => {
    const values = [tick, workerId, clockBack, sequence, endBits];
    const fields = LAYOUT.fields.map(({ bits, shift }, index) => [bits, shift, values[index]!] as const);
    expect(rows.map(([, ...numbers]) => numbers.map(Number))).toEqual(
      fields.map(([bits, shift, value]) => [bits, shift, value, Number(BigInt(value) << BigInt(shift))]),
    );
  });

  it('is the sum of its fields', () => {
    expect(rows.reduce((sum, row) => sum + BigInt(row[4]!), 0n)).toBe(BigInt(id!));
  });

  it('was issued when the text says, by a layout of which the text is true', () => {
    const text = GUIDE.replace(/\s+/g, ' ');
    expect(text).toContain(`of ${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`);
    expect(text).toContain(`${LAYOUT.idsPerTick.toLocaleString('en-US')} IDs a second`);
    expect(text).toContain(`end on ${LAYOUT.expiresAt!.toISOString().slice(0, 10)}.`);
    expect(text).toContain(`on ${LAYOUT.safeUntil!.toISOString().slice(0, 10)}:`);
    expect(LAYOUT.sequenceStep).toBe(2);
  });
});

it('The calls that docs/how-it-works.md goes through are answered so', async () => {
  const moment = (time: string): string => `2026-06-01T${time}Z`;
  const rows = rowsOf(/<!-- clock: begin -->[\s\S]*<!-- clock: end -->/.exec(GUIDE)![0]);
  expect(rows).toHaveLength(14);
  const { ids, clock } = createTestIdService({
    startTimeStamp: '2026-01-01',
    timeStampLength: 50,
    workIdLength: 10,
    endBitsLength: 1,
    now: moment(rows[0]![0]!),
  });
  const call = (): string[] => {
    try {
      const { time, clockBack, sequence } = ids.parse(ids.nextId());
      return [time.toISOString().slice(11, 19), String(clockBack), String(sequence)];
    } catch (error) {
      return [`\`${(error as RaindropError).errorCode}\``, '', ''];
    }
  };
  for (const [at, ...expected] of rows) {
    const ahead = Date.parse(moment(at!)) - clock.now();
    if (ahead < 0) clock.set(moment(at!));
    else await clock.advance(ahead);
    expect([at, ...call()]).toEqual([at, ...expected.slice(0, 3)]);
  }
});

it('CONTRIBUTING.md and docs/contributing/design.md name only files that exist', () => {
  const text = readDocument('CONTRIBUTING.md') + readDocument('docs/contributing/design.md');
  const paths = Array.from(text.matchAll(/`((?:libs|test)\/[\w./-]+)`/g), (match) => match[1]!);
  // A row may name a folder once: `libs/core/src/layout`: `layout.ts`, `layout-options.ts`.
  const inFolders = Array.from(text.matchAll(/`((?:libs|test)\/[\w./-]+)`: ((?:`[\w.-]+\.ts`(?:, )?)+)/g), (match) =>
    Array.from(match[2]!.matchAll(/`([\w.-]+)`/g), ([, file]) => `${match[1]}/${file}`),
  ).flat();
  const named = [...paths, ...inFolders];
  expect(inFolders.length).toBeGreaterThan(10);
  expect(named.filter((path) => !existsSync(join(__dirname, '../../..', path)))).toEqual([]);
});
