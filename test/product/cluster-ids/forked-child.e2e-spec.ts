import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { IdService, RaindropModule } from '@raindrop/nestjs';
import { ClusterIdBroker } from '../../../libs/node/src/cluster/cluster-id-broker.js';
import { startApp } from '../../support/module/module-fixture.js';
import { forkScript, isRunning } from '../../support/processes/forked.js';
import { testDatabase, type TestDatabase } from '../../support/servers/test-databases.js';
import { until } from '../../support/until.js';
import { ONE_ROW } from './family.js';
import type { ForkedReport } from './forked-child.js';

let database: TestDatabase;
let app: Awaited<ReturnType<typeof startApp>>;
let broker: ClusterIdBroker;
const children: ChildProcess[] = [];
beforeEach(async () => {
  database = await testDatabase('sqlite');
  app = await startApp([RaindropModule.forRoot({ ...ONE_ROW, dbConfig: database.options })]);
  broker = new ClusterIdBroker(app.get(IdService));
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  broker.close();
  await app.close();
  await database.drop();
});

/** A child of ours that takes IDs from the service here, with what it has written. */
async function begin(mode: 'ends' | 'listens' | 'orphaned'): Promise<{ child: ChildProcess; report: ForkedReport }> {
  const child = forkScript(resolve(__dirname, 'forked-child.ts'), {
    args: [mode],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  children.push(child);
  broker.serve(child);
  const [text] = (await once(child.stdout!, 'data')) as [Buffer];
  return { child, report: JSON.parse(String(text)) as ForkedReport };
}

/** Waits for the end that the child comes to by itself. */
async function end(child: ChildProcess): Promise<void> {
  await until('the child to end', () => !isRunning(child));
  expect([child.exitCode, child.signalCode]).toEqual([0, null]);
}

describe('A child of child_process.fork', () => {
  it('gets IDs of its parent, and is not kept alive by them', async () => {
    const { child, report } = await begin('ends');
    const { ids } = report;
    expect(new Set(ids).size).toBe(102);
    expect(ids.map((id) => app.get(IdService).parse(id).workerId)).toEqual(ids.map(() => 1));
    await end(child);
  });

  it('lives on while somebody else listens to its parent, as without us', async () => {
    const { child } = await begin('listens');
    // One that does not listen has begun later, and come to its end.
    await end((await begin('ends')).child);
    const answers: unknown[] = [];
    child.on('message', (answer) => answers.push(answer)).send('are you there?');
    await until('it to answer', () => answers.includes('are you there?'));
    expect(child.exitCode).toBeNull();
  });

  it('hands out what it has when the channel is closed, then fails at once, and ends', async () => {
    const { child, report } = await begin('orphaned');
    const { ids, refusal } = report;
    expect(refusal).toBe('PRIMARY_GONE');
    expect(ids.length).toBeGreaterThan(102);
    expect(new Set(ids).size).toBe(ids.length);
    await end(child);
  });
});
