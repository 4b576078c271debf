import { runOldPrimary, TOO_OLD_MS } from './old-primary.js';

jest.setTimeout(300_000);

describe.each(['postgres', 'mariadb'] as const)('A primary on %s that was replaced and lives on', (engine) => {
  it('makes no process repeat an ID: no session that is too old writes', async () => {
    const outcome = await runOldPrimary(engine);
    expect(outcome).toMatchObject({ duplicates: 0, examples: [] });
    // The holders went on for as long as their sessions and leases lasted.
    expect(outcome.issuedByOld).toBeGreaterThan(1_000);
  });

  it('makes them repeat IDs where sessions may be a little older: the control', async () => {
    expect((await runOldPrimary(engine, TOO_OLD_MS)).duplicates).toBeGreaterThan(0);
  });
});
