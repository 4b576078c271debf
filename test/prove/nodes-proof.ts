import { join } from 'node:path';
import { Child } from '../processes/child.js';
import type { Proof, ProofRow } from './proof.js';

const root = join(__dirname, '../..');

/** The releases that `.ci/run` leaves out: it runs on the machine's own Node and on the newest. */
const MAJORS = [22, 24];

/** Build, unit and module tests and the packaging apps, each under another Node. */
export const nodesProof: Proof = {
  name: 'nodes',
  async run() {
    const rows: ProofRow[] = [];
    for (const major of MAJORS) rows.push(await leg(major));
    return rows;
  },
};

/** What it reports on the way goes to our standard error; its last line says how it ended. */
async function leg(major: number): Promise<ProofRow> {
  const command = `.ci/node-leg ${major}`;
  process.stderr.write(`\n== ${command}\n`);
  const child = new Child([join(root, '.ci/node-leg'), String(major)], { stdio: ['ignore', 'pipe', 'inherit'] });
  child.process.stdout!.pipe(process.stderr, { end: false });
  const { code } = await child.ended;
  const measured = child.stdout.trim().split('\n').at(-1) ?? '';
  return { what: `the project under Node ${major}`, target: 'all steps pass', measured, ok: code === 0, command };
}
