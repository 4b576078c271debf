import { MUTANTS } from '../simulation/mutants.js';
import { atLeast, none, type Proof, type ProofRow } from './proof.js';
import { runScript } from './run-script.js';

/** What `npm run simulate -- --json` prints. */
interface SimulationReport {
  readonly schedules: number;
  readonly simulatedHours: number;
  readonly kills: number;
  readonly issued: number;
  readonly repeated: number;
  /** The first seed that broke an invariant, and which one. */
  readonly failedSeed?: number;
  readonly broken?: string;
}

const SCRIPT = ['simulate', 'test/proof/simulation/simulate.ts'] as const;

/** The real keeper and generator in virtual time; then with one rule after the other broken. */
export const simulationProof: Proof = {
  name: 'simulation',
  async run(seed) {
    const args = ['--schedules', '2000', '--seed', String(seed)];
    const { answer, command, exitCode } = await runScript<SimulationReport>(...SCRIPT, args);
    const [schedules, issued] = [answer.schedules, answer.issued].map((count) => count.toLocaleString('en-US'));
    return [
      none(`broken invariants in ${schedules} schedules, ${issued} IDs`, exitCode === 0 ? 0 : 1, command),
      atLeast('hours simulated', Math.floor(answer.simulatedHours), 60, command),
      atLeast('kills simulated', answer.kills, 30_000, command),
      await mutantsCaught(),
    ];
  },
};

async function mutantsCaught(): Promise<ProofRow> {
  const found: string[] = [];
  const names = Object.keys(MUTANTS);
  let caught = 0;
  for (const name of names) {
    const { answer } = await runScript<SimulationReport>(...SCRIPT, ['--schedules', '400', '--mutant', name]);
    if (answer.failedSeed !== undefined) caught++;
    found.push(`${name} ${answer.failedSeed === undefined ? 'not at all' : `by schedule ${answer.schedules}`}`);
  }
  return {
    what: 'broken rules caught within 400 schedules (control)',
    target: `all ${names.length}`,
    measured: `${caught}: ${found.join(', ')}`,
    ok: caught === names.length,
    command: 'npm run simulate -- --schedules 400 --mutant NAME',
  };
}
