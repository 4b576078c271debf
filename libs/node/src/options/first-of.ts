import type { OptionReader } from '@raindrop/core/internal';
import type { WorkerRange } from '@raindrop/core';
import { neverPassesOn, readAssignerUse, type AssignerUse } from './assigner-use.js';

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
export function isFirstOf(given: unknown): given is FirstOf {
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
export function readFirstOf(reader: OptionReader, { parts }: FirstOf, service: WorkerRange): readonly AssignerPart[] {
  const given: unknown = parts;
  if (!Array.isArray(given) || given.length === 0) {
    reader.problem('workerIdAssigner', given, 'must be firstOf([...]) of at least one { use, workers }');
    return [{ use: 'database', workers: service }];
  }
  const read = given.map((each: unknown, index) => readPart(reader, nameOf(index), each, service));
  const end = read.findIndex(({ use }) => neverPassesOn(use));
  if (end !== -1 && end < read.length - 1) {
    reader.problem(nameOf(end), read[end]!.use, 'must come last: it never passes on to those after it');
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
  const message = `overlaps with ${nameOf(other)}: processes may choose differently, and two would have one worker id`;
  reader.problem(option, `${workers.min}..${workers.max}`, message);
}

function nameOf(index: number): string {
  return `workerIdAssigner.firstOf[${index}]`;
}
