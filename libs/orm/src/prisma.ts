/**
 * IDs as the keys of Prisma's models: an extension of the client.
 *
 *     const prisma = new PrismaClient({ adapter }).$extends(snowflakes(ids));
 *
 * @module @raindrop/orm/prisma
 */

import { inspect } from 'node:util';
import { ConfigurationError } from '@raindrop/core';
import { UnsafeSnowflakeError } from '@raindrop/core/internal';
import { InsertRefusedError, type KeyIds, type KeyOptions, Keys } from './ids.js';

export { InsertRefusedError, type InsertRefusal, type KeyIds } from './ids.js';
export { UnsafeSnowflakeError } from '@raindrop/core/internal';

/** The options of a key. The type of its field says in which form the application sees the IDs: `BigInt` or `String`. */
export type FieldOptions = Omit<KeyOptions, 'as'>;

/** The options say which IDs the keys get, and which fields are keys where the schema does not say so. */
export interface SnowflakeFields extends FieldOptions {
  /**
   * The keys of single models: a list, or options for each.
   *
   *     { Order: { id: { code: 'order' } }, Customer: ['id', 'publicId'], Legacy: [] }
   *
   * The keys of a model that is left out are its fields with `@default(dbgenerated())`.
   */
  readonly models?: Readonly<Record<string, readonly string[] | Readonly<Record<string, FieldOptions>>>>;
}

/** What `$extends()` of every generated client accepts. It changes no type of the client. */
export type SnowflakesExtension = (
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- each generated client has a type of its own
  client: any,
) => { readonly $extends: { readonly extArgs: Unchanged } };

type Unchanged = { [Each in 'result' | 'model' | 'query' | 'client']: Record<never, never> };

/**
 * Gives every row that is created through the client an ID, unless it has one: `create`, `createMany`,
 * `createManyAndReturn`, `upsert`, and what is created inside of these and of `update`, at any depth. Raw SQL is sent as
 * it is. The arguments of a call are copied: the same object gives new IDs each time.
 *
 *     model Order {
 *       id BigInt @id @default(dbgenerated())
 *     }
 *
 * @param given the service, or options; without them the open service `default`
 * @throws ConfigurationError for options that cannot work, and from `$extends()` for models and fields that do not exist
 */
export function snowflakes(given: Source | SnowflakeFields = {}): SnowflakesExtension {
  const { models: listed = {}, ...shared } = isSource(given) ? { ids: given } : given;
  keysOf('snowflakes()', 'String', shared);
  return (client: PrismaClientLike) => {
    const models = modelsOf(client, shared, listed);
    return client.$extends({
      name: '@raindrop/orm',
      query: {
        $allModels: {
          async $allOperations({ model, operation, args, query }: Call) {
            const write = WRITES.get(operation);
            if (write === undefined) return query(args);
            const missing = new MissingIds();
            const filled = write(models.get(model)!, args, missing);
            await missing.fill();
            return query(filled as Data);
          },
        },
      },
    }) as ReturnType<SnowflakesExtension>;
  };
}

/** What is used of a client. Prisma offers the model neither to extensions nor by its newer generator in public. */
interface PrismaClientLike {
  $extends(extension: object): unknown;
  readonly _runtimeDataModel?: { readonly models: Readonly<Record<string, { readonly fields: readonly Field[] }>> };
  /** The schema, which Prisma hands over to its compiler of queries. */
  readonly _engineConfig?: { readonly inlineSchema?: string };
}

interface Field {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
}

interface Call {
  readonly model: string;
  readonly operation: string;
  readonly args: Data;
  readonly query: (args: Data) => Promise<unknown>;
}

type Data = Readonly<Record<string, unknown>>;

type Source = KeyIds | (() => KeyIds | undefined);

function isSource(given: Source | SnowflakeFields): given is Source {
  if (typeof given === 'function') return true;
  if (typeof given !== 'object' || given === null) {
    throw wrong('snowflakes()', given, 'must get an IdService, a function that returns one, or options');
  }
  return 'nextId' in given;
}

// Which fields are keys, and where relations lead.

interface Model {
  readonly keys: ReadonlyMap<string, Keys>;
  /** The models to which its relations lead, by the names of their fields. */
  readonly relations: Map<string, Model>;
}

