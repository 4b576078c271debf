import { atLeast, none, type Proof } from './proof.js';
import { runScript } from './run-script.js';

interface SimulationReport {
  readonly schedules: number;
  readonly simulatedHours: number;
  readonly kills: number;
  readonly issued: number;
  readonly violations: number;
  readonly mutants: Readonly<Record<string, number | null>>;
}

/** The real keeper and generator in virtual time. */
export const simulationProof: Proof = {
  name: 'simulation',
  async run(seed) {
    const args = ['--schedules', '2000', '--seed', String(seed)];
    const { answer, command } = await runScript<SimulationReport>('simulate', 'test/simulation/simulate.ts', args);
    const { schedules, simulatedHours, kills, issued, violations } = answer;
    return [
      none(`broken invariants in ${schedules.toLocaleString('en-US')} schedules, ${issued.toLocaleString('en-US')} IDs`, violations, command),
      atLeast('hours simulated', Math.floor(simulatedHours), 60, command),
      atLeast('kills simulated', kills, 30_000, command),
    ];
  },
};
