import { runFailoverRounds } from './failover-rounds.js';
import { termChanges, unguarded } from './failover-scenario.js';

jest.setTimeout(600_000);

describe('A MariaDB that fails over to a replica without its last acknowledged commits', () => {
  it('makes no process repeat an ID with the default options: its server id tells', async () => {
    const outcome = await runFailoverRounds(4, 6, termChanges, 'mariadb');
    expect(outcome).toMatchObject({ rounds: 4, duplicates: 0, examples: [] });
    expect(outcome.regressions).toBeGreaterThanOrEqual(4);
    for (const round of outcome.each) {
      expect(round.lostCommits).toBeGreaterThanOrEqual(5);
      expect(round.idsOfNewcomers).toBeGreaterThan(100);
    }
  });

  it('repeats IDs when no process compares its server id: the control', async () => {
    let outcome = await runFailoverRounds(1, 7, unguarded(termChanges), 'mariadb');
    for (let tries = 1; outcome.duplicates === 0 && tries < 6; tries++) {
      outcome = await runFailoverRounds(1, 7 + tries, unguarded(termChanges), 'mariadb');
    }
    expect(outcome.duplicates).toBeGreaterThan(0);
  });
});
