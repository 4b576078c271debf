import type { OptionReader } from '@raindrop/core/internal';
import type { WorkerIdAssigner } from '@raindrop/core';
import type { ReservingAssigner } from '../ports/reserving-assigner.js';
import type { Origin } from './option-table.js';

/** The assigners that need no more than their name. */
export type AssignerName = 'database' | 'static' | 'disposable' | 'statefulSet' | 'ip' | 'machine';

/** A class of assigners of your own. Nest makes the object, with what it injects; elsewhere it is made with `new`. */
export type AssignerClass = new (...dependencies: never[]) => WorkerIdAssigner;

/** One assigner: by name, from `redisWorkers()`, with a store of your own, or your own, a class or an object. */
export type AssignerUse = AssignerName | ReservingAssigner | WorkerIdAssigner | AssignerClass;

const NAMES: readonly AssignerName[] = ['database', 'static', 'disposable', 'statefulSet', 'ip', 'machine'];

const RULE = `${NAMES.map((each) => `'${each}'`).join(', ')}, redisWorkers(...), a class or an object with a method acquire(), or an object with a name and openStore()`;

/** Reads what may stand for one assigner. @param others what else is legal there */
export function readAssignerUse(reader: OptionReader, option: string, given: unknown, others = ''): AssignerUse {
  if (typeof given === 'string') {
    const name = NAMES.find((each) => each.toLowerCase() === given.toLowerCase());
    if (name !== undefined) return name;
  } else if (typeof given === 'function') {
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

/** Whether it leases from a store that keeps odometers. */
export function isReserving(use: AssignerUse): use is 'database' | ReservingAssigner {
  return use === 'database' || (typeof use === 'object' && 'openStore' in use);
}

/** Whether it may give a worker id again without knowing how far that was used. */
export function forgetsUse(use: AssignerUse): boolean {
  if (isReserving(use) || use === 'disposable') return false;
  return !(typeof use === 'object' && use.guarantee === 'fresh');
}

/** Where the worker ids come from that it gives, as the table of options has it. */
export function originsOf(use: AssignerUse, hasStateFile: boolean): readonly Origin[] {
  if (use === 'database' || use === 'disposable') return [use];
  if (isReserving(use)) return ['redisWorkers'];
  if (!forgetsUse(use)) return ['fresh'];
  const origins: Origin[] = hasStateFile ? ['assigned', 'stateFile'] : ['assigned'];
  return use === 'static' ? [...origins, 'static'] : origins;
}

/** Whether it always has a worker id to give, or fails. */
export function neverPassesOn(use: AssignerUse): boolean {
  return isReserving(use) || use === 'disposable' || use === 'machine';
}

/** Whether what was given for `workerIdAssigner`, not yet checked, is one of the names behind which no rows are kept. */
export function needsNoRows(given: unknown): boolean {
  return typeof given === 'string' && given.toLowerCase() !== 'database';
}
