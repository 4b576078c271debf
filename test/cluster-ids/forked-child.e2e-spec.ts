import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { ClusterIdBroker } from '../../libs/nestjs/src/threads/cluster/cluster-id-broker.js';
import { startApp } from '../module/module-fixture.js';
import { testDatabase, type TestDatabase } from '../servers/test-databases.js';
import { HOOK, ONE_ROW } from './family.js';
import type { ForkedReport } from './forked-child.js';

let database: TestDatabase;
let app: Awaited<ReturnType<typeof startApp>>;
let broker: ClusterIdBroker;
let child: ChildProcess;
beforeEach(async () => {
  database = await testDatabase('sqlite');
  app = await startApp([RaindropModule.forRoot({ ...ONE_ROW, dbConfig: database.options })]);
  broker = new ClusterIdBroker(app.get(IdService));
});
afterEach(async () => {
  child.kill('SIGKILL');
  broker.close();
  await app.close();
  await database.drop();
});

/** A child of ours that takes IDs from the service here, and what it has written. */
function begin(mode: 'ends' | 'listens' | 'orphaned'): Promise<ForkedReport> {
  const { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, minLifetimeDays } = ONE_ROW;
  const layout = { timeUnit, startTimeStamp, timeStampLength, workIdLength, endBitsLength, minLifetimeDays };
  child = fork(resolve(__dirname, 'forked-child.ts'), [mode, JSON.stringify(layout)], {
    execArgv: ['--require', HOOK],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  broker.serve(child);
  return once(child.stdout!, 'data').then(([text]) => JSON.parse(String(text)) as ForkedReport);
}

/** Whether the child ends by itself within so long. */
async function ends(withinMs: number): Promise<boolean> {
  if (child.exitCode !== null) return true;
  const ended = once(child, 'exit').then(([code]) => code === 0);
  return Promise.race([ended, sleep(withinMs, false)]);
}

describe('A child of child_process.fork', () => {
  it('gets IDs of its parent, and is not kept alive by them', async () => {
    const { ids } = await begin('ends');
    expect(new Set(ids).size).toBe(102);
    expect(ids.map((id) => app.get(IdService).parse(id).workerId)).toEqual(ids.map(() => 1));
    expect(await ends(1_000)).toBe(true);
  });

  it('lives on while somebody else listens to its parent, as without us', async () => {
    await begin('listens');
    expect(await ends(1_000)).toBe(false);
  });

  it('hands out what it has when the channel is closed, then fails at once, and ends', async () => {
    const { ids, refusal } = await begin('orphaned');
    expect(refusal).toBe('PRIMARY_GONE');
    expect(ids.length).toBeGreaterThan(102);
    expect(new Set(ids).size).toBe(ids.length);
    expect(await ends(1_000)).toBe(true);
  });
});
