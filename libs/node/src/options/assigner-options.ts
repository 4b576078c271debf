import {
  integer,
  type Numbers,
  option,
  type OptionReader,
  type OptionsOf,
  type Origin,
  readOptions,
} from '@raindrop/core/internal';
import type { ResolvedGeneratorOptions, ResolvedLayout, WorkerIdAssigner, WorkerRange } from '@raindrop/core';
import { DISPOSABLE_MIN_WORKER_BITS } from '../worker-node-table/worker-node-table.js';
import type { ReservingAssigner } from '../ports/worker.js';

/** The options that say where worker ids come from. */
export const assignerOptions = {
  /**
   * Where worker ids come from, and with which guarantee: docs/worker-ids.md.
   * @range `database`, a store such as `redisWorkers(...)`, `disposable`, `static`, `statefulSet`, `ip`, `machine`, a class or an
   *   object, `firstOf([...])`
   * @defaultValue `database`
   */
  workerIdAssigner: option<AssignerUse | FirstOf, readonly AssignerPart[], ServiceWorkers>(readParts, {
    readBy: 'ownWorker',
  }),
  /**
   * The worker id of the `static` assigner, unless `--raindrop.workerId` or `RAINDROP_WORKER_ID` gives one.
   * @range inside the service's range @defaultValue none
   */
  workerId: integer({
    min: ({ workers }: ServiceWorkers) => workers.min,
    max: ({ workers }: ServiceWorkers) => workers.max,
    readBy: 'staticId',
  }),
  /**
   * Where this host records how far IDs were issued, for assigners that do not know it. It must outlive the process.
   * @range a directory whose parent exists @defaultValue none
   */
  stateFile: option<string, string | undefined, Parts>(readStateFile, { readBy: 'forgetful' }),
  /**
   * Without a `stateFile`, a start issues no ID until the clock has passed the tick of start time + this. Required for
   * hours and days.
   * @range 0-600,000, or false
   * @defaultValue what can be borrowed ahead, 1,000 more where the worker id moves between hosts
   */
  restartWaitMs: option<number | false, number | false | undefined, RestartNeeds>(readRestartWait, {
    readBy: 'forgetful',
  }),
};

/** The options that say where worker ids come from. */
export interface AssignerOptions extends OptionsOf<typeof assignerOptions> {}

interface ServiceWorkers {
  readonly workers: WorkerRange;
}

interface Parts {
  readonly parts: readonly AssignerPart[];
}

interface RestartNeeds extends Parts, Numbers<'unitMs' | 'borrowMs'> {
  readonly stateFile: string | undefined;
}

/** Those options, checked. */
export interface ResolvedAssignerOptions {
  /** In the order in which they are asked. */
  readonly parts: readonly AssignerPart[];
  readonly staticWorkerId: number | undefined;
  readonly stateFile: string | undefined;
  /** Undefined: decided by what the chosen assigner guarantees. */
  readonly restartWaitMs: number | false | undefined;
  /** How far ahead of the clock the generator may issue, ms. */
  readonly borrowMs: number;
}

/** From here on a start cannot wait for the next tick. */
export const LONG_UNIT_MS = 3_600_000;

/**
 * Reads them with a reader that others share.
 * @param refuseMisplaced refuses the options of the service that nothing reads where its worker ids come from
 */
