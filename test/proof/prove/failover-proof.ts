import { runFailoverRounds } from '../failover/failover-rounds.js';
import { acquiresLost, unguarded } from '../failover/failover-scenario.js';
import { atLeast, none, type Proof } from './proof.js';

const ROUNDS = 10;

/** A standby takes over that has lost acknowledged commits. */
export const failoverProof: Proof = {
  name: 'failover',
  async run(seed) {
    const command = 'npm run prove -- --only failover';
    process.stderr.write(`\n== ${command}: ${ROUNDS} rounds, then the control\n`);
    const { ids, duplicates, lostCommits, regressions } = await runFailoverRounds(ROUNDS, seed);
    const control = await runFailoverRounds(1, seed, unguarded(acquiresLost));
    return [
      none(`IDs twice, of ${ids.toLocaleString('en-US')}, in ${ROUNDS} failovers of PostgreSQL`, duplicates, command),
      atLeast('acknowledged commits lost in them', lostCommits, ROUNDS, command),
      atLeast('regressions noticed and healed', regressions, ROUNDS, command),
      atLeast('IDs twice without commitLossWindowMs (control)', control.duplicates, 1, command),
    ];
  },
};
