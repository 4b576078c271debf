/**
 * The walk through the arguments of a call, which notes the rows without an ID. It copies what it passes through: Prisma's
 * copy for extensions is not promised.
 */

import { UnsafeSnowflakeError } from '@raindrop/core';
import type { Keys } from '../ids.js';
import { isSameKey, keyUpdateRefused } from '../upserts.js';
import type { Model } from './models.js';

export type Data = Readonly<Record<string, unknown>>;

/** The places without an ID, in the order of the rows. */
export class MissingIds {
  private readonly places = new Map<Keys, [row: Record<string, unknown>, field: string][]>();

  add(keys: Keys, row: Record<string, unknown>, field: string): void {
    const its = this.places.get(keys);
    if (its === undefined) this.places.set(keys, [[row, field]]);
    else its.push([row, field]);
  }

  /** Throws what the service throws, unless it helps to wait. */
  async fill(): Promise<void> {
    for (const [keys, places] of this.places) {
      const ids = await keys.takeWaiting(places.length);
      places.forEach(([row, field], index) => (row[field] = ids[index]));
    }
  }
}

/** Copies what is written to a model, row by row, and notes where IDs are missing. */
type Write = (model: Model, value: unknown, missing: MissingIds) => unknown;

/** A row, or several. What is neither is left to Prisma, which refuses it. */
const eachRow =
  (write: (model: Model, row: Data, missing: MissingIds) => Data): Write =>
  (model, value, missing) =>
    Array.isArray(value)
      ? value.map((each) => (isRow(each) ? write(model, each, missing) : (each as unknown)))
      : isRow(value)
        ? write(model, value, missing)
        : value;

const created = eachRow((model, row, missing) => {
  const copy = { ...row };
  for (const [field, keys] of model.keys) {
    const value = copy[field];
    if (isAbsent(value)) missing.add(keys, copy, field);
    else if (typeof value === 'number' && !Number.isSafeInteger(value)) {
      throw new UnsafeSnowflakeError(keys.place, value, 'application');
    }
  }
  return copyRelations(model, copy, missing);
});

const updated = eachRow((model, row, missing) => copyRelations(model, { ...row }, missing));

function copyRelations(model: Model, copy: Record<string, unknown>, missing: MissingIds): Data {
  for (const [field, target] of model.relations) {
    const writes = copy[field];
    if (!isRow(writes)) continue;
    const nested: Record<string, unknown> = { ...writes };
    for (const [operation, write] of NESTED_WRITES) {
      if (operation in nested) nested[operation] = write(target, nested[operation], missing);
    }
    copy[field] = nested;
  }
  return copy;
}

/** A write of one argument; the others stay. */
const within = (argument: string, write: Write): Write =>
  eachRow((model, args, missing) =>
    argument in args ? { ...args, [argument]: write(model, args[argument], missing) } : args,
  );

const createdWithin = within('data', created);
const updatedWithin = within('data', updated);
const upserted = eachRow((model, args, missing) => {
  const { where, update } = args;
  for (const [field, { place }] of model.keys) {
    const written = isRow(update) ? update[field] : undefined;
    const value = isRow(written) && 'set' in written ? written['set'] : written;
    if (!isAbsent(value) && !isFoundBy(model, where, field, value)) {
      throw keyUpdateRefused(place, 'Leave the field out of `update`.');
    }
  }
  const filled = within('create', created)(model, args, missing);
  return within('update', updated)(model, filled, missing) as Data;
});

/** Whether `where` names this value of a field: `{ id }`, or `{ orderId_id: { orderId, id } }` for a key of several fields. */
function isFoundBy(model: Model, where: unknown, field: string, value: unknown): boolean {
  if (!isRow(where)) return false;
  const compound = Object.entries(where).map(([name, each]) =>
    isRow(each) && !model.relations.has(name) && !OPERATORS.has(name) ? each[field] : undefined,
  );
  return [where[field], ...compound].some((found) => isSameKey(found, value));
}

const OPERATORS = new Set(['AND', 'OR', 'NOT']);

/** A model of nothing but a key may be created without data. */
function dataOf({ data }: Data): unknown {
  return isAbsent(data) ? {} : data;
}

/** What a call to a model writes, by its operation. */
export const WRITES: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['create', eachRow((model, args, missing) => ({ ...args, data: created(model, dataOf(args), missing) }))],
  ['createMany', createdWithin],
  ['createManyAndReturn', createdWithin],
  ['update', updatedWithin],
  ['upsert', upserted],
]);

/**
 * The `update` of a single row has its data with or without the word `data`. With another word beside it, `data` is a field,
 * whose JSON may look like relations.
 */
const nestedUpdated = eachRow((model, args, missing) => {
  const copy = updated(model, args, missing);
  const isField = Object.entries(args).some(([name, value]) => !WORDS.has(name) && !isAbsent(value));
  return (isField ? copy : updatedWithin(model, copy, missing)) as Data;
});

const WORDS = new Set(['where', 'data']);

/** What a relation writes. */
const NESTED_WRITES: readonly (readonly [operation: string, write: Write])[] = [
  ['create', created],
  ['createMany', createdWithin],
  ['connectOrCreate', within('create', created)],
  ['update', nestedUpdated],
  ['upsert', upserted],
];

/** `Prisma.skip` means that nothing was given. */
function isSkip(value: unknown): boolean {
  return typeof (value as { ifUndefined?: unknown } | null | undefined)?.ifUndefined === 'function';
}

function isAbsent(value: unknown): boolean {
  return value === undefined || isSkip(value);
}

function isRow(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isSkip(value);
}