export function readAssignerOptions(
  reader: OptionReader,
  layout: ResolvedLayout | undefined,
  generator: ResolvedGeneratorOptions,
  refuseMisplaced: (origins: readonly Origin[], stores: readonly string[]) => void,
): ResolvedAssignerOptions {
  const workers = layout?.workers ?? { min: 0, max: 1_023 };
  const { workerIdAssigner, ...others } = assignerOptions;
  const parts = workerIdAssigner.read(reader, 'workerIdAssigner', { workers });
  const hasFile = reader.value('stateFile') !== undefined;
  const stores = parts.filter(({ use }) => kindOf(use).origin === 'store').map(({ use }) => nameOfUse(use));
  refuseMisplaced(
    parts.flatMap(({ use }) => originsOf(use, hasFile)),
    stores,
  );
  if (layout !== undefined && parts.some(({ use }) => use === 'disposable')) refuseNarrowWorkers(reader, layout);
  const unitMs = layout?.layout.unitMs ?? 1_000;
  const borrowMs =
    generator.onExhausted === 'borrow' ? Math.max(unitMs, Math.floor(generator.maxAheadMs / unitMs) * unitMs) : 0;
  const { workerId: staticWorkerId, ...rest } = readOptions(reader, others, { workers, parts, unitMs, borrowMs });
  return { parts, staticWorkerId, ...rest, borrowMs };
}

function readParts(reader: OptionReader, name: string, { workers }: ServiceWorkers): readonly AssignerPart[] {
  const given = reader.value(name);
  if (given === undefined) return [{ use: 'database', workers }];
  if (isFirstOf(given)) return readFirstOf(reader, given, workers);
  const others = ', or firstOf([{ use, workers: { min, max } }, ...])';
  return [{ use: readAssignerUse(reader, name, given, others), workers }];
}

function refuseNarrowWorkers(reader: OptionReader, { layout }: ResolvedLayout): void {
  const bits = Math.log2(layout.maxWorkerId + 1);
  if (bits >= DISPOSABLE_MIN_WORKER_BITS) return;
  const message =
    `uses up a worker id at each start and needs ${DISPOSABLE_MIN_WORKER_BITS} worker bits or more, but the layout ` +
    `has ${bits}: use one such as presets.uidGenerator()`;
  reader.problem('workerIdAssigner', 'disposable', message);
}

function readStateFile(reader: OptionReader, name: string, { parts }: Parts): string | undefined {
  const given = reader.value(name);
  if (given === undefined) return undefined;
  if (typeof given !== 'string' || given.trim() === '' || given.includes('\0')) {
    reader.problem(name, given, `must be a path, such as '/var/lib/orders/raindrop-state'`);
  } else if (parts.some(({ use }) => use === 'machine')) {
    reader.problem(name, given, `does not help 'machine', whose worker id changes at each start`);
  } else return given;
  return undefined;
}

function readRestartWait(
  reader: OptionReader,
  name: string,
  { unitMs, borrowMs, stateFile, parts }: RestartNeeds,
): number | false | undefined {
  const given = reader.value(name);
  if (given === false) return false;
  if (reader.refused(name)) return undefined;
  if (given !== undefined) {
    const hint = `at least the time borrowed ahead of the clock, ${borrowMs} ms, or false`;
    return reader.integer(name, { min: borrowMs, max: 600_000, hint });
  }
  if (unitMs >= LONG_UNIT_MS && stateFile === undefined && parts.some(({ use }) => forgets(use))) {
    const message =
      `is required with a unit of hours or days: by default a start would wait for the next tick. Set stateFile ` +
      `instead, or false if the last run's IDs do not matter`;
    reader.problem(name, given, message);
  }
  return undefined;
}

/** Whether nothing is lost when a process ends without shutting down. */
export function givesNothingBack({ parts, stateFile }: ResolvedAssignerOptions): boolean {
  return stateFile === undefined && parts.every(({ use }) => !kindOf(use).givesBack);
}

/** The assigners that need no more than their name. */
export type AssignerName = 'database' | 'static' | 'disposable' | 'statefulSet' | 'ip' | 'machine';

/** A class of assigners of your own. Nest makes the object, with what it injects; elsewhere it is made with `new`. */
export type AssignerClass = new (...dependencies: never[]) => WorkerIdAssigner;

/** One assigner: by name, a store such as `redisWorkers()`, or your own, a class or an object. */
export type AssignerUse = AssignerName | ReservingAssigner | WorkerIdAssigner | AssignerClass;

