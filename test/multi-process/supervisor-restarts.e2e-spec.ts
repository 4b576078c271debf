import type { DatabaseKind } from '../servers/test-databases.js';
import { repeated, useCrew } from './crew-fixture.js';
import { Supervisor } from './supervisor.js';

jest.setTimeout(120_000);

const KILL_TIMEOUT_MS = 1_600;

describe.each<DatabaseKind>(['mariadb', 'sqlite'])('Instances under a supervisor like PM2 on %s', (kind) => {
  const fixture = useCrew(kind);

  it('repeat no ID through reloads and restarts, and give their rows back', async () => {
    const { crew } = fixture;
    const supervisor = new Supervisor(crew, () => fixture.setup(), KILL_TIMEOUT_MS);
    await supervisor.start(2);
    await supervisor.reload();
    expect(await fixture.heldWorkers()).toHaveLength(2);
    await supervisor.restart();
    expect(await fixture.heldWorkers()).toHaveLength(2);
    await supervisor.stop();
    expect(supervisor.killed).toEqual([]);
    expect(await fixture.heldWorkers()).toEqual([]);
    expect(crew.ids.length).toBeGreaterThan(20_000);
    expect(repeated(crew.ids)).toBe(0);
  });

  it('repeat no ID when they have to be killed, and leave just the rows of the killed ones held', async () => {
    const { crew } = fixture;
    const setupOf = (instance: number) => fixture.setup({ onSigint: instance === 0 ? 'ignore' : 'hooks' });
    const supervisor = new Supervisor(crew, setupOf, KILL_TIMEOUT_MS);
    await supervisor.start(2);
    await supervisor.reload();
    await supervisor.stop();
    expect(supervisor.killed).toHaveLength(2);
    const ofKilled = crew.of('ready').filter(({ pid }) => supervisor.killed.includes(pid));
    const workers = ofKilled.map(({ workerId }) => workerId);
    expect(await fixture.heldWorkers()).toEqual(workers.sort((a, b) => a - b));
    expect(repeated(crew.ids)).toBe(0);
  });
});
