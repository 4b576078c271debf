import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
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
  const child = spawn(join(root, '.ci/node-leg'), [String(major)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stderr.write(text);
    output += text;
  });
  const [exitCode] = (await once(child, 'close')) as [number | null];
  const measured = output.trim().split('\n').at(-1) ?? '';
  return { what: `the project under Node ${major}`, target: 'all steps pass', measured, ok: exitCode === 0, command };
}
