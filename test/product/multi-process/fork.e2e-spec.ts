import { databaseKinds } from '../../support/servers/test-databases.js';
import { ended } from './crew.js';
import { repeated } from '../../support/processes/repeated.js';
import { ascending, IDS, OPTIONS, useCrew } from './crew-fixture.js';

jest.setTimeout(240_000);

describe.each(databaseKinds)('Processes by child_process.fork on %s', (kind) => {
  const fixture = useCrew(kind);

  it('hold a row each, repeat no ID, and give the rows back, except the killed one', async () => {
    const { crew } = fixture;
    const forks = [1, 2, 3, 4].map(() => crew.fork({ setup: fixture.setup() }));
    const ready = await crew.ready(4);
    const workers = ready.map(({ workerId }) => workerId);
    expect(new Set(workers).size).toBe(4);
    expect(await fixture.heldWorkers()).toEqual(ascending(workers));

    await crew.issue(IDS, 4);
    expect(crew.ids).toHaveLength(4 * IDS);
    expect(repeated(crew.ids)).toBe(0);

    forks[0]!.kill('SIGKILL');
    await ended(forks[0]!);
    await crew.close();
    expect(await fixture.heldWorkers()).toEqual([ready.find(({ pid }) => pid === forks[0]!.pid)!.workerId]);
  });
});

describe('Two forks that were given the same worker id by hand', () => {
  const fixture = useCrew('sqlite');

  it('repeat IDs: what the lease is there for', async () => {
    const { crew } = fixture;
    const options = {
      // Ticks of a day: however long one takes to start, both count in the same.
      ...OPTIONS,
      timeUnit: 'day' as const,
      timeStampLength: 17,
      workerIdAssigner: 'static' as const,
      workerId: 7,
      restartWaitMs: false as const,
    };
    for (const setup of [fixture.setup({ options }), fixture.setup({ options })]) crew.fork({ setup });
    await crew.ready(2);
    await crew.issue(IDS, 2);
    expect(repeated(crew.ids)).toBeGreaterThan(1_000);
    await crew.close();
  });
});
