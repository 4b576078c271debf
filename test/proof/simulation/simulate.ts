import { Command, Option } from 'commander';
import { campaign, type Tally } from './campaign.js';
import { failureReport } from './failure-report.js';
import { MUTANTS } from './mutants.js';

interface Flags {
  readonly schedules: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly mutant?: string;
  readonly minutes?: number;
  readonly nightly?: boolean;
}

const flags = new Command('simulate')
  .description('Random schedules of 4 processes on 3 worker rows, in virtual time, on the real keeper and generator.')
  .option('--schedules <n>', 'how many schedules', Number, 2_000)
  .option('--seed <n>', 'the seed of the first one; the next ones count up', Number, 1)
  .option('--json', 'print one line of JSON')
  .addOption(new Option('--mutant <name>', 'break one rule: this must fail').choices(Object.keys(MUTANTS)))
  .option('--minutes <n>', 'go on for so long, however many schedules that takes', Number)
  .option('--nightly', 'go on until a schedule fails or the process is told to end')
  .parse()
  .opts<Flags>();

async function main(): Promise<void> {
  const { schedules, seed, json, mutant: name, minutes, nightly } = flags;
  const mutant = name === undefined ? undefined : MUTANTS[name];
  let isTold = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (isTold = true));
  const goOn = (tally: Tally): boolean => {
    if (isTold) return false;
    if (nightly === true) return true;
    return minutes === undefined ? tally.schedules < schedules : tally.milliseconds < minutes * 60_000;
  };
  const { failure, ...tally } = await campaign(seed, goOn, mutant);
  if (failure !== undefined) {
    process.exitCode = 1;
    process.stderr.write(`${await failureReport(failure.seed, mutant)}\n`);
  }
  const result = {
    ...tally,
    simulatedHours: Math.round(tally.simulatedHours * 10) / 10,
    ...(name !== undefined && { mutant: name }),
    ...(failure !== undefined && { failedSeed: failure.seed, broken: failure.violations[0]!.invariant }),
  };
  process.stdout.write(json === true ? `${JSON.stringify(result)}\n` : `${inWords(result)}\n`);
}

function inWords(result: object): string {
  return Object.entries(result)
    .map(([name, value]) => `${name}: ${typeof value === 'number' ? value : JSON.stringify(value)}`)
    .join('\n');
}

void main();
