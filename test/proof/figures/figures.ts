import { Command, Option } from 'commander';
import { databaseKinds, type DatabaseKind } from '../../support/servers/test-databases.js';
import { blockedLoop } from './blocked-loop.js';
import { cleanHandover } from './clean-handover.js';
import { crashRestarts } from './crash-restarts.js';
import { crowd } from './crowd.js';
import type { Figure, Measurement } from './figure.js';
import { killedHolder } from './killed-holder.js';
import { longOutage } from './long-outage.js';
import { manyRows } from './many-rows.js';
import { RealBench } from './real-bench.js';
import { saturatedPool } from './saturated-pool.js';
import { shortOutage } from './short-outage.js';
import { showTable } from './show-table.js';

const figures: readonly Figure[] = [
  shortOutage,
  longOutage,
  killedHolder,
  cleanHandover,
  crashRestarts,
  blockedLoop,
  saturatedPool,
  manyRows,
  crowd,
];

interface FiguresOptions {
  readonly only?: readonly string[];
  readonly db: readonly DatabaseKind[];
  readonly json: boolean;
}

async function main(): Promise<void> {
  const names = figures.map(({ name }) => name);
  const command = new Command('figures')
    .description('Measures what Raindrop promises in numbers, and fails when a target is missed.')
    .addOption(new Option('--only <names...>', 'only these figures').choices(names))
    .addOption(new Option('--db <kinds...>', 'only these databases').choices(databaseKinds).default(databaseKinds))
    .option('--json', 'one line of JSON in place of the table', false)
    .parse();
  const { only = names, db, json } = command.opts<FiguresOptions>();

  // The lease's own timers keep no process alive.
  const alive = setInterval(() => {}, 1_000);
  const bench = new RealBench(db);
  const measurements: Measurement[] = [];
  try {
    for (const figure of figures.filter(({ name }) => only.includes(name))) {
      const beganMs = performance.now();
      measurements.push(...(await figure.measure(bench).catch((error: unknown) => [failure(figure, error)])));
      process.stderr.write(`${figure.name}: ${((performance.now() - beganMs) / 1_000).toFixed(1)} s\n`);
    }
  } finally {
    await bench.close();
    clearInterval(alive);
  }
  process.stdout.write(json ? `${JSON.stringify(measurements)}\n` : showTable(measurements));
  if (measurements.some(({ ok }) => !ok)) process.exitCode = 1;
}

/** A figure that could not be measured is a missed one. */
function failure({ name }: Figure, error: unknown): Measurement {
  return { figure: name, database: '', target: 'to be measured', measured: String(error), ok: false };
}

void main();
