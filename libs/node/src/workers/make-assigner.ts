import { BlockList, isIPv4 } from 'node:net';
import { hostname, type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import { parseArgs } from 'node:util';
import {
  type AssignedWorkerId,
  collisionOdds,
  ConfigurationError,
  showValue,
  type WorkerIdAssigner,
  type WorkerIdRequest,
  type WorkerRange,
  WorkerIdAssignerError,
} from '@raindrop/core';
import { machineProcessWorkerId, machineText } from '@raindrop/core/internal';
import type { ResolvedSnowflakeOptions } from '../options/resolve-options.js';
import { databaseOf } from '../database/application-database.js';
import { memoryTable } from '../database/memory-table.js';
import type { SqlDatabase } from '../database/sql-database.js';
import type { AssignerClass, AssignerUse } from '../options/assigner-options.js';
import type { ReservingAssigner } from '../ports/worker.js';
import {
  DisposableAssigner,
  MemoryDisposableAssigner,
  type MemoryNodes,
} from '../worker-node-table/disposable-assigner.js';

/** Makes an application's own assigner; Nest injects what its constructor asks for. */
export type MakeCustom = (assigner: AssignerClass) => Promise<WorkerIdAssigner>;

const GUARANTEES = ['fresh', 'exclusive', 'declared', 'unsafe'];

/** Makes an assigner that keeps no odometers. @throws ConfigurationError when the application's own one is not legal */
export async function makeAssigner(
  use: Exclude<AssignerUse, 'database' | ReservingAssigner>,
  context: {
    readonly options: ResolvedSnowflakeOptions;
    readonly database: SqlDatabase | undefined;
    readonly makeCustom: MakeCustom;
  },
): Promise<WorkerIdAssigner> {
  switch (use) {
    case 'static':
      return new StaticAssigner(context.options.assigner.staticWorkerId);
    case 'disposable':
      return openDisposableAssigner(context.options, context.database);
    case 'statefulSet':
      return new StatefulSetAssigner();
    case 'ip':
      return new IpAssigner();
    case 'machine':
      return new MachineAssigner();
    default:
      return checked(typeof use === 'function' ? await makeOwn(use, context.makeCustom) : use);
  }
}

async function makeOwn(assigner: AssignerClass, make: MakeCustom): Promise<WorkerIdAssigner> {
  try {
    return await make(assigner);
  } catch (error) {
    const message = `could not be created: ${error instanceof Error ? error.message : 'a value that is not an Error was thrown'}`;
    throw new ConfigurationError([{ option: 'workerIdAssigner', given: assigner.name, message }]);
  }
}

function checked(assigner: WorkerIdAssigner): WorkerIdAssigner {
  const { name, guarantee } = assigner;
  if (typeof name === 'string' && name !== '' && GUARANTEES.includes(guarantee)) return assigner;
  const message = `must have a name and a guarantee, one of ${GUARANTEES.join(', ')}: a WorkerIdAssigner`;
  throw new ConfigurationError([{ option: 'workerIdAssigner', given: assigner.constructor.name, message }]);
}

/**
 * A new worker id for each start, from a table in `dbConfig`'s database or the application's.
 * @throws ConfigurationError when there is no database; VolatileDatabaseError; UnsupportedDatabaseError
 */
export function openDisposableAssigner(
  options: ResolvedSnowflakeOptions,
  ofApplication: SqlDatabase | undefined,
): WorkerIdAssigner {
  const database = databaseOf(options, ofApplication);
  const { tableName, autoCreateTable, servicePort } = options;
  if (database === undefined) {
    return new MemoryDisposableAssigner(memoryTable('worker nodes', tableName, (): MemoryNodes => ({ last: 0 })));
  }
  const { opTimeoutMs } = options.lease;
  return new DisposableAssigner(database, { tableName, autoCreateTable, servicePort, opTimeoutMs });
}

/** The private addresses of RFC 1918, section 3. */
const PRIVATE = new BlockList();
PRIVATE.addSubnet('10.0.0.0', 8);
PRIVATE.addSubnet('172.16.0.0', 12);
PRIVATE.addSubnet('192.168.0.0', 16);

/**
 * The low bits of the host's first private IPv4 address, as many as the layout has worker bits: with 10 of them
 * 192.168.1.108 is worker 364. A number outside the service's range is folded into it.
 *
 * Unsafe: two processes of one host get the same id, and so do two hosts whose addresses agree in these bits.
 */
export class IpAssigner implements WorkerIdAssigner {
  readonly name = 'ip';
  readonly guarantee = 'unsafe';

  constructor(private readonly interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]> = networkInterfaces) {}

  acquire({ layout, workers }: WorkerIdRequest): Promise<AssignedWorkerId | undefined> {
    const addresses = Object.values(this.interfaces()).flatMap((each) => each ?? []);
    const own = addresses.find(({ address, internal }) => !internal && isIPv4(address) && PRIVATE.check(address));
    if (own === undefined) return Promise.resolve(undefined);
    const number = own.address.split('.').reduce((sum, each) => sum * 256 + Number(each), 0);
    const workerId = foldIntoRange(number % (layout.maxWorkerId + 1), workers);
    return Promise.resolve({ workerId, warnings: [collisionWarning(workerId, `address ${own.address}`, workers)] });
  }
}

