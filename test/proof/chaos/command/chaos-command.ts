import { Command, InvalidArgumentError, Option } from 'commander';
import type { ChaosOptions, FiredFault } from '../chaos-options.js';
import type { ChaosDatabaseKind, FaultGroup } from '../fault-plan.js';
import type { SegmentRunOptions } from '../segments/segment-options.js';
import { integer } from './integer.js';

/** What the command line asks for. */
export interface ChaosOrders {
  readonly json: boolean;
  readonly seed: number;
  /** Undefined where it is left out. */
  readonly workers: ChaosOptions | undefined;
  readonly segments: SegmentRunOptions | undefined;
  readonly progress: (line: string) => void;
}

const FIRED: readonly FiredFault[] = [
  ...(['kill', 'release', 'pause', 'longPause', 'refused', 'halfOpen', 'delayed', 'cutBefore'] as const),
  ...(['unanswered', 'late', 'ghost', 'clockStep', 'databaseKill', 'lock'] as const),
  ...(['redisKill', 'redisFlush', 'redisSnapshot', 'redisRefused', 'redisHalfOpen', 'redisDelayed'] as const),
  'redisUnanswered',
];

/** What can go wrong under a lease; there is no Redis. */
const WORKER_FAULTS = ['kill', 'pause', 'net', 'clock', 'db'] as const satisfies readonly FaultGroup[];
/** What can go wrong with segments; no clock is asked. */
const SEGMENT_FAULTS = ['kill', 'pause', 'net', 'db', 'redis'] as const satisfies readonly FaultGroup[];

const SEGMENT_RATE = 10_000;
/** In the control much happens in little time. */
const CONTROL_FAULTS: readonly FaultGroup[] = ['kill', 'redis'];
const CONTROL = { seconds: 8, pace: 5 } as const;

interface Given {
  readonly db: ChaosDatabaseKind;
  readonly only?: 'workers' | 'segments';
  readonly seconds: number;
  readonly faults?: FaultGroup[];
  readonly seed?: number;
  readonly unit: ChaosOptions['unit'];
  readonly processes: number;
  readonly workers: number;
  readonly rate: number;
  readonly pace: number;
  readonly minIds: number;
  readonly floor: ChaosOptions['floors'];
  readonly segmentSeconds: number;
  readonly segmentPace: number;
  readonly segmentFloor: ChaosOptions['floors'];
  readonly minNumbers?: number;
  readonly control: boolean;
  readonly keep: boolean;
  readonly beside?: string;
  readonly json: boolean;
}

/** @throws CommanderError, after it has said what is wrong */
export function parseChaos(argv: readonly string[]): ChaosOrders {
  const command = describeChaos();
  const given = command.parse(argv).opts<Given>();
  const { db, only, json, faults, seed = Math.floor(Math.random() * 2 ** 31) } = given;
  if (db === 'sqlite' && faults?.includes('db') === true) {
    command.error('error: --faults db needs a server that can be killed, which sqlite has not');
  }
  if (db === 'redis' && only !== 'workers') {
    command.error('error: --db redis needs --only workers: segments are reserved in a database');
  }
  if (db === 'redis' && given.unit === 'hour') {
    command.error('error: --unit hour would wait for the end of the hour after each loss of Redis');
  }
  const has = (group: FaultGroup): boolean => group !== 'db' || db !== 'sqlite';
  const progress = (line: string): void => console.error(`chaos ${db}: ${line}`);
  return {
    json,
    seed,
    progress,
    workers:
      only === 'segments'
        ? undefined
        : {
            ...given,
            seed,
            progress,
            faults: faults ?? WORKER_FAULTS.filter(has),
            floors: given.floor,
            beside: given.beside,
          },
    segments:
      only === 'workers'
        ? undefined
        : segmentOptions({ ...given, seed }, SEGMENT_FAULTS.filter(has), (line) => progress(`segments: ${line}`)),
  };
}

function segmentOptions(
  given: Given & { readonly seed: number },
  faults: readonly FaultGroup[],
  progress: (line: string) => void,
): SegmentRunOptions {
  const { db, seed, control, keep, beside, processes, segmentFloor } = given;
  const { seconds, pace } = control ? CONTROL : { seconds: given.segmentSeconds, pace: given.segmentPace };
  // A quarter of what is asked for must come through all that goes wrong.
  const minNumbers = given.minNumbers ?? Math.floor((processes * SEGMENT_RATE * seconds) / 4);
  return {
    db,
    seed,
    control,
    keep,
    beside,
    processes,
    seconds,
    pace,
    progress,
    minNumbers,
    faults: control ? CONTROL_FAULTS : faults,
    rate: control ? 4 * SEGMENT_RATE : SEGMENT_RATE,
    floors: segmentFloor,
  };
}

function describeChaos(): Command {
  return new Command('chaos')
    .description(
      'Kills, pauses, misleads and cuts off real processes that issue IDs, and compares every ID: first under worker ' +
        'leases, then from segments, where every number that is lost must have a reason as well.',
    )
    .addOption(
      new Option('--db <kind>', 'what keeps the worker ids')
        .choices(['mariadb', 'postgres', 'sqlite', 'redis'])
        .makeOptionMandatory(),
    )
    .addOption(new Option('--only <what>', 'leave the other one out').choices(['workers', 'segments']))
    .option('--seconds <n>', 'how long the faults last', integer(1, 86_400), 60)
    .option(
      '--faults <list>',
      `what goes wrong under leases, of ${WORKER_FAULTS.join(', ')} (default: all that the database has)`,
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
    .option('--segment-seconds <n>', 'the same as --seconds, for segments', integer(1, 86_400), 12)
    .option('--segment-pace <factor>', 'the same as --pace, for segments', positive, 2)
    .option('--segment-floor <list>', 'the same as --floor, for segments', floors, {})
    .option('--min-numbers <n>', 'how many numbers from segments there must be', integer(0, 10 ** 10))
    .option('--control', 'leave the safeguards out, so that IDs must repeat', false)
    .option('--beside <commit>', 'every second process runs the release of that commit of this repository')
    .option('--keep', 'keep the directory with the IDs', false)
    .option('--json', 'print a line of JSON for each run', false)
    .addHelpText('after', '\nOr --engine <name> in place of --db, see --engine galera --help.')
    .exitOverride();
}

function positive(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 100) return value;
  throw new InvalidArgumentError('It must be a number above 0, at most 100.');
}

function faultGroups(text: string): FaultGroup[] {
  const given = text.split(',').map((each) => each.trim());
  const unknown = given.find((each) => !(WORKER_FAULTS as readonly string[]).includes(each));
  if (unknown === undefined) return given as FaultGroup[];
  throw new InvalidArgumentError(`'${unknown}' is none of ${WORKER_FAULTS.join(', ')}.`);
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