/** What tells the kinds of assigners apart. */
interface AssignerKind {
  /** Where its worker ids come from, as the table of options has it. One that is `assigned` may have been used before. */
  readonly origin: Extract<Origin, 'database' | 'store' | 'disposable' | 'fresh' | 'assigned'>;
  /** Worker ids are leased: rows say how far each was used. */
  readonly leases: boolean;
  /** It has a table in the database of `dbConfig`, or of the application. */
  readonly hasTable: boolean;
  /** It may have no worker id to give; {@link firstOf} asks the next one then. Otherwise it gives one, or fails. */
  readonly passesOn: boolean;
  /** A shutdown returns the worker id. */
  readonly givesBack: boolean;
}

const ASSIGNED = { origin: 'assigned', leases: false, hasTable: false, passesOn: true, givesBack: false } as const;

/** The kinds by their names, and three that an application makes: a store, and assigners of its own, fresh or not. */
const KINDS: Readonly<Record<AssignerName | 'store' | 'fresh' | 'own', AssignerKind>> = {
  database: { origin: 'database', leases: true, hasTable: true, passesOn: false, givesBack: true },
  store: { origin: 'store', leases: true, hasTable: false, passesOn: false, givesBack: true },
  disposable: { origin: 'disposable', leases: false, hasTable: true, passesOn: false, givesBack: false },
  static: ASSIGNED,
  statefulSet: ASSIGNED,
  ip: ASSIGNED,
  machine: { ...ASSIGNED, passesOn: false },
  fresh: { ...ASSIGNED, origin: 'fresh', givesBack: true },
  own: { ...ASSIGNED, givesBack: true },
};

/** Returns the kind. Whether the worker ids of a class are fresh is not known before it is made. */
export function kindOf(use: AssignerUse): AssignerKind {
  if (typeof use === 'string') return KINDS[use];
  if (typeof use === 'function') return KINDS.own;
  return KINDS['openStore' in use ? 'store' : use.guarantee === 'fresh' ? 'fresh' : 'own'];
}

const NAMES: readonly AssignerName[] = ['database', 'static', 'disposable', 'statefulSet', 'ip', 'machine'];

const RULE = `${NAMES.map((each) => `'${each}'`).join(', ')}, a store such as redisWorkers(...), etcdWorkers(...) or natsWorkers(...), a class or an object with a method acquire(), or an object with a name and openStore()`;

function named(given: unknown): AssignerName | undefined {
  return NAMES.find((each) => typeof given === 'string' && each.toLowerCase() === given.toLowerCase());
}

/** Whether what was given for `workerIdAssigner`, not yet checked, is one of the names behind which no rows are kept. */
export function needsNoRows(given: unknown): boolean {
  const name = named(given);
  return name !== undefined && !KINDS[name].leases;
}

/** Reads what may stand for one assigner. @param others what else is legal there */
function readAssignerUse(reader: OptionReader, option: string, given: unknown, others = ''): AssignerUse {
  const name = named(given);
  if (name !== undefined) return name;
  if (typeof given === 'function') {
    const { acquire } = (given.prototype ?? {}) as Partial<WorkerIdAssigner>;
    if (typeof acquire === 'function') return given as AssignerClass;
  } else if (typeof given === 'object' && given !== null) {
    const { acquire, openStore, name } = given as Record<string, unknown>;
    const isNamed = typeof name === 'string' && name !== '';
    if (typeof acquire === 'function' || (typeof openStore === 'function' && isNamed)) return given as AssignerUse;
  }
  // What an object holds may be a password.
  const shown = typeof given === 'object' && given !== null ? '(object)' : given;
  reader.problem(option, shown, `must be one of ${RULE}${others}`);
  return 'database';
}

/** Returns the name for logs and errors. */
export function nameOfUse(use: AssignerUse): string {
  return typeof use === 'string' ? use : use.name;
}

/** Whether it leases from a store that keeps odometers. */
export function isReserving(use: AssignerUse): use is 'database' | ReservingAssigner {
  return kindOf(use).leases;
}

