import { Command, Option } from 'commander';
import { chaosProof } from './chaos-proof.js';
import { enginesProof } from './engines-proof.js';
import { failoverProof } from './failover-proof.js';
import { figuresProof } from './figures-proof.js';
import { mutantsProof } from './mutants-proof.js';
import type { Proof, ProofRow } from './proof.js';
import { simulationProof } from './simulation-proof.js';

const proofs: readonly Proof[] = [
  ...[simulationProof, mutantsProof, chaosProof, failoverProof, enginesProof, figuresProof],
];

function table(rows: readonly ProofRow[]): string {
  const cells = rows.map(({ what, target, measured, ok, command }) => [
    what,
    target,
    measured,
    ok ? 'yes' : '**no**',
    `\`${command}\``,
  ]);
  const lines = [['what', 'target', 'measured', 'reached', 'by'], ['---', '---', '---', '---', '---'], ...cells];
  return lines.map((line) => `| ${line.join(' | ')} |`).join('\n');
}

async function main(): Promise<void> {
  const names = proofs.map(({ name }) => name);
  const { only, seed } = new Command('prove')
    .description('Runs every proof of uniqueness in its full form, and prints one table.')
    .addOption(new Option('--only <names...>', 'only these').choices(names).default(names))
    .addOption(new Option('--seed <n>', 'the first seed').argParser(Number).default(1))
    .parse()
    .opts<{ only: string[]; seed: number }>();
  const rows: ProofRow[] = [];
  const began = performance.now();
  for (const proof of proofs.filter(({ name }) => only.includes(name))) rows.push(...(await proof.run(seed)));
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  process.stdout.write(`${table(rows)}\n\nSeed ${seed}, Node ${process.version}, ${minutes} minutes.\n`);
  if (rows.some(({ ok }) => !ok)) process.exitCode = 1;
}

void main();
