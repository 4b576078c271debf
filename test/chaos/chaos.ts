import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import type { ChaosOptions, FiredFault } from './chaos-options.js';
import { summarise } from './chaos-report.js';
import { ChaosRun } from './chaos-run.js';
import { FaketimeMissingError } from './fake-clock.js';
import { FAULT_GROUPS, type FaultGroup } from './fault-plan.js';

/** Options that cannot be followed. */
const BAD_OPTIONS_EXIT = 2;

const FIRED: readonly FiredFault[] = [
  ...(['kill', 'release', 'pause', 'longPause', 'refused', 'halfOpen', 'delayed', 'cutBefore'] as const),
  ...(['unanswered', 'late', 'ghost', 'clockStep', 'databaseKill', 'lock'] as const),
];

function integer(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() !== '' && Number.isInteger(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 100) return value;
  throw new InvalidArgumentError('It must be a number above 0, at most 100.');
}

function faultGroups(text: string): FaultGroup[] {
  const given = text.split(',').map((each) => each.trim());
  const unknown = given.find((each) => !FAULT_GROUPS.includes(each as FaultGroup));
  if (unknown === undefined) return given as FaultGroup[];
  throw new InvalidArgumentError(`'${unknown}' is none of ${FAULT_GROUPS.join(', ')}.`);
}

function floors(text: string): Partial<Record<FiredFault, number>> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const [name = '', count = ''] = pair.split('=').map((each) => each.trim());
      if (FIRED.includes(name as FiredFault) && /^\d+$/.test(count)) return [name, Number(count)];
      throw new InvalidArgumentError(`'${pair}' is not name=count with a name of ${FIRED.join(', ')}.`);
    }),
  );
}

type Given = Omit<ChaosOptions, 'progress' | 'faults' | 'floors'> & {
  readonly json: boolean;
  readonly faults?: FaultGroup[];
  readonly floor: ChaosOptions['floors'];
};

function parse(argv: readonly string[]): ChaosOptions & { readonly json: boolean } {
  const command = new Command('chaos')
    .description('Kills, pauses, misleads and cuts off real processes that issue IDs, and compares every ID.')
    .addOption(
      new Option('--db <kind>', 'the database').choices(['mariadb', 'postgres', 'sqlite']).makeOptionMandatory(),
    )
    .option('--seconds <n>', 'how long the faults last', integer(1, 86_400), 60)
    .option(
      '--faults <list>',
      `what goes wrong, of ${FAULT_GROUPS.join(', ')} (default: all that the database has)`,
      faultGroups,
    )
    .option('--seed <n>', 'what the plan follows from (default: random)', integer(0, 2 ** 31 - 1))
    .addOption(
      new Option('--unit <unit>', 'the unit of time').choices(['millisecond', 'second', 'hour']).default('second'),
    )
    .option('--processes <n>', 'how many processes', integer(1, 64), 6)
    .option('--workers <n>', 'how many worker ids they share', integer(1, 7), 4)
    .option('--rate <n>', 'IDs per second that a process asks for', integer(1, 10_000_000), 60_000)
    .option('--pace <factor>', 'how many times faster than usual faults follow each other', positive, 1)
    .option('--min-ids <n>', 'how many IDs there must be', integer(0, 10 ** 10), 1)
    .option(
      '--floor <list>',
      'how often faults must fire, as kill=40,late=10 (default: a third of the plan)',
      floors,
      {},
    )
    .option('--control', "run the original's protocol instead, which must repeat IDs", false)
    .option('--keep', 'keep the directory with the IDs', false)
    .option('--json', 'print one line of JSON', false)
    .exitOverride();
  const { faults, floor, ...given } = command.parse(argv).opts<Given>();
  if (given.db === 'sqlite' && faults?.includes('db') === true) {
    command.error('error: --faults db needs a server that can be killed, which sqlite has not');
  }
  return {
    ...given,
    seed: given.seed ?? Math.floor(Math.random() * 2 ** 31),
    faults: faults ?? FAULT_GROUPS.filter((group) => group !== 'db' || given.db !== 'sqlite'),
    floors: floor,
    progress: (line) => console.error(`chaos ${given.db}: ${line}`),
  };
}

async function main(): Promise<number> {
  let options;
  try {
    options = parse(process.argv);
  } catch (error) {
    // Commander has said what is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : BAD_OPTIONS_EXIT;
    throw error;
  }
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interruption.abort());
  try {
    options.progress(`seed ${options.seed}`);
    const report = await new ChaosRun(options, interruption.signal).run();
    console.log(options.json ? JSON.stringify(report) : summarise(report));
    return report.passed ? 0 : 1;
  } catch (error) {
    if (interruption.signal.aborted) return 130;
    console.error(error instanceof FaketimeMissingError ? error.message : error);
    return error instanceof FaketimeMissingError ? BAD_OPTIONS_EXIT : 1;
  }
}

void main().then((code) => {
  process.exitCode = code;
});