/**
 * Process bits above machine bits, as in KeyWorker: the low bits of the process id, and a hash of the host's name and
 * its network interfaces. A number outside the service's range is folded into it.
 *
 * Unsafe: two processes may get the same id by chance, and in containers all process ids are small.
 */
export class MachineAssigner implements WorkerIdAssigner {
  readonly name = 'machine';
  readonly guarantee = 'unsafe';

  acquire({ layout, workers }: WorkerIdRequest): Promise<AssignedWorkerId> {
    const interfaces = machineText(hostname(), networkInterfaces());
    const workerBits = Math.log2(layout.maxWorkerId + 1);
    const drawn = machineProcessWorkerId({ interfaces, processId: process.pid, workerBits });
    const workerId = foldIntoRange(drawn, workers);
    const source = `interfaces and process ${process.pid}`;
    return Promise.resolve({ workerId, warnings: [collisionWarning(workerId, source, workers)] });
  }
}

/**
 * The ordinal of a pod of a Kubernetes StatefulSet, from the variable `POD_NAME` or the host's name: `orders-3` is the
 * service's lowest worker id + 3. Kubernetes runs one pod of an ordinal at a time, unless one is deleted by force.
 *
 * @see https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/#ordinal-index
 */
export class StatefulSetAssigner implements WorkerIdAssigner {
  readonly name = 'statefulSet';
  readonly guarantee = 'exclusive';

  constructor(private readonly podName: () => string = () => process.env['POD_NAME'] || hostname()) {}

  /** @throws WorkerIdAssignerError when the ordinal lies outside the service's range */
  acquire({ workers }: WorkerIdRequest): Promise<AssignedWorkerId | undefined> {
    const pod = this.podName();
    const ordinal = /-(\d{1,9})$/.exec(pod)?.[1];
    if (ordinal === undefined) return Promise.resolve(undefined);
    const workerId = workers.min + Number(ordinal);
    if (workerId <= workers.max) return Promise.resolve({ workerId });
    const room = workers.max - workers.min + 1;
    const reason = `pod '${pod}' has ordinal ${ordinal}, but ${workers.min}..${workers.max} allows only ${room} pods`;
    return Promise.reject(new WorkerIdAssignerError(this.name, reason, false));
  }
}

const ARGUMENT = 'raindrop.workerId';
const VARIABLE = 'RAINDROP_WORKER_ID';

/** Where a worker id may be given by hand, besides the option `workerId`. */
interface StaticSources {
  /** The arguments of the program, without its own name. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * A worker id that is given by hand: `--raindrop.workerId=7`, else `RAINDROP_WORKER_ID`, else the option `workerId`. So
 * one configuration can serve all processes. Nothing checks that only one process has it.
 */
export class StaticAssigner implements WorkerIdAssigner {
  readonly name = 'static';
  readonly guarantee = 'declared';

  constructor(
    private readonly option: number | undefined,
    private readonly sources: StaticSources = { args: process.argv.slice(2), env: process.env },
  ) {}

  /** @throws ConfigurationError when the given text is no worker id of the service's range */
  acquire({ workers }: WorkerIdRequest): Promise<AssignedWorkerId | undefined> {
    const found = this.find();
    if (found === undefined) return Promise.resolve(undefined);
    const [place, given] = found;
    const workerId = /^\d{1,15}$/.test(given) ? Number(given) : Number.NaN;
    if (workerId >= workers.min && workerId <= workers.max) return Promise.resolve({ workerId });
    const legal = `an integer from ${workers.min} to ${workers.max}, the worker ids of this service`;
    const problem = { option: place, given: showValue(given), message: `must be ${legal}` };
    return Promise.reject(new ConfigurationError([problem]));
  }

  private find(): readonly [place: string, given: string] | undefined {
    const argument = argumentOf(this.sources.args);
    if (argument !== undefined) return [`--${ARGUMENT}`, argument];
    const variable = this.sources.env[VARIABLE];
    // A shell sets an empty variable to leave it out.
    if (variable !== undefined && variable !== '') return [VARIABLE, variable];
    return this.option === undefined ? undefined : ['workerId', String(this.option)];
  }
}

function argumentOf(args: readonly string[]): string | undefined {
  const { values } = parseArgs({ args: [...args], options: { [ARGUMENT]: { type: 'string' } }, strict: false });
  const given = values[ARGUMENT];
  return given === undefined ? undefined : String(given);
}

/** A number inside the range stays; any other is folded into it: 70 becomes 6 in the range 0-63. */
function foldIntoRange(number: number, { min, max }: WorkerRange): number {
  return number >= min && number <= max ? number : min + (number % (max - min + 1));
}

/** The numbers of processes in the warning's examples. */
const EXAMPLES = [2, 10, 50];

/** The warning for a worker id that another process may have as well: how probable that is. */
function collisionWarning(workerId: number, source: string, { min, max }: WorkerRange): string {
  const ids = max - min + 1;
  const odds = EXAMPLES.map((processes) => `${percent(collisionOdds(ids, processes))} among ${processes}`);
  return (
    `UNSAFE worker id ${workerId}, from ${source}: another process may have the same one, and then IDs repeat. By ` +
    `chance, two processes would share one of ${ids} ids with a probability of ${odds.join(', ')}. Lease worker ids ` +
    `(workerIdAssigner: 'database') if IDs matter`
  );
}

function percent(odds: number): string {
  return `${(odds * 100).toPrecision(2)} %`;
}
