import { databaseKinds } from '../../support/servers/test-databases.js';
import { repeated } from '../../support/processes/repeated.js';
import { ascending, IDS, useCrew } from './crew-fixture.js';

jest.setTimeout(240_000);

describe.each(databaseKinds)('Four threads of one process on %s', (kind) => {
  const fixture = useCrew(kind);

  it('hold a row each under one pid, repeat no ID, and give the rows back, except the terminated one', async () => {
    const { crew } = fixture;
    const threads = [1, 2, 3, 4].map(() => crew.thread({ setup: fixture.setup() }));
    const ready = await crew.ready(4);
    const workers = ready.map(({ workerId }) => workerId);
    expect(new Set(ready.map(({ pid }) => pid))).toEqual(new Set([process.pid]));
    expect(new Set(ready.map(({ threadId }) => threadId)).size).toBe(4);
    expect(new Set(workers).size).toBe(4);
    expect(await fixture.heldWorkers()).toEqual(ascending(workers));

    await crew.issue(IDS, 4);
    expect(crew.ids).toHaveLength(4 * IDS);
    expect(repeated(crew.ids)).toBe(0);

    const terminated = ready.find(({ threadId }) => threadId === threads[0]!.threadId)!;
    await threads[0]!.terminate();
    await crew.close();
    expect(await fixture.heldWorkers()).toEqual([terminated.workerId]);
  });
});
