import type { WorkerRow } from '@raindrop/core';
import { DatabaseCallError, DriverNotInstalledError, StoreUnavailableError } from '@raindrop/node';
import { resolveLayout } from '../../../core/src/layout/layout-options.js';
import { checkClock, checkLayout, checkTable } from './checks.js';
import { remedyFor } from './examine.js';

const now = Date.parse('2026-11-21');

const rowOf = (id: number, changes: Partial<WorkerRow> = {}): WorkerRow => ({
  id,
  version: 1,
  ownVersion: 1,
  token: '',
  holder: '',
  layout: '',
  leaseUntilMs: 0,
  lane: 0,
  odometers: [
    { ms: 0, sequence: -1 },
    { ms: 0, sequence: -1 },
  ],
  code: '',
  heartbeatMs: 0,
  ...changes,
});

const tableOf = (rows: WorkerRow[], layouts: string[] = []) => ({ nowMs: now, rows, deleted: [], layouts });

const held = { token: 't', leaseUntilMs: now + 1 };

describe('the check of the clock', () => {
  it.each([
    { before: 1_000, database: 1_000, after: 1_000, state: 'ok' },
    // A slow way is no skew.
    { before: 1_000, database: 40_000, after: 90_000, state: 'ok' },
    { before: 5_000, database: 4_000, after: 5_010, state: 'ok' },
    { before: 5_001, database: 4_000, after: 5_010, state: 'warn' },
    { before: 1_000, database: 2_011, after: 1_010, state: 'warn' },
    { before: 31_000, database: 1_000, after: 31_000, state: 'warn' },
    { before: 31_001, database: 1_000, after: 31_002, state: 'fail' },
    { before: 1_000, database: 31_003, after: 1_002, state: 'fail' },
  ])('is $state for $database between $before and $after', ({ before, database, after, state }) => {
    expect(checkClock(before, database, after, 30_000).state).toBe(state);
  });
});

describe('the check of the rows', () => {
  it.each([
    { what: 'all free', rows: [1, 2, 3, 4].map((id) => rowOf(id)), states: ['ok', 'ok', 'ok'] },
    { what: 'one missing', rows: [1, 2, 3].map((id) => rowOf(id)), states: ['warn', 'ok', 'ok'] },
    { what: 'rows of others', rows: [1, 2, 3, 4, 5, 9].map((id) => rowOf(id)), states: ['ok', 'ok', 'ok'] },
    { what: 'half held', states: ['ok', 'ok', 'ok'], rows: [1, 2, 3, 4].map((id) => rowOf(id, id <= 2 ? held : {})) },
    {
      what: 'more than half held',
      states: ['ok', 'warn', 'ok'],
      rows: [1, 2, 3, 4].map((id) => rowOf(id, id <= 3 ? held : {})),
    },
    { what: 'all held', rows: [1, 2, 3, 4].map((id) => rowOf(id, held)), states: ['ok', 'fail', 'ok'] },
    {
      what: 'one foreign',
      states: ['ok', 'ok', 'warn'],
      rows: [1, 2, 3, 4].map((id) => rowOf(id, id === 1 ? { code: 'go', version: 2 } : {})),
    },
  ])('with $what', ({ rows, states }) => {
    expect(checkTable(tableOf(rows), { min: 1, max: 4 }, 0).map(({ state }) => state)).toEqual(states);
  });
});

describe('the check of the layout', () => {
  const options = { startTimeStamp: '2026-01-01', timeStampLength: 33, workIdLength: 3, endBitsLength: 1 };
  const resolved = resolveLayout(options, now);
  const other = resolveLayout({ ...options, workIdLength: 4 }, now).layout.fingerprint;
  const smaller = resolveLayout({ ...options, timeStampLength: 34 }, now).layout.fingerprint;
  const larger = resolveLayout({ ...options, timeStampLength: 32 }, now).layout.fingerprint;
  const odometers = [1, 2].map(() => ({ ms: now, sequence: 0 })) as unknown as WorkerRow['odometers'];
  const disjoint = resolveLayout({ ...options, workIdLength: 4, endBitsValue: 1 }, now).layout.fingerprint;

  it.each([
    { what: 'no other program', rows: [], layouts: [resolved.layout.fingerprint], state: 'ok' },
    { what: 'an earlier one that issued nothing', rows: [], layouts: [other], state: 'ok' },
    {
      what: 'an earlier one whose IDs were smaller',
      rows: [rowOf(1, { layout: smaller, odometers })],
      layouts: [],
      state: 'ok',
    },
    {
      what: 'an earlier one whose IDs were larger',
      rows: [rowOf(1, { layout: larger, odometers })],
      layouts: [],
      state: 'fail',
    },
    { what: 'one that cannot be read', rows: [], layouts: ['?'], state: 'fail' },
    {
      what: 'one with other end bits',
      rows: [rowOf(1, { ...held, layout: disjoint })],
      layouts: [disjoint],
      state: 'ok',
    },
    { what: 'one that issues', rows: [rowOf(1, { ...held, layout: other })], layouts: [other], state: 'fail' },
  ])('finds $what', ({ rows, layouts, state }) => {
    expect(checkLayout(resolved, tableOf(rows, layouts), 0)[1]?.state).toBe(state);
  });

  it('warns in the last year', () => {
    const short = resolveLayout(
      { ...options, startTimeStamp: '1959-06-01', timeStampLength: 31, minLifetimeDays: 0 },
      now,
    );
    const [later] = checkLayout(short, { ...tableOf([]), nowMs: short.layout.expiresAt!.getTime() - 86_400_000 }, 0);
    expect(later).toMatchObject({ state: 'warn', detail: expect.stringContaining('1 days left') as string });
  });
});

it.each([
  [new DatabaseCallError('connect', 'ECONNREFUSED'), 'start the database'],
  [new DatabaseCallError('getaddrinfo', 'ENOTFOUND'), 'correct the host in dbConfig'],
  [new DatabaseCallError('connect', 'ETIMEDOUT'), 'firewall'],
  [new DatabaseCallError('Connection terminated due to connection timeout', ''), 'firewall'],
  [new DatabaseCallError('no such table: soc_raindrop_worker', 'SQLITE_ERROR'), 'run raindrop init'],
  [new DatabaseCallError('file is not a database', 'SQLITE_NOTADB'), 'not a SQLite database'],
  [new DriverNotInstalledError('postgres'), 'npm install pg'],
  [new StoreUnavailableError('renew', new Error('odd')), 'see docs/errors.md, STORE_UNAVAILABLE'],
])('%s is cured', (error, cure) => {
  expect(remedyFor(error)).toContain(cure);
});
