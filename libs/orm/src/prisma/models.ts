/** Which fields of the schema are keys, and where its relations lead. */

import { inspect } from 'node:util';
import { ConfigurationError } from '@raindrop/core';
import { calledBy, type IdFunction, isCallOf, looksIssued } from '@raindrop/node/internal';
import type { Database } from '../databases.js';
import { type KeyOptions, Keys } from '../ids.js';
import type { ColumnName } from '../precision.js';

/** The options of a key. The type of its field says in which form the application sees the IDs: `BigInt` or `String`. */
export type FieldOptions = Omit<KeyOptions, 'as'>;

/** The options say which IDs the keys get, and which fields are keys where the schema does not say so. */
export interface SnowflakeFields extends FieldOptions {
  /**
   * The keys of single models: a list, or options for each.
   *
   *     { Order: { id: { code: 'order' } }, Customer: ['id', 'publicId'], Legacy: [] }
   *
   * The keys of a model that is left out are its fields with `@default(dbgenerated())` or
   * `@default(dbgenerated("raindrop_id()"))`, or with the function that `databaseDefault` names.
   */
  readonly models?: Readonly<Record<string, readonly string[] | Readonly<Record<string, FieldOptions>>>>;
}

/** What is used of a client. Prisma offers the model neither to extensions nor by its newer generator in public. */
export interface PrismaClientLike {
  $extends(extension: object): unknown;
  readonly _runtimeDataModel?: { readonly models: DataModel };
  readonly _engineConfig?: {
    /** The schema, which Prisma hands over to its compiler of queries. */
    readonly inlineSchema?: string;
    readonly activeProvider?: string;
    readonly previewFeatures?: readonly string[];
  };
}

type DataModel = Readonly<
  Record<
    string,
    { readonly fields: readonly Field[]; readonly dbName?: string | null; readonly schema?: string | null }
  >
>;

interface Field {
  readonly name: string;
  readonly kind: string;
  readonly type: string;
  readonly dbName?: string | null;
}

export interface Model {
  readonly keys: ReadonlyMap<string, Keys>;
  /** The models to which its relations lead, by the names of their fields. */
  readonly relations: Map<string, Model>;
}

type Models = ReadonlyMap<string, Model>;

const PROVIDERS: Readonly<Record<string, Database>> = { mysql: 'mysql', sqlite: 'sqlite' };

/** The database of a client. */
export function databaseOf(config: PrismaClientLike['_engineConfig']): Database {
  return PROVIDERS[config?.activeProvider ?? ''] ?? 'postgres';
}

