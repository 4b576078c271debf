import { setTimeout as pause } from 'node:timers/promises';
import { createLayout, type LayoutOptions } from '@raindrop/core';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { DataSource } from 'typeorm';
import { repeated } from '../../support/processes/repeated.js';
import { startApp } from '../../support/module/module-fixture.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { Family, ONE_ROW, SHORT_LEASE, type FamilyChoice } from './family.js';

jest.setTimeout(360_000);

let database: TestDatabase;
let family: Family;
beforeEach(async () => {
  database = await testDatabase('sqlite');
});
afterEach(async () => {
  await family.end();
  await database.drop();
});

async function start(choice?: FamilyChoice): Promise<void> {
  family = new Family(database.options, choice);
  await family.until('the primary to be up', () => family.of('up').length === 1);
}

/** What workers are told that have used up what they had. */
const REFUSALS = ['WAIT_TIMEOUT', 'IDS_NOT_READY', 'ID_SOURCE_UNAVAILABLE', 'LEASE_LOST'];

/** The worker table's rows. */
async function rows(): Promise<{ id: number; token: string }[]> {
  const source = await new DataSource(database.options).initialize();
  try {
    return await source.query('SELECT id, token FROM soc_raindrop_worker');
  } finally {
    await source.destroy();
  }
}

/** A process that stands still in the middle of a write keeps everybody else from writing into a SQLite file. */
async function stopBetweenWrites(): Promise<void> {
  const source = await new DataSource(database.options).initialize();
  for (let isBetween = false; !isBetween;) {
    family.primary.kill('SIGSTOP');
    try {
      await source.query('BEGIN IMMEDIATE');
      await source.query('ROLLBACK');
      isBetween = true;
    } catch {
      family.primary.kill('SIGCONT');
    }
  }
  await source.destroy();
}

function expectAscending(ids: readonly bigint[]): void {
  const wrong = ids.findIndex((id, index) => index > 0 && id <= ids[index - 1]!);
  expect(wrong).toBe(-1);
}

const { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength } = ONE_ROW as LayoutOptions;
const LAYOUT = createLayout(
  { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, minLifetimeDays: 1 },
  Date.now(),
);

describe('Workers that take their IDs from the primary', () => {
  it('need one row, 64 of them: no ID twice, each one’s own increasing', async () => {
    await start();
    const ready = await family.grow(64);
    expect(ready.map(({ workerId }) => workerId)).toEqual(Array.from({ length: 64 }, () => 1));
    const done = await family.all({ do: 'issue', count: 3_000 }, 64);
    expect(done.flatMap(({ refusals }) => refusals)).toEqual([]);
    const issued = family.issued();
    expect(issued.map(({ length }) => length)).toEqual(Array.from({ length: 64 }, () => 3_000));
    expect(repeated(issued.flat())).toBe(0);
    issued.forEach(expectAscending);
    expect(new Set(issued.flat().map((id) => LAYOUT.unpack(id).workerId))).toEqual(new Set([1]));
    expect((await rows()).map(({ id }) => id)).toEqual([1]);
  });

  it('repeat nothing when they are killed and replaced, again and again', async () => {
    await start();
    await family.grow(6);
    family.tell({ do: 'stream' });
    const alive = family.of('ready').map(({ pid }) => pid);
    for (let round = 0; round < 12; round++) {
      await family.moreIssued(1_000);
      process.kill(alive.shift()!, 'SIGKILL');
      const [replacement] = await family.grow(1);
      alive.push(replacement!.pid);
      await family.all({ do: 'stop' }, 5);
      family.tell({ do: 'stream' });
    }
    await family.until('the last end', () => family.of('gone').length >= 12);
    expect(family.of('gone').filter(({ signal }) => signal === 'SIGKILL')).toHaveLength(12);
    await family.all({ do: 'stop' }, 6);
    const issued = family.issued();
    expect(issued.length).toBeGreaterThanOrEqual(12);
    expect(issued.flat().length).toBeGreaterThan(10_000);
    expect(repeated(issued.flat())).toBe(0);
    issued.forEach(expectAscending);
  });

  it('issue from their buffers while another process has the primary’s row, and go on when it is back', async () => {
    await start({ lease: SHORT_LEASE, patienceMs: { answer: 1_000, ids: 2_000 } });
    await family.grow(3);
    family.tell({ do: 'stream' });
    await family.moreIssued(1_000);
    await stopBetweenWrites();
    const app = await startApp([RaindropModule.forRoot({ ...ONE_ROW, ...SHORT_LEASE, dbConfig: database.options })]);
    const others = app.get(IdService);
    family.primary.kill('SIGCONT');
    await family.until('the primary to lose its row', () => family.of('lease-lost').length > 0);
    const taken: bigint[] = [];
    let isOver = false;
    const taking = (async () => {
      for (; !isOver; await pause(15)) taken.push(...(await others.nextIdsAsync(100)));
    })();
    const seen = (code: string): boolean => family.of('refused').some((report) => report.code === code);
    await family.until('the workers to run dry', () => REFUSALS.every(seen));
    isOver = true;
    await taking;
    await app.close();
    await family.until('the primary to have it again', () => family.of('lease-regained').length > 0);
    const regained = taken.at(-1)!;
    await family.until('all to issue again', () =>
      family.issued().every((ids) => ids.filter((id) => id > regained).length > 100),
    );
    const done = await family.all({ do: 'stop' }, 3);
    expect(new Set(done.flatMap(({ refusals }) => refusals))).toEqual(new Set(REFUSALS));
    const issued = family.issued();
    expect(repeated([...taken, ...issued.flat()])).toBe(0);
    issued.forEach(expectAscending);
    for (const ids of issued) expect(ids.filter((id) => id > regained).length).toBeGreaterThan(100);
    expect((await rows()).map(({ id }) => id)).toEqual([1]);
  });
});

it('Workers that make IDs themselves with one worker id repeat them: what the broker is there for', async () => {
  await start({ workerScript: 'static-worker.ts' });
  await family.grow(4);
  // Where they never have the same millisecond there is nothing to see.
  for (let tries = 0; tries < 10 && repeated(family.issued().flat()) <= 1_000; tries++) {
    await family.all({ do: 'issue', count: 20_000 }, 4);
  }
  expect(repeated(family.issued().flat())).toBeGreaterThan(1_000);
});
