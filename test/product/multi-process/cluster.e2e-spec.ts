import { databaseKinds } from '../../support/servers/test-databases.js';
import { PRIMARY_HOLDS_VARIABLE } from './cluster-primary.js';
import { repeated } from '../../support/processes/repeated.js';
import { ascending, IDS, useCrew } from './crew-fixture.js';

jest.setTimeout(240_000);

describe.each(databaseKinds)('A cluster of four workers on %s', (kind) => {
  const fixture = useCrew(kind);

  it.each([
    ['a primary without a worker id', 'no', 4],
    ['a primary that took a worker id before it forked', 'yes', 5],
  ])(
    'holds a row per process under %s, repeats no ID, and gives back all but a killed one',
    async (_, primaryHolds, members) => {
      const { crew } = fixture;
      const environment = { [PRIMARY_HOLDS_VARIABLE]: primaryHolds };
      crew.fork({ setup: fixture.setup(), script: 'cluster-primary.ts', environment });
      const ready = await crew.ready(members);
      const workers = ready.map(({ workerId }) => workerId);
      expect(new Set(ready.map(({ pid }) => pid)).size).toBe(members);
      expect(new Set(workers).size).toBe(members);
      expect(await fixture.heldWorkers()).toEqual(ascending(workers));

      await crew.issue(IDS, members);
      expect(crew.ids).toHaveLength(members * IDS);
      expect(repeated(crew.ids)).toBe(0);

      const killed = ready.at(-1)!;
      process.kill(killed.pid, 'SIGKILL');
      // The primary replaces it, as primaries do.
      const replacement = (await crew.ready(members + 1)).at(-1)!;
      expect(await fixture.heldWorkers()).toEqual(ascending([...workers, replacement.workerId]));
      await crew.issue(IDS, members);
      expect(repeated(crew.ids)).toBe(0);

      await crew.close();
      expect(await fixture.heldWorkers()).toEqual([killed.workerId]);
    },
  );
});