export function modelsOf(
  { _runtimeDataModel, _engineConfig }: PrismaClientLike,
  shared: FieldOptions,
  listed: NonNullable<SnowflakeFields['models']>,
): Models {
  const [known, schema] = [_runtimeDataModel?.models, _engineConfig?.inlineSchema];
  if (known === undefined || schema === undefined) {
    throw wrong('$extends', undefined, 'the client does not show its data model as those of Prisma 7 do');
  }
  const names = Object.keys(known);
  for (const name of Object.keys(listed)) {
    if (!names.includes(name)) throw wrong(`models.${name}`, name, `must be one of ${names.join(', ')}`);
  }
  const models = new Map<string, Model>();
  const database = databaseOf(_engineConfig);
  const ofAll = keysOf('snowflakes()', 'String', shared);
  ofAll.defaultOn(database);
  const { databaseDefault: meant } = ofAll;
  for (const name of names) {
    const { fields } = known[name]!;
    const typeOf = (field: string): string | undefined =>
      fields.find((each) => each.name === field && each.kind === 'scalar')?.type;
    // A field with @ignore is in the schema, but not in the client.
    const marked = markedFields(schema, name, meant).filter(([field]) => typeOf(field) !== undefined);
    const keys = Object.entries(optionsOf(name, listed[name] ?? Object.fromEntries(marked))).map(([field, options]) => {
      const own = keysOf(`${name}.${field}`, typeOf(field), merged(shared, options));
      own.defaultOn(database);
      return [field, own] as const;
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
  if (typeof fields === 'object' && fields !== null) return fields as Readonly<Record<string, FieldOptions>>;
  throw wrong(`models.${model}`, fields, `must be a list of fields, or options for each: { ${model}: ['id'] }`);
}

/** An option of a field that is undefined counts as left out. */
function merged(shared: FieldOptions, own: FieldOptions): FieldOptions {
  const given = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
  return { ...shared, ...given };
}

/**
 * Neither the client nor its generators tell defaults at run time, but the client has the schema, in Prisma's own format.
 * A default with another argument is made by the database.
 * @param meant the function that may be the argument, besides Raindrop's own
 */
function markedFields(schema: string, model: string, meant: IdFunction | undefined): [string, FieldOptions][] {
  const code = schema.replace(
    /(dbgenerated\(\s*)?"(?:[^"\\]|\\.)*"|\/\/.*|\/\*[^]*?\*\//g,
    (text, generated: string | undefined) => (generated !== undefined ? text : text.startsWith('"') ? '""' : ''),
  );
  const [, block = ''] = new RegExp(`^model\\s+${model}\\s*\\{([^]*?)^\\s*\\}`, 'm').exec(code) ?? [];
  const marked =
    /^[ \t]*([\w-]+)[ \t]+(?:BigInt|String)\??[ \t].*@default\(\s*(?:value:\s*)?dbgenerated\(\s*("(?:[^"\\]|\\.)*")?\s*\)/gm;
  return [...block.matchAll(marked)].flatMap(([, field, argument]): [string, FieldOptions][] => {
    const declared =
      argument === undefined ? undefined : functionOf(argument.slice(1, -1).replace(/\\(.)/g, '$1'), meant);
    // Without an argument the column has no default, whatever the options say of other fields.
    const databaseDefault = declared
      ? [declared.schema, declared.name].filter((part) => part !== undefined).join('.')
      : false;
    return argument !== undefined && declared === undefined ? [] : [[field!, { databaseDefault }]];
  });
}

/** Returns the function of IDs that a default in SQL calls. */
function functionOf(call: string, meant: IdFunction | undefined): IdFunction | undefined {
  const called = calledBy(call);
  if (called === undefined || looksIssued(call)) return called;
  return meant !== undefined && isCallOf(meant, call, false) ? called : undefined;
}

export function keysOf(place: string, type: string | undefined, options: FieldOptions): Keys {
  if (type !== 'BigInt' && type !== 'String') throw wrong(place, type, 'must be a field of type BigInt or String');
  const { as } = options as KeyOptions;
  if (as !== undefined) throw wrong(`${place}: as`, as, 'is not an option: the type of the field says the form');
  const keys = new Keys(place, { ...options, as: type === 'BigInt' ? 'bigint' : 'string' });
  keys.refuseTypedDefault();
  return keys;
}

export function wrong(option: string, given: unknown, message: string): ConfigurationError {
  return new ConfigurationError([{ option, given: inspect(given), message }]);
}

// The keys of extended clients.

interface Extended {
  readonly dataModel: DataModel;
  readonly models: Models;
}

const EXTENDED = new WeakMap<object, Extended>();

export function noteExtended(extended: object, { _runtimeDataModel }: PrismaClientLike, models: Models): void {
  EXTENDED.set(extended, { dataModel: _runtimeDataModel!.models, models });
}

/** A key, and where the database keeps it. */
export interface StoredKey extends ColumnName {
  readonly source: Keys;
  readonly type: 'BigInt' | 'String';
}

interface Child {
  readonly $parent?: unknown;
}

/** Returns the keys of a client that has been extended, also if others have extended it since. */
export function storedKeys(client: object): StoredKey[] {
  const found: StoredKey[] = [];
  let each: Child | null | undefined = client;
  while (each !== undefined && each !== null) {
    const { dataModel = {}, models = new Map() as Models } = EXTENDED.get(each) ?? {};
    for (const [name, { keys }] of models) {
      const { fields, dbName, schema } = dataModel[name]!;
      for (const [field, source] of keys) {
        const { type, dbName: column } = fields.find((one) => one.name === field)!;
        found.push({
          source,
          type: type as StoredKey['type'],
          schema: schema ?? undefined,
          table: dbName ?? name,
          column: column ?? field,
        });
      }
    }
    // The parent of a client without extensions is this client.
    const parent = each.$parent as typeof each;
    each = parent === each ? undefined : parent;
  }
  return found;
}
