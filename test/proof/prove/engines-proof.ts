import type { EngineReport } from '../chaos/engines/engine-report.js';
import type { Family } from '../chaos/engines/engine.js';
import { LEGS } from '../chaos/engines/legs.js';
import { atLeast, type Proof, type ProofRow } from './proof.js';
import { runScript, type ScriptResult } from './run-script.js';

const SECONDS = 60;
const SECONDS_OF_CONTROL = 30;
const IDS_OF_A_FAMILY = 20_000_000;

type Run = ScriptResult<EngineReport>;

/** Every engine on servers of its own, and the control of each; what they find goes into docs/engines.md and proofs.md. */
export const enginesProof: Proof = {
  name: 'engines',
  async run(seed) {
    const runs: Run[] = [];
    const rows: ProofRow[] = [];
    for (const engine of Object.keys(LEGS)) {
      const args = ['--engine', engine, '--seed', String(seed), '--record'];
      const run = await chaos([...args, '--seconds', String(SECONDS)]);
      const control = await chaos([...args, '--seconds', String(SECONDS_OF_CONTROL), '--control']);
      runs.push(run);
      rows.push(rowOf(run), rowOf(control));
    }
    const families = [...new Set(runs.map(({ answer }) => answer.family))];
    return [...rows, ...families.map((family) => idsOf(family, runs))];
  },
};

function chaos(args: readonly string[]): Promise<Run> {
  return runScript<EngineReport>('chaos', 'test/proof/chaos/command/chaos.ts', args);
}

function rowOf({ answer, command, exitCode }: Run): ProofRow {
  const { engine, control, ids, repeats, segmentNumbers, segmentRepeats, failures } = answer;
  const twice = (repeated: number, of: number): string =>
    `${repeated.toLocaleString('en-US')} of ${of.toLocaleString('en-US')}`;
  const numbers = control ? [] : [`${twice(segmentRepeats, segmentNumbers)} numbers from segments`];
  return {
    what: `${engine}${control ? ' (control)' : ''}`,
    target: control ? 'some IDs twice' : 'nothing twice',
    measured: [`${twice(repeats, ids)} IDs twice`, ...numbers, ...failures].join('; '),
    ok: exitCode === 0,
    command,
  };
}

function idsOf(family: Family, runs: readonly Run[]): ProofRow {
  const ids = runs.filter(({ answer }) => answer.family === family).reduce((sum, { answer }) => sum + answer.ids, 0);
  return atLeast(`IDs compared on ${family}`, ids, IDS_OF_A_FAMILY, 'npm run prove -- --only engines');
}