function modelsOf(
  { _runtimeDataModel, _engineConfig }: PrismaClientLike,
  shared: FieldOptions,
  listed: NonNullable<SnowflakeFields['models']>,
): ReadonlyMap<string, Model> {
  const [known, schema] = [_runtimeDataModel?.models, _engineConfig?.inlineSchema];
  if (known === undefined || schema === undefined) {
    throw wrong('$extends', undefined, 'the client does not show its data model as those of Prisma 7 do');
  }
  const names = Object.keys(known);
  for (const name of Object.keys(listed)) {
    if (!names.includes(name)) throw wrong(`models.${name}`, name, `must be one of ${names.join(', ')}`);
  }
  const models = new Map<string, Model>();
  for (const name of names) {
    const chosen = Object.entries(optionsOf(name, listed[name] ?? markedFields(schema, name)));
    const keys = chosen.map(([field, options]) => {
      const type = known[name]!.fields.find((each) => each.name === field && each.kind === 'scalar')?.type;
      return [field, keysOf(`${name}.${field}`, type, { ...shared, ...options })] as const;
    });
    models.set(name, { keys: new Map(keys), relations: new Map() });
  }
  if ([...models.values()].every(({ keys }) => keys.size === 0)) {
    throw wrong(
      'models',
      undefined,
      'no field is a key: mark them in the schema, id BigInt @id @default(dbgenerated())',
    );
  }
  for (const [name, { relations }] of models) {
    for (const field of known[name]!.fields) {
      const target = models.get(field.type);
      if (field.kind === 'object' && target !== undefined) relations.set(field.name, target);
    }
  }
  return models;
}

function optionsOf(
  model: string,
  fields: readonly string[] | Readonly<Record<string, FieldOptions>>,
): Readonly<Record<string, FieldOptions>> {
  if (Array.isArray(fields)) return Object.fromEntries(fields.map((field: string) => [field, {}]));
  if (isRow(fields)) return fields;
  throw wrong(`models.${model}`, fields, `must be a list of fields, or options for each: { ${model}: ['id'] }`);
}

/**
 * Neither the client nor its generators tell defaults at run time, but the client has the schema, in Prisma's own format.
 * A default with an argument is made by the database.
 */
function markedFields(schema: string, model: string): string[] {
  const code = schema.replace(/"(?:[^"\\]|\\.)*"|\/\/.*|\/\*[^]*?\*\//g, (text) => (text.startsWith('"') ? '""' : ''));
  const [, block = ''] = new RegExp(`^model\\s+${model}\\s*\\{([^]*?)^\\s*\\}`, 'm').exec(code) ?? [];
  const marked = /^\s*(\w+)\s+(?:BigInt|String)\??\s.*@default\(\s*dbgenerated\(\s*\)/gm;
  return [...block.matchAll(marked)].map(([, field]) => field!);
}

function keysOf(place: string, type: string | undefined, options: FieldOptions): Keys {
  if (type !== 'BigInt' && type !== 'String') throw wrong(place, type, 'must be a field of type BigInt or String');
  const { as } = options as KeyOptions;
  if (as !== undefined) throw wrong(`${place}: as`, as, 'is not an option: the type of the field says the form');
  return new Keys(place, { ...options, as: type === 'BigInt' ? 'bigint' : 'string' });
}

function wrong(option: string, given: unknown, message: string): ConfigurationError {
  return new ConfigurationError([{ option, given: inspect(given), message }]);
}

// The walk through the arguments of a call. It copies what it passes through: Prisma's copy for extensions is not promised.

/** The places without an ID, in the order of the rows. */
class MissingIds {
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
    const value = isRow(update) ? update[field] : undefined;
    const written = isRow(value) && 'set' in value ? value['set'] : value;
    const found = isRow(where) ? where[field] : undefined;
    if (!isAbsent(written) && String(written) !== String(found)) {
      throw new InsertRefusedError(place, 'key-update', KEY_UPDATE);
    }
  }
  const filled = within('create', created)(model, args, missing);
  return within('update', updated)(model, filled, missing) as Data;
});

const KEY_UPDATE =
  'is updated by this upsert: an existing row would get the ID of the one that was not inserted, and what refers to it ' +
  'would be lost. Leave the field out of `update`.';

/** A model of nothing but a key may be created without data. */
function dataOf({ data }: Data): unknown {
  return isAbsent(data) ? {} : data;
}

/** What a call to a model writes, by its operation. */
const WRITES: ReadonlyMap<string, Write> = new Map<string, Write>([
  ['create', eachRow((model, args, missing) => ({ ...args, data: created(model, dataOf(args), missing) }))],
  ['createMany', createdWithin],
  ['createManyAndReturn', createdWithin],
  ['update', updatedWithin],
  ['upsert', upserted],
]);

/** What a relation writes. The `update` of a single row has its data with or without the word `data`. */
const NESTED_WRITES: readonly (readonly [operation: string, write: Write])[] = [
  ['create', created],
  ['createMany', createdWithin],
  ['connectOrCreate', within('create', created)],
  ['update', (model, value, missing) => updatedWithin(model, updated(model, value, missing), missing)],
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
