import type { DatabaseKind } from '../../support/servers/test-databases.js';
import { repeated } from '../../support/processes/repeated.js';
import { useCrew } from './crew-fixture.js';
import { Supervisor } from './supervisor.js';

jest.setTimeout(240_000);

/** For those that end by themselves: in vain on no machine. */
const AMPLE_MS = 60_000;
/** For those that never would. */
const SHORT_MS = 500;

describe.each<DatabaseKind>(['mariadb', 'sqlite'])('Instances under a supervisor like PM2 on %s', (kind) => {
  const fixture = useCrew(kind);

  it('repeat no ID through reloads and restarts, and give their rows back', async () => {
    const { crew } = fixture;
    const supervisor = new Supervisor(
      crew,
      () => fixture.setup(),
      () => AMPLE_MS,
    );
    await supervisor.start(2);
    await supervisor.reload();
    expect(await fixture.heldWorkers()).toHaveLength(2);
    await supervisor.restart();
    expect(await fixture.heldWorkers()).toHaveLength(2);
    await crew.until('IDs are issued', () => crew.ids.length > 20_000);
    await supervisor.stop();
    expect(supervisor.killed).toEqual([]);
    expect(await fixture.heldWorkers()).toEqual([]);
    expect(repeated(crew.ids)).toBe(0);
  });

  it('repeat no ID when they have to be killed, and leave just the rows of the killed ones held', async () => {
    const { crew } = fixture;
    const setupOf = (instance: number) => fixture.setup({ onSigint: instance === 0 ? 'ignore' : 'hooks' });
    const supervisor = new Supervisor(crew, setupOf, (instance) => (instance === 0 ? SHORT_MS : AMPLE_MS));
    await supervisor.start(2);
    await supervisor.reload();
    await crew.until('IDs are issued', () => crew.ids.length > 20_000);
    await supervisor.stop();
    expect(supervisor.killed).toHaveLength(2);
    const ofKilled = crew.of('ready').filter(({ pid }) => supervisor.killed.includes(pid));
    const workers = ofKilled.map(({ workerId }) => workerId);
    expect(await fixture.heldWorkers()).toEqual(workers.sort((a, b) => a - b));
    expect(repeated(crew.ids)).toBe(0);
  });
});