/** Whether it may give a worker id again without knowing how far that was used. */
export function forgets(use: AssignerUse): boolean {
  return kindOf(use).origin === 'assigned';
}

/** Where the worker ids come from that it gives, as the table of options has it. */
function originsOf(use: AssignerUse, hasStateFile: boolean): readonly Origin[] {
  const file: Origin[] = hasStateFile && forgets(use) ? ['stateFile'] : [];
  return [kindOf(use).origin, ...file, ...(use === 'static' ? [use] : [])];
}

/** An assigner and the worker ids it may give. */
export interface AssignerPart {
  readonly use: AssignerUse;
  /** Both ends included, inside the service's own range. */
  readonly workers: WorkerRange;
}

/** In every copy of this package. */
const MARK = Symbol.for('raindrop: firstOf');

/** Holds several assigners, see {@link firstOf}. */
export class FirstOf {
  constructor(readonly parts: readonly AssignerPart[]) {}

  static {
    Object.defineProperty(this.prototype, MARK, { value: true });
  }
}

/** Knows those of another copy of this package, too. */
function isFirstOf(given: unknown): given is FirstOf {
  return typeof given === 'object' && given !== null && MARK in given;
}

/**
 * Asks several assigners in this order and takes the worker id of the first that has one: one that finds nothing (no
 * variable is set, the host's name has no ordinal) passes on, one that fails does not.
 *
 * Each needs worker ids of its own, since processes may choose differently. westid's order is `static`, a class of yours,
 * `ip`.
 */
export function firstOf(parts: readonly AssignerPart[]): FirstOf {
  return new FirstOf(parts);
}

/** Checks them: each with its own part of the service's range, and each with a chance to be asked. */
function readFirstOf(reader: OptionReader, { parts }: FirstOf, service: WorkerRange): readonly AssignerPart[] {
  const given: unknown = parts;
  if (!Array.isArray(given) || given.length === 0) {
    reader.problem('workerIdAssigner', given, 'must be firstOf([...]) of at least one { use, workers }');
    return [{ use: 'database', workers: service }];
  }
  const read = given.map((each: unknown, index) => readPart(reader, nameOf(index), each, service));
  const end = read.findIndex(({ use }) => !kindOf(use).passesOn);
  if (end !== -1 && end < read.length - 1) {
    reader.problem(nameOf(end), read[end]!.use, 'must be last: it never passes on to later entries');
  }
  read.forEach((part, index) => refuseOverlap(reader, read.slice(0, index), part));
  return read;
}

function readPart(reader: OptionReader, name: string, given: unknown, service: WorkerRange): AssignerPart {
  if (typeof given !== 'object' || given === null) {
    reader.problem(name, given, `must be { use, workers: { min, max } }`);
    return { use: 'database', workers: service };
  }
  return reader.nested(name, given, (inner) => {
    const use = readAssignerUse(inner, 'use', inner.value('use'));
    const range = inner.value('workers');
    if (typeof range !== 'object' || range === null) {
      const legal = `must be { min, max }, this assigner's own part of ${service.min}..${service.max}`;
      inner.problem('workers', range, legal);
      return { use, workers: service };
    }
    const workers = inner.nested('workers', range, (limits) => {
      const min = limits.integer('min', service);
      return { min, max: limits.integer('max', { min, max: service.max }) };
    });
    return { use, workers };
  });
}

function refuseOverlap(reader: OptionReader, before: readonly AssignerPart[], { workers }: AssignerPart): void {
  const option = `${nameOf(before.length)}.workers`;
  const other = before.findIndex((each) => each.workers.min <= workers.max && workers.min <= each.workers.max);
  if (other === -1 || reader.refused(option, `${nameOf(other)}.workers`)) return;
  const message = `overlaps with ${nameOf(other)}: processes may choose differently, and two could share a worker id`;
  reader.problem(option, `${workers.min}..${workers.max}`, message);
}

function nameOf(index: number): string {
  return `workerIdAssigner.firstOf[${index}]`;
}
